/** A graph on the screen: its nodes at their places, as large as they may be, and a line or an arrow for each edge. */

import { element, vector } from "../../dom";
import type { Graph, Point } from "../../layout";
import { nextTo } from "../../rules";

/** Of the shortest way between two nodes, the part that a node is wide. */
const PART = 0.62;
const [SMALLEST, LARGEST] = [0.05, 0.2];
/** A name with more letters may reach over the side of the screen, if its node is so near it. */
const LONG = 6;
const AT_SIDE = 0.2;
/** How flat or narrow the field may be at most. */
const FLATTEST = 0.3;

/** How high the field of a graph is for each unit of its width. */
export function heightOf({ places }: Graph): number {
  const { width, height } = extent(places);
  return width === 0 && height === 0 ? 1 : Math.min(1 / FLATTEST, Math.max(FLATTEST, height / width));
}

export class GraphShape {
  /** Arrowheads, which lie above the nodes; none if edges lead both ways. */
  readonly heads: readonly HTMLElement[];
  private readonly edges: Graph["edges"];
  private readonly lines: readonly SVGElement[];

  constructor(private readonly graph: Graph, into: HTMLElement, cells: readonly HTMLElement[]) {
    const tall = heightOf(graph);
    const size = nodeSize(graph, tall);
    const at = placed(graph.places, tall, size);
    into.style.setProperty("--gb-node", `${size * 100}%`);
    cells.forEach((cell, arm) => {
      cell.style.left = `${at[arm]![0] * 100}%`;
      if (graph.arms[arm]!.label.length > LONG) {
        cell.classList.toggle("gb-at-left", at[arm]![0] < AT_SIDE);
        cell.classList.toggle("gb-at-right", at[arm]![0] > 1 - AT_SIDE);
      }
      cell.style.top = `${(at[arm]![1] / tall) * 100}%`;
    });
    this.edges = graph.edges.filter(([from, to]) => from !== to);
    this.lines = this.edges.map(([from, to]) => vector("line", {
      x1: at[from]![0] * 100, y1: at[from]![1] * 100, x2: at[to]![0] * 100, y2: at[to]![1] * 100, class: "gb-edge",
    }));
    this.heads = graph.directed ? this.edges.map(([from, to]) => headOf(at[from]!, at[to]!, tall)) : [];
    const drawn = vector("svg", { viewBox: `0 0 100 ${tall * 100}`, class: "gb-edges", "aria-hidden": "true" });
    drawn.append(...this.lines);
    into.append(drawn);
  }

  /** Marks the edges that lead on from this arm. */
  standAt(arm: number): void {
    const near = nextTo(arm, this.graph);
    this.edges.forEach(([from, to], number) => {
      // Of two lines between the same arms, one over the other, both.
      const isLineFrom = (from === arm && near.includes(to)) || (to === arm && near.includes(from));
      this.lines[number]!.classList.toggle("gb-from-here", isLineFrom);
      this.heads[number]?.classList.toggle("gb-from-here", from === arm);
    });
  }
}

/** An arrowhead: a box over the node with the tip at its side, so that it touches the node however large that is. */
function headOf([fromX, fromY]: Point, [x, y]: Point, tall: number): HTMLElement {
  const head = element("div", { class: "gb-head", "aria-hidden": "true" });
  head.style.left = `${x * 100}%`;
  head.style.top = `${(y / tall) * 100}%`;
  head.style.transform = `translate(-50%, -50%) rotate(${Math.atan2(y - fromY, x - fromX)}rad)`;
  return head;
}

function extent(places: readonly Point[]) {
  const xs = places.map(([x]) => x);
  const ys = places.map(([, y]) => y);
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  return { left, top, width: Math.max(...xs) - left, height: Math.max(...ys) - top };
}

/** The middles of the nodes in units of the field's width, half a node away from its sides; with the shape that they had. */
function placed(places: readonly Point[], tall: number, size: number): Point[] {
  const { left, top, width, height } = extent(places);
  // Nodes in one row or column, or a single one, are in the middle.
  const scale = width === 0 && height === 0 ? 1 : Math.min((1 - size) / width, (tall - size) / height);
  const [aside, above] = [(1 - width * scale) / 2, (tall - height * scale) / 2];
  return places.map(([x, y]) => [aside + (x - left) * scale, above + (y - top) * scale]);
}

/** How wide a node is, for each unit of the field's width. */
function nodeSize({ places }: Graph, tall: number): number {
  const at = placed(places, tall, LARGEST);
  const gaps = at.flatMap(([x, y], arm) => at.slice(arm + 1).map(([otherX, otherY]) => Math.hypot(otherX - x, otherY - y)));
  return Math.min(LARGEST, tall * 0.6, Math.max(SMALLEST, PART * Math.min(...gaps, 1)));
}
