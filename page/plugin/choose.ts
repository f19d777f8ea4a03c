/** The answer to a choice, and a small stand-in for a server that draws rewards in the browser. */

import type { AdviceReport } from "./game/adviser";
import { nArms, type Layout } from "./layout";
import { sampled, type Dynamic } from "./rules";

/** A choice as the browser saw it. */
export interface Report extends AdviceReport {
  /** From 0. */
  trial: number;
  /** Where the blue dot was. */
  position: number;
  /** The arm of the last click; null: nobody clicked. */
  goal: number | null;
  /** The yellow dot when time was up: the last click, or where it was before. */
  yellow: number;
  /** Every click: arm and milliseconds after this choice's clock started. */
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
  /** The arm that was sampled. */
  arm: number;
  /** Where the blue dot is now; by default at the arm. */
  position?: number;
  /** Where the yellow dot is now; by default at the arm. */
  goal?: number;
  /** null: it is not told. */
  reward: number | null;
  /** Points of the block so far, null if they are not told; by default the sum of the rewards. */
  points_block?: number | null;
  /** The rewards of all arms, where they are shown. */
  foregone?: (number | null)[] | null;
  /** The arms on offer at the next choice; by default all. */
  available?: number[] | null;
}

/** An answer with nothing left open. */
export type Outcome = Required<Answer>;

export type Choose = (report: Report) => Answer | Promise<Answer>;

/** Fills in what an answer leaves out. */
export function completed(answer: Answer, points: number | null): Outcome {
  const { arm, reward } = answer;
  return {
    arm, reward, position: answer.position ?? arm, goal: answer.goal ?? arm,
    points_block: answer.points_block === undefined ? (points ?? 0) + (reward ?? 0) : answer.points_block,
    foregone: answer.foregone ?? null, available: answer.available ?? null,
  };
}

export interface LocalParts {
  means: readonly number[];
  noise: number;
  dynamic: Dynamic;
  layout: Layout;
  /** Whether the rewards of all arms are drawn and told. */
  foregone: boolean;
  /** The arms on offer by trial. */
  offers: readonly (readonly number[] | null)[];
}

/** Answers with the mean of the arm plus a whole number from -noise to noise, all equally likely. */
export function choosesLocally({ means, noise, dynamic, layout, foregone, offers }: LocalParts): Choose {
  const expected = nArms(layout);
  if (means.length !== expected) {
    throw new Error(`grid-bandit: expected ${expected} means (or a function \`choose\`), got ${means.length}`);
  }
  const drawn = (arm: number) => means[arm]! + Math.floor(Math.random() * (2 * noise + 1)) - noise;
  return ({ trial, position, yellow }) => {
    const arm = sampled(dynamic, position, yellow, layout);
    const all = foregone ? means.map((_, each) => drawn(each)) : null;
    const next = offers[trial + 1];
    return { arm, goal: yellow, reward: all ? all[arm]! : drawn(arm), foregone: all, available: next ? [...next] : null };
  };
}
