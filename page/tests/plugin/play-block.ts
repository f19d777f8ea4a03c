/** Plays blocks in a made-up page with a made-up clock. */

import { initJsPsych } from "jspsych";
import { vi } from "vitest";
import GridBandit, { type Answer, type Game, type Report } from "../../plugin/grid-bandit";

/** What a test can see and do while a block is played. */
export interface Played {
  reports: Report[];
  events: [string, number | null, number][];
  game: Game;
  data: () => Record<string, any> | undefined;
}

/** A square 10 x 10 that answers with its own number. */
export const ownNumber = (report: Report): Answer => ({ arm: report.yellow, reward: report.yellow });

/** Starts a block; time stands still until a test lets it go on. */
export async function start(parameters: Record<string, unknown> = {}): Promise<Played> {
  document.body.replaceChildren();
  const reports: Report[] = [];
  const events: Played["events"] = [];
  const choose = (parameters.choose as ((report: Report) => Answer | Promise<Answer>) | undefined) ?? ownNumber;
  let game!: Game;
  const jsPsych = initJsPsych();
  const trial = {
    type: GridBandit, start: 55, deadline_ms: 1500, n_trials: 3,
    ...parameters,
    choose: (report: Report) => {
      reports.push(report);
      return choose(report);
    },
    on_event: (kind: string, value: number | null, number: number) => events.push([kind, value, number]),
    on_begin: (begun: Game) => { game = begun; },
  };
  void jsPsych.run([trial]);
  // jsPsych waits for a few promises, the clock for a frame.
  await vi.advanceTimersByTimeAsync(20);
  return { reports, events, game, data: () => jsPsych.data.get().values()[0] };
}

export function find(selector: string): HTMLElement {
  const found = document.querySelector<HTMLElement>(selector);
  if (!found) throw new Error(`nothing on the page matches ${selector}`);
  return found;
}

export const square = (number: number): HTMLElement => find(`.square[data-square="${number}"]`);
export const dots = (): [number, number] => [Number(find("#grid").dataset.blue), Number(find("#grid").dataset.yellow)];
/** The element of an arm that is no square, and the arms on which both dots are (null: on none). */
export const arm = (number: number): HTMLElement => find(`[data-arm="${number}"]`);
export const marked = (): (number | null)[] => ["blue", "yellow"].map((dot) => {
  const on = find(`.gb-${dot}`);
  return on.hidden ? null : Number(on.closest<HTMLElement>("[data-arm]")!.dataset.arm);
});
export const wait = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

/** As if the person turned to another tab, or came back. */
export function setHidden(hidden: boolean): void {
  Object.defineProperty(document, "hidden", { configurable: true, value: hidden });
  document.dispatchEvent(new Event("visibilitychange"));
}

/** Presses a key on what has the focus. */
export function press(key: string, more: KeyboardEventInit = {}): void {
  (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
}
