/** How many people are in each condition. */

import type { CellCount } from "../../api";
import { byId, el, whole } from "../elements";

export function showBalance(cells: CellCount[]): void {
  const most = Math.max(1, ...cells.map((cell) => cell.active + cell.finished));
  const names = [...new Set(cells.flatMap((cell) => Object.keys(cell.levels)))];
  const half = cells.length > 8 ? Math.ceil(cells.length / 2) : cells.length;
  const halves = [cells.slice(0, half), cells.slice(half)].filter((part) => part.length);
  byId("balance").replaceChildren(...halves.map((part) => table(part, most, names)));
}

function table(cells: CellCount[], most: number, names: string[]): HTMLElement {
  const heads = names.map((name) => heading(name === "second_dynamic" ? "then" : name.replaceAll("_", " ")));
  const head = el("tr", "", ...heads, el("td"), heading("active", "number"), heading("done", "number"));
  const rows = cells.map((cell) => {
    const words = names.map((name) => cell.levels[name] ?? "");
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
