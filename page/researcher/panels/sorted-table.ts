/** A table of at most 50 rows at a time, sorted by a press on a column's head; rows are made once and then only changed. */

import { byId, button, el, setText } from "../elements";

const PAGE = 50;

export interface Column<Row> {
  key: string;
  title: string;
  /** What the head says when pointed at. */
  hint?: string;
  number?: boolean;
  /** Rows are in the order of these; null comes last either way. */
  value: (row: Row) => string | number | null;
  /** Whether the first press sorts from the largest down. */
  down?: boolean;
}

/** Where the table is on the page, what is in it, and how it is sorted at first. */
interface Parts<Row> {
  table: string;
  pager: string;
  columns: Column<Row>[];
  key: string;
  down?: boolean;
  /** A name that no other row has: those that are equal are in its order. */
  name: (row: Row) => string;
  /** Makes the cells of an empty row. */
  make: (line: HTMLTableRowElement) => void;
  /** Shows this in one. */
  write: (line: HTMLTableRowElement, row: Row) => void;
}

export class SortedTable<Row> {
  private readonly lines: HTMLTableRowElement[] = [];
  private readonly heads = new Map<string, HTMLElement>();
  private readonly body = el("tbody");
  private rows: Row[] = [];
  private key: string;
  private down: boolean;
  private first = 0;

  constructor(private readonly parts: Parts<Row>) {
    this.key = parts.key;
    this.down = parts.down ?? false;
    byId(parts.table).append(el("thead", "", el("tr", "", ...parts.columns.map((column) => this.head(column)))), this.body);
  }

  /** Shows these rows, on the same page as before as far as there is one. */
  show(rows: Row[]): void {
    this.rows = this.sorted(rows);
    this.first = Math.max(0, Math.min(this.first, PAGE * Math.floor((rows.length - 1) / PAGE)));
    const shown = this.rows.slice(this.first, this.first + PAGE);
    while (this.lines.length < shown.length) this.lines.push(this.line());
    this.lines.forEach((line, k) => {
      const row = shown[k];
      line.hidden = row === undefined;
      if (row !== undefined) this.parts.write(line, row);
    });
    this.pages(rows.length);
    for (const [key, head] of this.heads) head.setAttribute("aria-sort", key !== this.key ? "none" : this.down ? "descending" : "ascending");
  }

  /** Goes to the page that begins with this row. */
  turn(first: number): void {
    this.first = first;
    this.show(this.rows);
  }

  private sorted(rows: Row[]): Row[] {
    const column = this.parts.columns.find((each) => each.key === this.key);
    const sign = this.down ? -1 : 1;
    const { name } = this.parts;
    return [...rows].sort((a, b) => {
      const [x, y] = [column?.value(a) ?? null, column?.value(b) ?? null];
      if (x === y) return name(a) < name(b) ? -1 : 1;
      if (x === null || y === null) return x === null ? 1 : -1;
      return sign * (x < y ? -1 : 1);
    });
  }

  private head(column: Column<Row>): HTMLElement {
    const press = button(column.title, () => {
      this.down = this.key === column.key ? !this.down : (column.down ?? false);
      this.key = column.key;
      this.turn(0);
    });
    press.title = column.hint ?? "";
    const head = el("th", column.number ? "number" : "", press);
    head.scope = "col";
    this.heads.set(column.key, head);
    return head;
  }

  private line(): HTMLTableRowElement {
    const line = el("tr");
    this.parts.make(line);
    this.body.append(line);
    return line;
  }

  private pages(n: number): void {
    const pager = byId(this.parts.pager);
    const last = Math.max(0, Math.ceil(n / PAGE) - 1);
    const at = Math.floor(this.first / PAGE);
    if (!pager.firstChild) {
      pager.append(button("‹", () => this.turn(this.first - PAGE)), el("span"), button("›", () => this.turn(this.first + PAGE)));
      pager.firstElementChild?.setAttribute("aria-label", "previous page");
      pager.lastElementChild?.setAttribute("aria-label", "next page");
    }
    pager.hidden = last === 0;
    const [before, text, after] = [...pager.children] as [HTMLButtonElement, HTMLElement, HTMLButtonElement];
    setText(text, `${at + 1} / ${last + 1}`);
    before.disabled = at === 0;
    after.disabled = at === last;
  }
}
