/** The squares as an ARIA grid, with the dots over them. */

import { element } from "../../dom";
import type { Grid } from "../../layout";
import { place, squareAt, type Place } from "../../rules";
import { fill } from "../../words/labels";
import { Cursor } from "./cursor";
import { described, Looks, showState, type Field, type FieldParts, type Look } from "./field";

export class Squares implements Field {
  readonly arms: HTMLElement;
  readonly layers: readonly HTMLElement[];
  private readonly dots = element("div", { class: "gb-dots", "aria-hidden": "true", dir: "ltr" });
  private readonly cells: HTMLElement[] = [];
  /** Only of squares on which a reward has been written. */
  private readonly written: HTMLElement[] = [];
  private readonly looks = new Looks();
  private readonly cursor: Cursor;

  constructor(private readonly parts: FieldParts<Grid>) {
    const { layout: { width, height }, labels, speech, chosen } = parts;
    const label = fill(labels.grid, { columns: speech.number(width), rows: speech.number(height) });
    this.arms = element("div", {
      id: "grid", class: "gb-grid", role: "grid", "aria-label": label,
      "aria-rowcount": height, "aria-colcount": width,
      // Columns are counted from the left in every language: the squares are places, not text.
      dir: "ltr",
    });
    for (let row = 0; row < height; row += 1) this.arms.append(this.row(row));
    this.layers = [this.arms, this.dots];
    this.cursor = new Cursor({
      arms: this.arms, cells: this.cells, cellClass: "square", chosen,
      target: (key, from, control) => this.target(key, from, control),
    });
  }

  paint(square: number, look: Look): void {
    if (!this.looks.changed(square, look)) return;
    const cell = this.cells[square]!;
    cell.setAttribute("aria-label", described(square, look, this.parts));
    cell.setAttribute("aria-selected", String(look.yellow));
    showState(cell, look);
    if (look.reward && !this.written[square]) {
      this.written[square] = element("span", { class: "gb-written", "aria-hidden": "true" });
      cell.append(this.written[square]);
    }
    if (this.written[square]) this.written[square].textContent = look.reward;
  }

  /** Each dot lies in a box of the size of one square; the box is moved. */
  moveDot(dot: HTMLElement, square: number): void {
    const { column, row } = place(square, this.parts.layout);
    if (dot.parentNode !== this.dots) this.dots.append(dot);
    dot.style.transform = `translate(${column * 100}%, ${row * 100}%)`;
  }

  moveCursor(square: number, focus: boolean): void {
    this.cursor.move(square, focus);
  }

  cell(square: number): HTMLElement {
    return this.cells[square]!;
  }

  private row(row: number): HTMLElement {
    const { layout } = this.parts;
    const line = element("div", { class: "gb-row", role: "row", "aria-rowindex": row + 1 });
    for (let column = 0; column < layout.width; column += 1) {
      const square = squareAt({ column, row }, layout);
      const cell = element("div", {
        class: "square", role: "gridcell", tabindex: -1, "data-square": square, "aria-colindex": column + 1,
      });
      this.cells[square] = cell;
      line.append(cell);
    }
    return line;
  }

  /** Where a key moves the cursor; null if it is not one of ours. */
  private target(key: string, from: number, control: boolean): number | null {
    const { layout } = this.parts;
    const to = towards(key, place(from, layout), { column: layout.width - 1, row: layout.height - 1 }, control);
    return to && squareAt(to, layout);
  }
}

function towards(key: string, { column, row }: Place, last: Place, control: boolean): Place | null {
  switch (key) {
    case "ArrowLeft": return { column: Math.max(0, column - 1), row };
    case "ArrowRight": return { column: Math.min(last.column, column + 1), row };
    case "ArrowUp": return { column, row: Math.max(0, row - 1) };
    case "ArrowDown": return { column, row: Math.min(last.row, row + 1) };
    case "Home": return { column: 0, row: control ? 0 : row };
    case "End": return { column: last.column, row: control ? last.row : row };
    case "PageUp": return { column, row: 0 };
    case "PageDown": return { column, row: last.row };
    default: return null;
  }
}
