/** The rules of the game: which squares may be chosen, and where a walk leads. Squares are numbered column * height + row. */

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
export function place(square: number, { height }: Shape): Place {
  return { column: Math.floor(square / height), row: square % height };
}

/** The number of the square at a place. */
export function squareAt({ column, row }: Place, { height }: Shape): number {
  return column * height + row;
}

/** The square and those that share a side with it, in order. */
export function nextTo(square: number, shape: Shape): number[] {
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

/** Whether the square may be chosen from this position. */
export function mayChoose(dynamic: Dynamic, position: number, square: number, shape: Shape): boolean {
  if (!Number.isInteger(square) || square < 0 || square >= shape.width * shape.height) return false;
  return dynamic !== "neighbour" || nextTo(position, shape).includes(square);
}

/** All squares that may be chosen from this position. */
export function choosable(dynamic: Dynamic, position: number, shape: Shape): number[] {
  if (dynamic === "neighbour") return nextTo(position, shape);
  return Array.from({ length: shape.width * shape.height }, (_, square) => square);
}

/** The square that is sampled: the goal or, under travel, the next one on the way (ties: the lowest number). */
export function sampled(dynamic: Dynamic, position: number, goal: number, shape: Shape): number {
  if (dynamic !== "travel" || goal === position) return goal;
  const from = place(position, shape);
  const to = place(goal, shape);
  if (to.column < from.column) return position - shape.height;
  if (to.row < from.row) return position - 1;
  if (to.row > from.row) return position + 1;
  return position + shape.height;
}

function isInside({ column, row }: Place, { width, height }: Shape): boolean {
  return column >= 0 && column < width && row >= 0 && row < height;
}
