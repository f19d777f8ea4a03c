/** The screen of a block: reward, counter, points, time bar, squares and dots, notes, and what a screen reader hears. */

import { element } from "../dom";
import { fill, type Labels } from "../labels";
import { mayChoose, place, type Dynamic, type Shape } from "../rules";
import { Squares } from "./squares";

export interface BoardParts {
  shape: Shape;
  dynamic: Dynamic;
  labels: Labels;
  language: string;
  /** A square was clicked, or chosen by key; by hand, or by a program. */
  chosen: (square: number, byHand: boolean) => void;
  /** The button of the pause was pressed. */
  resumed: () => void;
}

/** What the board shows of a block. */
export interface View {
  trial: number;
  nTrials: number;
  blue: number;
  yellow: number;
  reward: number | null;
  points: number;
}

export class Board {
  readonly root: HTMLElement;
  readonly squares: Squares;
  private readonly numbers: Intl.NumberFormat;
  private readonly reward = element("div", { id: "reward", class: "gb-reward", "aria-labelledby": "reward-caption", role: "group" });
  private readonly counter = element("p", { id: "counter", class: "gb-counter" });
  private readonly points = element("p", { id: "points", class: "gb-points" });
  private readonly timeLeft = element("div", { class: "gb-time-left" });
  private readonly blue = element("div", { class: "gb-dot gb-blue" });
  private readonly yellow = element("div", { class: "gb-dot gb-yellow" });
  private readonly ring = element("div", { id: "ring", class: "gb-dot gb-ring", hidden: true });
  private readonly note = element("p", { id: "note", class: "gb-note" });
  private readonly status = element("p", { id: "status", class: "gb-heard", role: "status", "aria-live": "polite" });
  /** Apart from the status: a suggestion must not cut off what is said about the reward. */
  private readonly heard = element("p", { id: "suggestion", class: "gb-heard", role: "status", "aria-live": "polite" });
  private suggested: number | null = null;
  private readonly resume: HTMLButtonElement;
  private readonly pause: HTMLElement;

  constructor(private readonly parts: BoardParts) {
    const { labels, shape, dynamic } = parts;
    this.numbers = new Intl.NumberFormat(parts.language || undefined, { maximumFractionDigits: 2 });
    this.squares = new Squares(shape, labels, (value) => this.numbers.format(value), parts.chosen);
    this.resume = element("button", { id: "resume", type: "button", class: "gb-button" }, labels.resume);
    this.resume.addEventListener("click", () => parts.resumed());
    this.pause = element(
      "div",
      { id: "pause", class: "gb-pause", role: "group", "aria-labelledby": "pause-title", hidden: true },
      element("h2", { id: "pause-title" }, labels.paused_title),
      element("p", {}, labels.paused_text),
      this.resume,
    );
    const inner = element("div", { class: "gb-inner" }, this.panel(), this.field(), this.note, this.status, this.heard);
    this.root = element("div", { class: "grid-bandit", "data-dynamic": dynamic }, inner);
    this.root.style.setProperty("--gb-columns", String(shape.width));
    this.root.style.setProperty("--gb-rows", String(shape.height));
    this.showRule();
  }

  /** Shows everything that belongs to a choice. */
  show(view: View): void {
    this.reward.textContent = view.reward === null ? "" : this.numbers.format(view.reward);
    this.counter.textContent = fill(this.parts.labels.counter, {
      number: this.numbers.format(view.trial + 1),
      total: this.numbers.format(view.nTrials),
    });
    this.points.textContent = fill(this.parts.labels.points, { points: this.numbers.format(view.points) });
    this.showDots(view.blue, view.yellow);
  }

  /** Puts both dots in their squares; the yellow one is above the blue one. */
  showDots(blue: number, yellow: number): void {
    this.moveDot(this.blue, blue);
    this.moveDot(this.yellow, yellow);
    const { dataset } = this.squares.grid;
    dataset.blue = String(blue);
    dataset.yellow = String(yellow);
    const { shape, dynamic } = this.parts;
    for (let square = 0; square < shape.width * shape.height; square += 1) {
      const available = mayChoose(dynamic, blue, square, shape);
      this.squares.paint(square, { blue: square === blue, yellow: square === yellow, available, suggested: square === this.suggested });
    }
  }

  /** Puts a ring on the suggested square, and says so; null removes it. The focus stays where it is. */
  showAdvice(square: number | null): void {
    if (square === this.suggested) return;
    this.suggested = square;
    this.ring.hidden = square === null;
    const { dataset } = this.squares.grid;
    if (square === null) {
      delete dataset.suggested;
      this.heard.textContent = "";
    } else {
      this.moveDot(this.ring, square);
      dataset.suggested = String(square);
      this.heard.textContent = this.at(this.parts.labels.said_suggested, square);
    }
    this.showDots(Number(dataset.blue), Number(dataset.yellow));
  }

  /** Shows that a reward is new even if the number is the same as before. */
  flashReward(): void {
    const { reward } = this;
    reward.classList.remove("gb-new");
    void reward.offsetWidth; // Without this the browser would not start the animation again.
    reward.classList.add("gb-new");
  }

  showTime(left: number): void {
    this.timeLeft.style.transform = `scaleX(${left})`;
  }

  /** A short text below the squares; `mood` decides its look. */
  showNote(text: string, mood: "rule" | "hint" | "saving" | "trouble"): void {
    this.note.textContent = text;
    this.note.dataset.mood = mood;
  }

  /** The rule of this dynamic, unless there is something more urgent to say. */
  showRule(): void {
    this.showNote(this.parts.labels[`rule_${this.parts.dynamic}`], "rule");
  }

  /** Whether the clock is running, a choice is being saved, or the block is paused. */
  showPhase(phase: string): void {
    this.root.dataset.phase = phase;
  }

  showPause(shown: boolean): void {
    this.pause.hidden = !shown;
    this.squares.grid.toggleAttribute("inert", shown);
    if (shown) this.resume.focus({ preventScroll: true });
  }

  /** Tells a screen reader, politely. */
  say(text: string): void {
    this.status.textContent = text;
  }

  /** Tells a screen reader something about a square. */
  sayAt(label: string, square: number, values: Record<string, number> = {}): void {
    this.say(this.at(label, square, values));
  }

  private at(label: string, square: number, values: Record<string, number> = {}): string {
    const { column, row } = place(square, this.parts.shape);
    const all = { ...values, column: column + 1, row: row + 1 };
    const written = Object.entries(all).map(([name, value]) => [name, this.numbers.format(value)]);
    return fill(label, Object.fromEntries(written));
  }

  private moveDot(dot: HTMLElement, square: number): void {
    const { column, row } = place(square, this.parts.shape);
    dot.style.transform = `translate(${column * 100}%, ${row * 100}%)`;
  }

  private panel(): HTMLElement {
    const caption = element("div", { id: "reward-caption", class: "gb-caption" }, this.parts.labels.reward_caption);
    const box = element("div", { class: "gb-reward-box" }, caption, this.reward);
    return element("div", { class: "gb-panel" }, this.counter, box, this.points);
  }

  private field(): HTMLElement {
    const bar = element("div", { id: "time-bar", class: "gb-time-bar", "aria-hidden": "true" }, this.timeLeft);
    const dots = element("div", { class: "gb-dots", "aria-hidden": "true", dir: "ltr" }, this.blue, this.yellow, this.ring);
    const frame = element("div", { class: "gb-frame" }, this.squares.grid, dots, this.pause);
    return element("div", { class: "gb-field" }, bar, frame);
  }
}
