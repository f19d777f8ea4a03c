/** The answer to a choice, and a small stand-in for a server that draws rewards in the browser. */

import type { AdviceReport } from "./game/adviser";
import { sampled, type Dynamic, type Shape } from "./rules";

/** A choice as the browser saw it. */
export interface Report extends AdviceReport {
  /** From 0. */
  trial: number;
  /** Where the blue dot was. */
  position: number;
  /** The square of the last click; null: nobody clicked. */
  goal: number | null;
  /** The yellow dot when time was up: the last click, or where it was before. */
  yellow: number;
  /** Every click: square and milliseconds after this choice's clock started. */
  clicks: [number, number][];
  /** How many of them came from a mouse, a finger or a key, as the browser says, and not from a program. */
  by_hand: number;
  elapsed_ms: number;
  /** How often this choice was restarted after a pause. */
  pauses: number;
  /** 1 at first; higher if an earlier attempt to report failed. */
  attempt: number;
}

export interface Answer {
  /** The square that was sampled. */
  arm: number;
  /** Where the blue dot is now; by default at the arm. */
  position?: number;
  /** Where the yellow dot is now; by default at the arm. */
  goal?: number;
  reward: number;
  /** Points of the block so far; by default the sum of the rewards. */
  points_block?: number;
}

export type Choose = (report: Report) => Answer | Promise<Answer>;

/** Answers with the mean of the square plus a whole number from -noise to noise, all equally likely. */
export function choosesLocally(means: readonly number[], noise: number, dynamic: Dynamic, shape: Shape): Choose {
  const expected = shape.width * shape.height;
  if (means.length !== expected) {
    throw new Error(`grid-bandit: expected ${expected} means (or a function \`choose\`), got ${means.length}`);
  }
  return ({ position, yellow }) => {
    const arm = sampled(dynamic, position, yellow, shape);
    const wholeNumber = Math.floor(Math.random() * (2 * noise + 1)) - noise;
    return { arm, goal: yellow, reward: means[arm]! + wholeNumber };
  };
}
