/** Arms that are no squares: buttons, the places of a line, or the nodes of a graph; each holds the dots that are on it. */

import { element } from "../../dom";
import type { Arm, Graph, Point, Row } from "../../layout";
import { fill } from "../../words/labels";
import { inDirection, inOrder, ofDigit } from "./arrows";
import { Cursor } from "./cursor";
import { described, Looks, showState, type Field, type FieldParts, type Look } from "./field";
import { GraphShape } from "./graph-shape";

/** A longer name stands below the node of a graph, not in it. */
const LONGEST_INSIDE = 3;
/** A longer line stands upright on a phone. */
const LONGEST_LYING = 8;
/** On a phone, three buttons with longer words than this are below one another. */
const LONG_WORD = 9;
/** More arms than this are small. */
const MANY = 12;

export class Arms implements Field {
  readonly arms: HTMLElement;
  readonly layers: readonly HTMLElement[];
  private readonly cells: HTMLElement[];
  private readonly written: HTMLElement[] = [];
  private readonly marks: HTMLElement[] = [];
  private readonly looks = new Looks();
  private readonly cursor: Cursor;
  private readonly graph: GraphShape | null = null;

  constructor(private readonly parts: FieldParts<Row | Graph>) {
    const { layout, labels, speech, chosen } = parts;
    const total = layout.arms.length;
    this.arms = element("div", {
      id: "arms", class: `gb-arms gb-${layout.kind}`, role: "group",
      "aria-label": fill(total <= 10 ? labels.arms_digits : labels.arms, { total: speech.number(total) }),
    });
    // A line and a graph are places, the same in every language; buttons are read like text.
    if (layout.kind !== "buttons") this.arms.dir = "ltr";
    this.cells = layout.arms.map((arm, number) => this.made(arm, number));
    if (layout.kind === "graph") this.graph = new GraphShape(layout, this.arms, this.cells);
    else this.divide(total);
    this.arms.classList.toggle("gb-many", total > MANY);
    this.arms.append(...this.cells, ...(this.graph?.heads ?? []));
    this.layers = [this.arms];
    this.cursor = new Cursor({
      arms: this.arms, cells: this.cells, cellClass: "gb-arm", chosen,
      target: (key, from) => this.target(key, from),
      direct: (key) => ofDigit(key, total),
    });
  }

  paint(arm: number, look: Look): void {
    if (!this.looks.changed(arm, look)) return;
    const cell = this.cells[arm]!;
    cell.setAttribute("aria-label", described(arm, look, this.parts));
    cell.setAttribute("aria-pressed", String(look.yellow));
    cell.classList.toggle("gb-here", look.blue);
    showState(cell, look);
    this.written[arm]!.dataset.text = look.reward;
  }

  standAt(arm: number): void {
    this.graph?.standAt(arm);
  }

  moveDot(dot: HTMLElement, arm: number): void {
    this.marks[arm]!.append(dot);
  }

  moveCursor(arm: number, focus: boolean): void {
    this.cursor.move(arm, focus);
  }

  cell(arm: number): HTMLElement {
    return this.cells[arm]!;
  }

  private made({ label, colour, picture }: Arm, number: number): HTMLElement {
    const { layout, speech } = this.parts;
    // Drawn by the style sheet: the words on a button should be those that it is called by.
    const written = element("span", { class: "gb-written", "data-text": "" });
    const marks = element("span", { class: "gb-marks" });
    const face = element("span", { class: "gb-face" });
    // Set as a property: whatever is no colour is ignored.
    if (colour) face.style.backgroundColor = colour;
    if (picture) face.append(element("img", { class: "gb-picture", src: picture, alt: "", draggable: "false" }));
    // Something to read on every arm: a colour alone says nothing to many people.
    const ownNumber = speech.number(number + 1);
    const name = label || (picture ? "" : ownNumber);
    if (name) face.append(element("bdi", { class: "gb-label" }, name));
    const look = [colour && "gb-coloured", picture && "gb-pictured", name.length > LONGEST_INSIDE && "gb-long"].filter(Boolean).join(" ");
    const cell = element("div", { class: `gb-arm ${look}`.trim(), role: "button", tabindex: -1, "data-arm": number });
    const inside = [face, written, marks];
    // Which digit chooses it, where that is not what is written on it.
    if (name !== ownNumber && layout.arms.length <= 10) inside.push(element("span", { class: "gb-key", "data-text": speech.number((number + 1) % 10) }));
    for (const each of inside) each.setAttribute("aria-hidden", "true");
    cell.append(...inside);
    this.written.push(written);
    this.marks.push(marks);
    return cell;
  }

  /** Into how many columns buttons are divided where there is more width than height, and where there is less. */
  private divide(total: number): void {
    const wide = total <= 5 ? total : Math.ceil(Math.sqrt(total * 1.6));
    const longest = Math.max(...this.parts.layout.arms.flatMap(({ label }) => label.split(/[\s-]/)).map((word) => word.length));
    const tall = total <= 3 ? (longest > LONG_WORD ? 1 : total) : total <= 8 ? 2 : Math.ceil(Math.sqrt(total * 0.7));
    const numbers = { wide, tall, "wide-rows": Math.ceil(total / wide), "tall-rows": Math.ceil(total / tall) };
    for (const [name, value] of Object.entries(numbers)) this.arms.style.setProperty(`--gb-${name}`, String(value));
    this.arms.classList.toggle("gb-upright", total > LONGEST_LYING);
  }

  private target(key: string, from: number): number | null {
    const { layout } = this.parts;
    const total = layout.arms.length;
    if (layout.kind === "line") return inOrder(key, from, total);
    const points = layout.kind === "graph" ? layout.places : this.middles();
    const isSpread = points.some(([x, y]) => x !== points[0]![0] || y !== points[0]![1]);
    const spatial = isSpread ? inDirection(key, from, points) : null;
    return spatial ?? inOrder(key, from, total, layout.kind === "buttons" && this.isRightToLeft());
  }

  private middles(): Point[] {
    return this.cells.map((cell) => {
      const { left, top, width, height } = cell.getBoundingClientRect();
      return [left + width / 2, top + height / 2];
    });
  }

  private isRightToLeft(): boolean {
    return getComputedStyle(this.arms).direction === "rtl";
  }
}
