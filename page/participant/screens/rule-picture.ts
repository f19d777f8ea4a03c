/** A small picture of a block's rule: its arms, the dots, and which arms may be chosen. */

import type { BlockShown } from "../../api";
import { vector } from "../../plugin/dom";
import { nArms, readLayout, type Arm, type Graph, type Grid, type Layout, type Point, type Row } from "../../plugin/layout";
import { nextTo, place, sampled, squareAt, type Dynamic } from "../../plugin/rules";

/** How many arms of a longer row are drawn. */
const MOST_DRAWN = 6;
const SQUARES: Grid = { kind: "grid", width: 5, height: 5 };

interface Drawn {
  layout: Layout;
  width: number;
  height: number;
  /** The middle of each arm, and how wide it is. */
  at: Point[];
  size: number;
}

/** The picture; `label` is what a screen reader says of it. */
export function rulePicture(block: BlockShown, label: string): SVGElement {
  const drawn = drawnOf(readLayout(block.layout, block.width, block.height));
  const { width, height } = drawn;
  const svg = vector("svg", { viewBox: `-0.1 -0.1 ${width + 0.2} ${height + 0.2}`, class: "picture", role: "img", "aria-label": label });
  const { blue, yellow, way } = dotsOf(drawn.layout, block.dynamic);
  const closed = block.dynamic === "neighbour"
    ? (arm: number) => !nextTo(blue, drawn.layout).includes(arm)
    : (arm: number) => block.closes && arm === drawn.at.length - 1;
  if (drawn.layout.kind === "graph") svg.append(...edges(drawn.layout, drawn));
  drawn.at.forEach((_, arm) => svg.append(...armOf(drawn, arm, closed(arm))));
  if (way.length) svg.append(vector("path", { d: `M${way.map((arm) => drawn.at[arm]!.join(" ")).join(" L")}`, class: "way" }));
  svg.append(dot(drawn, blue, "blue"));
  // Without a deadline nothing waits to be recorded, but a goal that is still ahead.
  if (block.deadline_ms !== null || block.dynamic === "travel") svg.append(dot(drawn, yellow, "yellow"));
  return svg;
}

function drawnOf(layout: Layout): Drawn {
  switch (layout.kind) {
    case "grid": return { layout: SQUARES, width: 5, height: 5, at: squares(), size: 1 };
    case "graph": return graph(layout);
    default: return row(layout);
  }
}

function squares(): Point[] {
  return Array.from({ length: 25 }, (_, square) => {
    const { column, row } = place(square, SQUARES);
    return [column + 0.5, row + 0.5];
  });
}

function row({ kind, arms }: Row): Drawn {
  const some = arms.slice(0, MOST_DRAWN);
  const layout: Row = { kind, arms: some };
  if (kind === "line") return { layout, width: some.length, height: 1, at: some.map((_, arm) => [arm + 0.5, 0.5]), size: 1 };
  const columns = some.length === 4 ? 2 : Math.min(3, some.length);
  const at = some.map((_, arm): Point => [(arm % columns) * 1.15 + 0.5, Math.floor(arm / columns) * 1.15 + 0.5]);
  return { layout, width: columns * 1.15 - 0.15, height: Math.ceil(some.length / columns) * 1.15 - 0.15, at, size: 1 };
}

/** As on the screen, but for the size. */
function graph(layout: Graph): Drawn {
  const { at, tall, size } = { at: layout.places.map(([x, y]): Point => [0.5 + 4 * x, 0.5 + 4 * y]), tall: 5, size: 1 };
  const gaps = at.flatMap(([x, y], arm) => at.slice(arm + 1).map(([otherX, otherY]) => Math.hypot(otherX - x, otherY - y)));
  return { layout, width: 5, height: tall, at, size: Math.min(size, 0.62 * Math.min(...gaps, 2)) };
}

/** Where the dots are in the example, and by which arms a walk leads from one to the other. */
function dotsOf(layout: Layout, dynamic: Dynamic): { blue: number; yellow: number; way: number[] } {
  const total = nArms(layout);
  if (layout.kind === "grid") {
    const at = (column: number, row: number) => squareAt({ column, row }, layout);
    if (dynamic === "neighbour") return { blue: at(2, 2), yellow: at(3, 2), way: [] };
    if (dynamic === "travel") return { blue: at(0, 4), yellow: at(3, 2), way: [at(0, 4), at(0, 2), at(3, 2)] };
    return { blue: at(1, 3), yellow: at(3, 0), way: [] };
  }
  const blue = dynamic === "neighbour" ? busiest(layout) : 0;
  const near = nextTo(blue, layout).filter((arm) => arm !== blue);
  const yellow = dynamic === "neighbour" ? near[0] ?? blue : Math.min(total - 1, 2);
  return { blue, yellow, way: dynamic === "travel" ? walk(layout, blue, yellow) : [] };
}

/** The arms on the way from one to another. */
function walk(layout: Layout, from: number, to: number): number[] {
  const way = [from];
  for (let at = from, next; (next = sampled("travel", at, to, layout)) !== at; at = next) way.push(next);
  return way;
}

/** The arm with most others next to it, at which the rule is seen best. */
function busiest(layout: Layout): number {
  const counts = Array.from({ length: nArms(layout) }, (_, arm) => nextTo(arm, layout).length);
  return counts.indexOf(Math.max(...counts));
}

function edges({ edges: pairs, directed }: Graph, { at, size }: Drawn): SVGElement[] {
  const lines = pairs.map(([from, to]) => vector("line", { x1: at[from]![0], y1: at[from]![1], x2: at[to]![0], y2: at[to]![1], class: "edge" }));
  return directed ? [...lines, ...pairs.filter(([from, to]) => from !== to).map(([from, to]) => head(at[from]!, at[to]!, size))] : lines;
}

/** An arrowhead with its tip at the side of a node. */
function head([fromX, fromY]: Point, [x, y]: Point, size: number): SVGElement {
  const far = Math.hypot(x - fromX, y - fromY) || 1;
  const [alongX, alongY] = [(x - fromX) / far, (y - fromY) / far];
  const point = (back: number, aside: number) => `${x - alongX * (size / 2 + back) - alongY * aside} ${y - alongY * (size / 2 + back) + alongX * aside}`;
  return vector("path", { d: `M${point(0, 0)} L${point(0.3, 0.14)} L${point(0.3, -0.14)} Z`, class: "head" });
}

function armOf({ layout, at, size }: Drawn, arm: number, isClosed: boolean): SVGElement[] {
  const [x, y] = at[arm]!;
  const look = `${layout.kind} ${isClosed ? "away" : "open"}`;
  const box = layout.kind === "graph"
    ? vector("circle", { cx: x, cy: y, r: size / 2, class: look })
    : vector("rect", { x: x - size / 2, y: y - size / 2, width: size, height: size, rx: layout.kind === "buttons" ? 0.12 : 0, class: look });
  if (layout.kind === "grid") return [box];
  if (isClosed) return [box, hatch(x, y, size)];
  const shown: Arm = layout.arms[arm]!;
  if (shown.colour) box.setAttribute("fill", shown.colour);
  if (!shown.picture) return [box];
  const inner = size * 0.7;
  return [box, vector("image", { href: shown.picture, x: x - inner / 2, y: y - inner / 2, width: inner, height: inner })];
}

/** Three lines across a closed arm. */
function hatch(x: number, y: number, size: number): SVGElement {
  const far = size * 0.3;
  const lines = [[-far, 0, 0, -far], [-far * 0.8, far * 0.8, far * 0.8, -far * 0.8], [0, far, far, 0]] as const;
  return vector("path", { d: lines.map(([a, b, c, d]) => `M${x + a} ${y + b} L${x + c} ${y + d}`).join(" "), class: "hatch" });
}

function dot({ layout, at, size }: Drawn, arm: number, name: "blue" | "yellow"): SVGElement {
  const [x, y] = at[arm]!;
  const isCorner = layout.kind === "buttons" || layout.kind === "graph";
  const radius = (name === "blue" ? 0.35 : 0.18) * size * (layout.kind === "buttons" ? 0.6 : 1);
  const aside = isCorner ? size * 0.32 : 0;
  return vector("circle", { cx: x + aside, cy: y - aside, r: radius, class: name });
}
