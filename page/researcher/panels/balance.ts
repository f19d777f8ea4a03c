/** How many people are in each condition. */

import type { CellCount } from "../../api";
import { byId, el, whole } from "../elements";

export function showBalance(cells: CellCount[]): void {
  const most = Math.max(1, ...cells.map((cell) => cell.active + cell.finished));
  const two = cells.some((cell) => cell.second_dynamic);
  const advised = cells.some((cell) => cell.advice);
  const half = cells.length > 8 ? Math.ceil(cells.length / 2) : cells.length;
  const halves = [cells.slice(0, half), cells.slice(half)].filter((part) => part.length);
  byId("balance").replaceChildren(...halves.map((part) => table(part, most, two, advised)));
}

function table(cells: CellCount[], most: number, two: boolean, advised: boolean): HTMLElement {
  const names = ["timing", "dynamic", "landscape", ...(two ? ["then"] : []), ...(advised ? ["advice"] : [])].map((name) => heading(name));
  const head = el("tr", "", ...names, el("td"), heading("active", "number"), heading("done", "number"));
  const rows = cells.map((cell) => {
    const words = [cell.timing, cell.dynamic, cell.landscape, ...(two ? [cell.second_dynamic] : []), ...(advised ? [cell.advice ?? ""] : [])];
    const bar = el("div", "bar", part("done", cell.finished / most), part("active", cell.active / most));
    const counts = [cell.active, cell.finished].map((count) => el("td", count ? "number" : "number none", whole(count)));
    return el("tr", "", ...words.map((word) => el("td", "", word)), el("td", "wide", bar), ...counts);
  });
  return el("table", "dense", el("thead", "", head), el("tbody", "", ...rows));
}

function heading(text: string, className = ""): HTMLElement {
  const cell = el("th", className, text);
  cell.scope = "col";
  return cell;
}

function part(className: string, share: number): HTMLElement {
  const made = el("div", className);
  made.style.width = `${100 * share}%`;
  return made;
}
