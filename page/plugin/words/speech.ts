/** What a screen reader hears of a block: the names of arms, and sentences about them. */

import { nArms, type Layout } from "../layout";
import { nextTo, place, type Dynamic } from "../rules";
import { writeNumber, writeReward, type Rewards } from "./amounts";
import { fill, type Labels } from "./labels";

export interface SpeechParts {
  layout: Layout;
  dynamic: Dynamic;
  labels: Labels;
  language: string;
  rewards: Rewards;
}

/** The rewards of all arms of a choice, where they are shown. */
export type Foregone = readonly (number | null)[] | null;

export class Speech {
  constructor(private readonly parts: SpeechParts) {}

  number = (value: number): string => writeNumber(value, this.parts.language);
  reward = (points: number): string => writeReward(points, this.parts.rewards, this.parts.language);

  /** What an arm is called in a sentence. */
  name(arm: number): string {
    const { layout, labels } = this.parts;
    if (layout.kind !== "grid") return this.label(arm) || fill(labels.arm, { number: this.number(arm + 1) });
    const { column, row } = place(arm, layout);
    return fill(labels.square, { column: this.number(column + 1), row: this.number(row + 1) });
  }

  /** What an arm is called where it is: also which of all it is, and what it is joined or leads to. */
  fullName(arm: number): string {
    const { layout, labels } = this.parts;
    if (layout.kind === "grid") return this.name(arm);
    const parts = [this.name(arm), fill(labels.arm_of, { number: this.number(arm + 1), total: this.number(nArms(layout)) })];
    if (!this.label(arm)) parts.shift();
    if (layout.kind === "graph") {
      const near = nextTo(arm, layout).filter((other) => other !== arm);
      if (near.length) parts.push(fill(layout.directed ? labels.arm_leads : labels.arm_joined, { arms: this.list(near) }));
    }
    return capital(parts.join(", "));
  }

  /** What is written on an arm, unless that is only its number. */
  private label(arm: number): string {
    const { layout } = this.parts;
    const label = layout.kind === "grid" ? "" : layout.arms[arm]!.label;
    return label === String(arm + 1) ? "" : label;
  }

  /** The next choice. */
  next(arm: number): string {
    return this.at("said_next", arm);
  }

  suggested(arm: number): string {
    return this.at("said_suggested", arm);
  }

  /** The outcome of a choice, with those of the others if they are shown. */
  outcome(arm: number, points: number | null, foregone: Foregone): string {
    const { rewards } = this.parts;
    const own = rewards.kind === "hidden" || points === null ? this.arm("said_recorded_at", arm) : this.won(arm, points);
    const others = this.others(arm, foregone);
    return others ? `${own} ${fill(this.parts.labels.said_foregone, { rewards: others })}` : own;
  }

  /** What can be chosen, where only some arms are on offer. */
  open(arms: readonly number[]): string {
    return fill(this.parts.labels.said_open, { arms: this.list(arms) });
  }

  list(arms: readonly number[]): string {
    return arms.map((arm) => this.name(arm)).join("; ");
  }

  private won(arm: number, points: number): string {
    const { layout, rewards } = this.parts;
    const reward = this.reward(points);
    if (layout.kind === "grid" && rewards.kind === "points") return this.at("said_reward", arm, { reward });
    return this.arm("said_reward_at", arm, { reward });
  }

  private others(arm: number, foregone: Foregone): string {
    const known = (foregone ?? []).flatMap((points, other) => (points === null || other === arm ? [] : [[other, points] as const]));
    return known.map(([other, points]) => `${this.name(other)} ${this.reward(points)}`).join("; ");
  }

  /** A sentence about an arm: of a square, with its column and row. */
  private at(label: "said_next" | "said_suggested" | "said_reward", arm: number, values: Record<string, string> = {}): string {
    const { layout, labels } = this.parts;
    if (layout.kind !== "grid") return this.arm(`${label}_at`, arm, values);
    const { column, row } = place(arm, layout);
    return fill(labels[label], { ...values, column: this.number(column + 1), row: this.number(row + 1) });
  }

  private arm(label: keyof Labels, arm: number, values: Record<string, string> = {}): string {
    return fill(this.parts.labels[label], { ...values, arm: this.name(arm) });
  }
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
