/** How the arms of a block lie on the screen: squares of a grid, buttons, a line, or a graph with its edges drawn. */

/** What people see of an arm that is no square. */
export interface Arm {
  label: string;
  /** A CSS colour; empty for the usual one. */
  colour: string;
  /** The address of a picture; empty for none. */
  picture: string;
}

export interface Grid { kind: "grid"; width: number; height: number }
export interface Row { kind: "buttons" | "line"; arms: readonly Arm[] }
export interface Graph {
  kind: "graph";
  arms: readonly Arm[];
  /** Where each arm is, from 0 to 1, from left to right and from top to bottom. */
  places: readonly Point[];
  /** The pairs of arms between which a line is drawn. */
  edges: readonly (readonly [number, number])[];
  /** Whether each edge leads only from its first arm to its second, with an arrowhead there. */
  directed: boolean;
}

export type Layout = Grid | Row | Graph;
export type Point = readonly [number, number];

/** A layout as somebody writes it: what is left out is empty, and an arm may be its label alone. */
export interface GivenLayout {
  kind: string;
  width?: number;
  height?: number;
  arms?: (string | Partial<Arm>)[];
  places?: [number, number][];
  edges?: [number, number][];
  directed?: boolean;
}

export const KINDS = ["grid", "buttons", "line", "graph"] as const;

/** The number of arms. */
export function nArms(layout: Layout): number {
  return layout.kind === "grid" ? layout.width * layout.height : layout.arms.length;
}

/** Whether this is the number of an arm. */
export function isArm(arm: unknown, layout: Layout): boolean {
  return Number.isInteger(arm) && (arm as number) >= 0 && (arm as number) < nArms(layout);
}

/** Reads a layout and says what is wrong with it; null is a grid of this width and height. */
export function readLayout(given: GivenLayout | null, width: number, height: number): Layout {
  if (given === null) return { kind: "grid", width, height };
  const kind = given.kind as Layout["kind"];
  if (!KINDS.includes(kind)) throw wrong(`layout.kind to be "${KINDS.join('", "')}"`, given.kind);
  if (kind === "grid") return { kind, width: given.width ?? width, height: given.height ?? height };
  const arms = (given.arms ?? []).map(readArm);
  if (arms.length === 0) throw wrong("layout.arms to have at least one arm", "none");
  return kind === "graph" ? readGraph(given, arms) : { kind, arms };
}

function readArm(given: string | Partial<Arm>): Arm {
  return { label: "", colour: "", picture: "", ...(typeof given === "string" ? { label: given } : given) };
}

function readGraph({ places = [], edges = [], directed = false }: GivenLayout, arms: Arm[]): Graph {
  if (places.length !== arms.length) throw wrong(`layout.places to have a place for each of ${arms.length} arms`, places.length);
  const graph: Graph = { kind: "graph", arms, places, edges, directed };
  if (typeof directed !== "boolean") throw wrong("layout.directed to be true or false", directed);
  const outside = places.find((place) => place.length !== 2 || !place.every((along) => along >= 0 && along <= 1));
  if (outside) throw wrong("layout.places to be pairs of numbers from 0 to 1", outside);
  const odd = edges.find((edge) => edge.length !== 2 || !edge.every((arm) => isArm(arm, graph)));
  if (odd) throw wrong(`layout.edges to be pairs of arms from 0 to ${arms.length - 1}`, odd);
  return graph;
}

function wrong(expected: string, got: unknown): Error {
  return new Error(`grid-bandit: expected ${expected}, got ${typeof got === "string" ? `"${got}"` : JSON.stringify(got)}`);
}
