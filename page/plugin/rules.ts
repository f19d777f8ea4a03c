/** The rules of the game: which arms may be chosen, and where a walk leads. Squares are numbered column * height + row. */

import { isArm, nArms, type Graph, type Layout } from "./layout";

export type Dynamic = "standard" | "neighbour" | "travel";

export interface Shape {
  width: number;
  height: number;
}

export interface Place {
  column: number;
  row: number;
}

/** Column and row of a square, from 0; row 0 is the top one. */
export function place(square: number, { height }: Pick<Shape, "height">): Place {
  return { column: Math.floor(square / height), row: square % height };
}

/** The number of the square at a place. */
export function squareAt({ column, row }: Place, { height }: Pick<Shape, "height">): number {
  return column * height + row;
}

/** The arm and those one step from it, in order: across a side, along the line or an edge, if it leads there; any button is next to any other. */
export function nextTo(arm: number, layout: Layout): number[] {
  switch (layout.kind) {
    case "grid": return squaresNextTo(arm, layout);
    case "line": return [arm - 1, arm, arm + 1].filter((near) => isArm(near, layout));
    case "graph": return joined(arm, layout);
    case "buttons": return all(layout);
  }
}

/** Whether the arm may be chosen from this position, by the rule and where only some arms are on offer. */
export function mayChoose(
  dynamic: Dynamic, position: number, arm: number, layout: Layout, available: readonly number[] | null = null,
): boolean {
  if (!isArm(arm, layout) || (available && !available.includes(arm))) return false;
  return dynamic !== "neighbour" || nextTo(position, layout).includes(arm);
}

/** All arms that may be chosen from this position. */
export function choosable(dynamic: Dynamic, position: number, layout: Layout, available: readonly number[] | null = null): number[] {
  const near = dynamic === "neighbour" ? nextTo(position, layout) : all(layout);
  return available ? near.filter((arm) => available.includes(arm)) : near;
}

/** The open arms, where some are closed that the rule alone would let people choose; null otherwise. */
export function openOnly(dynamic: Dynamic, position: number, layout: Layout, available: readonly number[] | null): number[] | null {
  const open = choosable(dynamic, position, layout, available);
  return open.length < choosable(dynamic, position, layout).length ? open : null;
}

/** The arm that is sampled: the goal or, under travel, the next one on a shortest way (ties: the lowest number). */
export function sampled(dynamic: Dynamic, position: number, goal: number, layout: Layout): number {
  if (dynamic !== "travel" || goal === position) return goal;
  const steps = stepsTo(goal, layout);
  const left = steps.get(position);
  // Nobody walks to where no way leads.
  if (left === undefined) return position;
  return nextTo(position, layout).find((arm) => steps.get(arm) === left - 1)!;
}

/** How many steps it is to the goal, from every arm from which a way leads there. */
function stepsTo(goal: number, layout: Layout): Map<number, number> {
  const steps = new Map([[goal, 0]]);
  const back = backwards(layout);
  // A map goes on to what is added while it is walked through.
  for (const [arm, far] of steps) {
    for (const near of nextTo(arm, back)) if (!steps.has(near)) steps.set(near, far + 1);
  }
  return steps;
}

function all(layout: Layout): number[] {
  return Array.from({ length: nArms(layout) }, (_, arm) => arm);
}

/** The same arms, with every edge leading the other way. */
function backwards(layout: Layout): Layout {
  return layout.kind === "graph" ? { ...layout, edges: layout.edges.map(([from, to]) => [to, from]) } : layout;
}

function joined(arm: number, { edges, directed }: Graph): number[] {
  const ends = edges.filter((edge) => (directed ? edge[0] === arm : edge.includes(arm))).flat();
  return [...new Set([arm, ...ends])].sort((a, b) => a - b);
}

function squaresNextTo(square: number, shape: Shape): number[] {
  const { column, row } = place(square, shape);
  const near = [
    { column: column - 1, row },
    { column, row: row - 1 },
    { column, row },
    { column, row: row + 1 },
    { column: column + 1, row },
  ];
  return near.filter((at) => isInside(at, shape)).map((at) => squareAt(at, shape));
}

function isInside({ column, row }: Place, { width, height }: Shape): boolean {
  return column >= 0 && column < width && row >= 0 && row < height;
}
