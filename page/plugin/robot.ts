/** A player for trying a study out: chooses arms at random, misses now and then. */

import type { Layout } from "./layout";
import { choosable, type Dynamic } from "./rules";

export interface RobotParts {
  dynamic: Dynamic;
  layout: Layout;
  /** null: nothing can be missed. */
  deadlineMs: number | null;
  /** Arms to choose, by trial (null: no click); where it ends, arms are random. */
  script: (number | null)[];
}

/** The choice that is to be made. */
export interface RobotsTurn {
  trial: number;
  position: number;
  available: readonly number[] | null;
}

export interface Plan {
  /** null: no click. */
  arm: number | null;
  atMs: number;
}

const MISSES = 0.05;
/** As if there were this much time, where there is no deadline. */
const UNHURRIED_MS = 1000;

/** What the robot does in this trial, and when. */
export function plan({ dynamic, layout, deadlineMs, script }: RobotParts, { trial, position, available }: RobotsTurn): Plan {
  const atMs = Math.round((deadlineMs ?? UNHURRIED_MS) * (0.15 + 0.6 * Math.random()));
  const told = script[trial];
  const skips = deadlineMs !== null && (told === null || (told === undefined && Math.random() < MISSES));
  if (skips) return { arm: null, atMs };
  const arms = choosable(dynamic, position, layout, available);
  return { arm: told ?? arms[Math.floor(Math.random() * arms.length)]!, atMs };
}
