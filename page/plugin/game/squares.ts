/** The squares as an ARIA grid: one of them can be reached by Tab, arrow keys move between them, Enter or Space chooses. */

import { element } from "../dom";
import { fill, type Labels } from "../labels";
import { place, squareAt, type Place, type Shape } from "../rules";

/** What a square looks like and is announced as. */
export interface SquareLook {
  blue: boolean;
  yellow: boolean;
  available: boolean;
  suggested: boolean;
}

export class Squares {
  readonly grid: HTMLElement;
  private readonly cells: HTMLElement[] = [];
  private readonly looks: string[] = [];
  private cursor = 0;

  constructor(
    private readonly shape: Shape,
    private readonly labels: Labels,
    private readonly number: (value: number) => string,
    private readonly chosen: (square: number, byHand: boolean) => void,
  ) {
    const { width, height } = shape;
    const label = fill(labels.grid, { columns: number(width), rows: number(height) });
    this.grid = element("div", {
      id: "grid", class: "gb-grid", role: "grid", "aria-label": label,
      "aria-rowcount": height, "aria-colcount": width,
      // Columns are counted from the left in every language: the squares are places, not text.
      dir: "ltr",
    });
    for (let row = 0; row < height; row += 1) this.grid.append(this.row(row));
    this.grid.addEventListener("click", (event) => this.clicked(event));
    this.grid.addEventListener("keydown", (event) => this.pressed(event));
  }

  /** Makes a square look and sound as it should; does nothing if nothing has changed. */
  paint(square: number, look: SquareLook): void {
    const key = `${look.blue}${look.yellow}${look.available}${look.suggested}`;
    if (this.looks[square] === key) return;
    this.looks[square] = key;
    const cell = this.cells[square]!;
    cell.setAttribute("aria-label", this.describe(square, look));
    cell.setAttribute("aria-selected", String(look.yellow));
    if (look.available) cell.removeAttribute("aria-disabled");
    else cell.setAttribute("aria-disabled", "true");
  }

  /** Moves the keyboard's cursor, and the focus with it if wanted. */
  moveCursor(square: number, focus: boolean): void {
    this.cells[this.cursor]!.tabIndex = -1;
    this.cursor = square;
    const cell = this.cells[square]!;
    cell.tabIndex = 0;
    if (focus) cell.focus({ preventScroll: true });
  }

  /** The element of a square. */
  cell(square: number): HTMLElement {
    return this.cells[square]!;
  }

  private row(row: number): HTMLElement {
    const line = element("div", { class: "gb-row", role: "row", "aria-rowindex": row + 1 });
    for (let column = 0; column < this.shape.width; column += 1) {
      const square = squareAt({ column, row }, this.shape);
      const cell = element("div", {
        class: "square", role: "gridcell", tabindex: -1, "data-square": square, "aria-colindex": column + 1,
      });
      this.cells[square] = cell;
      line.append(cell);
    }
    return line;
  }

  private describe(square: number, look: SquareLook): string {
    const { column, row } = place(square, this.shape);
    const parts = [fill(this.labels.square, { column: this.number(column + 1), row: this.number(row + 1) })];
    if (look.blue) parts.push(this.labels.square_blue);
    if (look.yellow) parts.push(this.labels.square_yellow);
    if (look.suggested) parts.push(this.labels.square_suggested);
    if (!look.available) parts.push(this.labels.square_unavailable);
    return parts.join(", ");
  }

  private clicked(event: MouseEvent): void {
    // A mouse pressed in one square and released in another clicks on their common parent; the square it ends on is meant.
    const under = document.elementFromPoint?.(event.clientX, event.clientY);
    const cell = (event.target as Element).closest<HTMLElement>(".square") ?? under?.closest<HTMLElement>(".square");
    if (!cell) return;
    const square = Number(cell.dataset.square);
    this.moveCursor(square, false);
    this.chosen(square, event.isTrusted);
  }

  private pressed(event: KeyboardEvent): void {
    if (event.altKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      // A key that is held down repeats; only the first press is a choice.
      if (!event.repeat) this.chosen(this.cursor, event.isTrusted);
      return;
    }
    const target = this.target(event.key, event.ctrlKey);
    if (!target) return;
    event.preventDefault();
    this.moveCursor(squareAt(target, this.shape), true);
  }

  /** Where a key moves the cursor; null if it is not one of ours. */
  private target(key: string, control: boolean): Place | null {
    const { column, row } = place(this.cursor, this.shape);
    const right = this.shape.width - 1;
    const bottom = this.shape.height - 1;
    switch (key) {
      case "ArrowLeft": return { column: Math.max(0, column - 1), row };
      case "ArrowRight": return { column: Math.min(right, column + 1), row };
      case "ArrowUp": return { column, row: Math.max(0, row - 1) };
      case "ArrowDown": return { column, row: Math.min(bottom, row + 1) };
      case "Home": return { column: 0, row: control ? 0 : row };
      case "End": return { column: right, row: control ? bottom : row };
      case "PageUp": return { column, row: 0 };
      case "PageDown": return { column, row: bottom };
      default: return null;
    }
  }
}
