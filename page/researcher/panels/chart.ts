/** Mean curves of regret with their bands: one panel for each dynamic, one line for each timing, and the selected person's. */

import uPlot from "uplot";
import type { Curve, PersonBlock, PersonDetail } from "../../api";
import { colourOf, dashOf, pale } from "./colours";
import { byId, el, fixed, setText, whole } from "../elements";
import { swatch } from "./swatch";

const HEIGHT = 260;
const FONT = "11px system-ui, sans-serif";
const AXIS = { stroke: "#4c5760", font: FONT, labelFont: FONT, grid: { stroke: "#e6e9ec", width: 1 }, ticks: { show: false } };
const PERSON = "#000000";

type Values = (number | null)[];
type Range = [number, number];

export class RegretChart {
  private panels: Panel[] = [];
  private shape = "";
  private shown: [Curve[] | null, PersonDetail | null] = [null, null];

  /** `n_trials` is how many choices a task block has. */
  show(curves: Curve[], person: PersonDetail | null, n_trials: number): void {
    if (curves === this.shown[0] && person === this.shown[1]) return;
    this.shown = [curves, person];
    const played = person?.blocks.filter((block) => block.kind === "task" && block.regret.length > 0) ?? [];
    const timings = [...new Set(curves.map((curve) => curve.timing))];
    const of = (dynamic: string): [Curve[], PersonBlock[]] => [
      curves.filter((curve) => curve.dynamic === dynamic),
      played.filter((block) => block.panel === dynamic),
    ];
    const dynamics = [...new Set(curves.map((curve) => curve.dynamic))];
    const shape = JSON.stringify([dynamics, timings, person?.code, played.map((block) => [block.panel, block.number])]);
    const range = bounds(curves, played);
    if (shape !== this.shape) {
      this.shape = shape;
      this.panels.forEach((panel) => panel.destroy());
      this.panels = dynamics.map((dynamic, k) => new Panel(dynamic, ...of(dynamic), timings, n_trials, k === 0));
      byId("chart").replaceChildren(...this.panels.map((panel) => panel.element));
    }
    this.panels.forEach((panel) => panel.show(...of(panel.dynamic), range));
    const empty = !played.length && curves.every((curve) => !curve.mean.length);
    byId("chart").hidden = empty;
    byId("chart-empty").hidden = !empty;
  }
}

/** One dynamic. */
class Panel {
  readonly element = el("div", "panel");
  private readonly place = el("div", "plot");
  private readonly values: HTMLElement[] = [];
  private readonly plot: uPlot;
  private readonly watch: ResizeObserver;
  private range: Range = [0, 100];

  constructor(
    readonly dynamic: string,
    private curves: Curve[],
    private blocks: PersonBlock[],
    timings: string[],
    n_trials: number,
    labelled: boolean,
  ) {
    const series: uPlot.Series[] = [{}];
    const bands: uPlot.Band[] = [];
    const list = el("ul", "curves");
    for (const { timing } of curves) {
      const colour = colourOf(timings, timing);
      const edge = { stroke: "transparent", width: 0, points: { show: false } };
      series.push({ stroke: colour, width: 2, dash: dashOf(timings, timing), points: { show: false } }, edge, edge);
      bands.push({ series: [series.length - 1, series.length - 2], fill: pale(colour, 0.14) });
      list.append(this.line(swatch(colour, dashOf(timings, timing)), timing));
    }
    for (const { line: timing } of blocks) {
      series.push({ stroke: PERSON, width: 1, dash: dashOf(timings, timing), points: { show: false } });
      list.append(this.line(swatch(PERSON, dashOf(timings, timing), 1), `person, ${timing}`));
    }
    this.element.append(el("h3", "", dynamic), this.place, list);
    const options: uPlot.Options = {
      width: 150,
      height: HEIGHT,
      series,
      bands,
      padding: [6, 9, 0, 0],
      scales: { x: { time: false, range: [1, Math.max(2, n_trials)] }, y: { range: () => this.range } },
      axes: [
        { ...AXIS, label: "choice", labelSize: 14, size: 22, space: 36 },
        { ...AXIS, ...(labelled ? { label: "regret (points)", labelSize: 14 } : {}), size: 38, space: 40, values: (_, ticks) => ticks.map(whole) },
      ],
      legend: { show: false },
      cursor: { points: { show: false }, drag: { x: false, y: false }, y: false, sync: { key: "regret" } },
      hooks: { setCursor: [() => this.read()] },
    };
    this.plot = new uPlot(options, [[1, 2], ...series.slice(1).map(() => [null, null])] as uPlot.AlignedData, this.place);
    this.watch = new ResizeObserver(() => this.plot.setSize({ width: this.place.clientWidth, height: HEIGHT }));
    this.watch.observe(this.place);
  }

  show(curves: Curve[], blocks: PersonBlock[], range: Range): void {
    [this.curves, this.blocks, this.range] = [curves, blocks, range];
    const lines: Values[] = [...curves.flatMap((curve) => [curve.mean, curve.low, curve.high]), ...blocks.map((block) => block.regret)];
    const longest = Math.max(2, ...lines.map((line) => line.length));
    const filled = lines.map((line) => [...line, ...Array<null>(longest - line.length).fill(null)]);
    this.plot.setData([Array.from({ length: longest }, (_, k) => k + 1), ...filled]);
    this.read();
  }

  destroy(): void {
    this.watch.disconnect();
    this.plot.destroy();
  }

  private line(mark: Node, name: string): HTMLElement {
    const value = el("span", "value");
    this.values.push(value);
    return el("li", "", el("span", "name", mark, name), value);
  }

  /** Shows beside each line how many blocks it represents or, with the cursor at a choice, its value there. */
  private read(): void {
    const at = this.plot?.cursor.idx ?? -1; // called first while the plot is being made
    const texts = [
      ...this.curves.map((curve) => valueAt(curve, at) ?? `${whole(curve.n_blocks)} begun, ${whole(curve.n_finished)} done`),
      ...this.blocks.map((block) => {
        const there = block.regret[at];
        return there === undefined ? `${block.regret.length} of ${block.n_trials}` : `at ${at + 1}: ${whole(there)}`;
      }),
    ];
    texts.forEach((text, k) => setText(this.values[k] ?? el("span"), text));
  }
}

function valueAt(curve: Curve, at: number): string | null {
  const mean = curve.mean[at];
  if (mean === undefined) return null;
  const half = (curve.high[at] ?? NaN) - mean;
  return `at ${at + 1}: ${whole(mean)}${Number.isNaN(half) ? "" : ` ± ${fixed(half, 0)}`}, n ${whole(curve.n[at] ?? 0)}`;
}

/** From nothing (or below, if regret is) to above the top, the same for all panels; wide bands of few people may be cut. */
function bounds(curves: Curve[], blocks: PersonBlock[]): Range {
  const lines = [...curves.map((curve) => curve.mean), ...blocks.map((block) => block.regret)].flat();
  const top = lines.reduce((most, value) => Math.max(most, value), 1);
  const bottom = lines.reduce((least, value) => Math.min(least, value), 0);
  const edge = curves.flatMap((curve) => curve.high).reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
  return [1.04 * bottom, Math.max(1.04 * top, Math.min(1.02 * edge, 1.4 * top))];
}
