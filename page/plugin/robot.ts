/** A player for trying a study out: chooses squares at random, misses now and then. */

import { choosable, type Dynamic, type Shape } from "./rules";

export interface RobotParts {
  dynamic: Dynamic;
  shape: Shape;
  deadlineMs: number;
  /** Squares to choose, by trial (null: no click); where it ends, squares are random. */
  script: (number | null)[];
}

export interface Plan {
  /** null: no click. */
  square: number | null;
  atMs: number;
}

const MISSES = 0.05;

/** What the robot does in this trial, and when. */
export function plan({ dynamic, shape, deadlineMs, script }: RobotParts, trial: number, position: number): Plan {
  const atMs = Math.round(deadlineMs * (0.15 + 0.6 * Math.random()));
  const told = script[trial];
  if (told !== undefined) return { square: told, atMs };
  if (Math.random() < MISSES) return { square: null, atMs };
  const squares = choosable(dynamic, position, shape);
  return { square: squares[Math.floor(Math.random() * squares.length)]!, atMs };
}
