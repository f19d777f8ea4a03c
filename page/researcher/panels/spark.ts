/** A small curve of regret: what was lost so far as a line, what may follow as a dashed line in a band. */

import type { Found } from "../../api";
import { counted, svg, whole } from "../elements";

const WIDTH = 132;
const HEIGHT = 34;
const EDGE = 3;

/** What is drawn, in a sentence. */
export function inWords(found: Found): string {
  const so_far = `Regret ${whole(found.regret.at(-1) ?? 0)} after ${counted(found.regret.length, "choice")} of ${whole(found.n_trials)}`;
  const [low, high] = [found.low.at(-1), found.high.at(-1)];
  return low === undefined || high === undefined ? `${so_far}.` : `${so_far}; ${whole(low)} to ${whole(high)} at the end (95 %).`;
}

/** The curve, between the same bottom and top for everyone so that curves can be compared. */
export function spark(found: Found, [bottom, top]: [number, number]): SVGElement {
  const x = (t: number): string => (EDGE + ((WIDTH - 2 * EDGE) * t) / found.n_trials).toFixed(1);
  const y = (value: number): string => (HEIGHT - EDGE - ((HEIGHT - 2 * EDGE) * (value - bottom)) / (top - bottom)).toFixed(1);
  const n = found.regret.length;
  const last = found.regret.at(-1) ?? 0;
  const now = `${x(n)},${y(last)}`;
  const later = (values: number[]): string[] => values.map((value, k) => `${x(found.later[k] ?? 0)},${y(value)}`);
  const drawn: Node[] = [svg("line", { x1: EDGE, x2: WIDTH - EDGE, y1: y(0), y2: y(0), stroke: "#c5ccd2" })];
  if (found.later.length) {
    drawn.push(
      svg("polygon", { points: [now, ...later(found.high), ...later(found.low).reverse()].join(" "), class: "band" }),
      svg("polyline", { points: [now, ...later(found.middle)].join(" "), class: "to-come" }),
    );
  }
  drawn.push(
    svg("polyline", { points: [`${x(0)},${y(0)}`, ...found.regret.map((value, k) => `${x(k + 1)},${y(value)}`)].join(" "), class: "so-far" }),
    svg("circle", { cx: x(n), cy: y(last), r: 2.2, class: "now" }),
  );
  const about = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, class: "spark", role: "img", "aria-label": inWords(found) };
  return svg("svg", about, ...drawn);
}

/** From the lowest to the highest of all curves and bands. */
export function range(all: Found[]): [number, number] {
  const values = all.flatMap((found) => [...found.regret, ...found.low, ...found.high]);
  return [values.reduce((least, value) => Math.min(least, value), 0), values.reduce((most, value) => Math.max(most, value), 1)];
}
