/** A short piece of a line, as in the chart. */

import { svg } from "../elements";

export function swatch(colour: string, dash: number[], width = 2): SVGElement {
  const line = svg("line", { x1: 0, y1: 5, x2: 28, y2: 5, stroke: colour, "stroke-width": width, "stroke-dasharray": dash.join(" ") || "none" });
  return svg("svg", { width: 28, height: 10, viewBox: "0 0 28 10", "aria-hidden": "true" }, line);
}
