/** What every layout of arms can do: be painted, be reached by mouse, finger, key and screen reader, and hold the dots. */

import type { Layout } from "../../layout";
import type { Labels } from "../../words/labels";
import type { Speech } from "../../words/speech";

/** What an arm looks like and is announced as. */
export interface Look {
  blue: boolean;
  yellow: boolean;
  available: boolean;
  suggested: boolean;
  /** The reward written on it; empty for none. */
  reward: string;
}

export interface FieldParts<L extends Layout = Layout> {
  layout: L;
  labels: Labels;
  speech: Speech;
  chosen: Chosen;
}

/** An arm was clicked or chosen by key: by hand or by a program; `clicks` counts quick clicks at one place, as browsers do. */
export type Chosen = (arm: number, byHand: boolean, clicks: number) => void;

export interface Field {
  /** What has the arms in it, and is inert while the block is paused. */
  readonly arms: HTMLElement;
  /** What lies in the frame, from below to above. */
  readonly layers: readonly HTMLElement[];
  /** Makes an arm look and sound as it should; does nothing if nothing has changed. */
  paint(arm: number, look: Look): void;
  /** Puts a dot on an arm. */
  moveDot(dot: HTMLElement, arm: number): void;
  /** Shows from where the choice is made, if there is more to it than the dots. */
  standAt?(arm: number): void;
  /** Moves the keyboard's cursor, and the focus with it if wanted. */
  moveCursor(arm: number, focus: boolean): void;
  /** The element of an arm. */
  cell(arm: number): HTMLElement;
}

/** Whether an arm looks otherwise than when it was last painted. */
export class Looks {
  private readonly keys: string[] = [];

  changed(arm: number, look: Look): boolean {
    const key = Object.values(look).join("|");
    if (this.keys[arm] === key) return false;
    this.keys[arm] = key;
    return true;
  }
}

/** What a screen reader says of an arm. */
export function described(arm: number, look: Look, { speech, labels }: Pick<FieldParts, "speech" | "labels">): string {
  const parts = [speech.fullName(arm)];
  if (look.blue) parts.push(labels.square_blue);
  if (look.yellow) parts.push(labels.square_yellow);
  if (look.suggested) parts.push(labels.square_suggested);
  if (!look.available) parts.push(labels.square_unavailable);
  if (look.reward) parts.push(labels.arm_reward.replace("{reward}", look.reward));
  return parts.join(", ");
}

/** Says whether an arm can be chosen. */
export function showState(cell: HTMLElement, look: Look): void {
  if (look.available) cell.removeAttribute("aria-disabled");
  else cell.setAttribute("aria-disabled", "true");
}
