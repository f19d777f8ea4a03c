/** The screen of a block: reward, counter, points, time bar, arms and dots, notes, and what a screen reader hears. */

import { element } from "../dom";
import { nArms, type Layout } from "../layout";
import { choosable, mayChoose, openOnly, type Dynamic } from "../rules";
import type { Rewards } from "../words/amounts";
import { fill, type Labels } from "../words/labels";
import { ruleLabels } from "../words/rule-labels";
import { Speech, type Foregone } from "../words/speech";
import { Arms } from "./fields/arms";
import type { Chosen, Field, FieldParts } from "./fields/field";
import { heightOf } from "./fields/graph-shape";
import { Squares } from "./fields/squares";

export interface BoardParts {
  layout: Layout;
  dynamic: Dynamic;
  labels: Labels;
  language: string;
  rewards: Rewards;
  /** null: a click is the choice. */
  deadlineMs: number | null;
  chosen: Chosen;
  /** The button of the pause was pressed. */
  resumed: () => void;
}

/** What the board shows of a block. */
export interface View {
  trial: number;
  nTrials: number;
  /** Where the dots are; null where one has no place yet. */
  blue: number | null;
  yellow: number | null;
  /** From where the next choice is made. */
  position: number;
  /** The arms on offer; null for all. */
  available: readonly number[] | null;
  reward: number | null;
  points: number | null;
  /** The rewards written on the arms. */
  written: Foregone;
}

export class Board {
  readonly root: HTMLElement;
  readonly field: Field;
  readonly speech: Speech;
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
  private view: View | null = null;
  private readonly resume: HTMLButtonElement;
  private readonly pause: HTMLElement;

  constructor(private readonly parts: BoardParts) {
    const { labels, layout, dynamic } = parts;
    this.speech = new Speech(parts);
    this.field = fieldOf({ layout, labels, speech: this.speech, chosen: parts.chosen });
    // In this order they lie over each other; before the first choice they may have no place yet.
    for (const dot of [this.blue, this.yellow, this.ring]) this.field.moveDot(dot, 0);
    this.resume = element("button", { id: "resume", type: "button", class: "gb-button" }, labels.resume);
    this.resume.addEventListener("click", () => parts.resumed());
    this.pause = element(
      "div",
      { id: "pause", class: "gb-pause", role: "group", "aria-labelledby": "pause-title", hidden: true },
      element("h2", { id: "pause-title" }, labels.paused_title),
      element("p", {}, parts.deadlineMs === null ? labels.paused_text_no_clock : labels.paused_text),
      this.resume,
    );
    const inner = element("div", { class: "gb-inner" }, this.panel(), this.frame(), this.note, this.status, this.heard);
    this.root = element("div", { class: "grid-bandit", "data-dynamic": dynamic, "data-layout": layout.kind }, inner);
    const [columns, rows] = sides(layout);
    this.root.style.setProperty("--gb-columns", String(columns));
    this.root.style.setProperty("--gb-rows", String(rows));
  }

  /** Shows everything that belongs to a choice. */
  show(view: View): void {
    this.view = view;
    const { labels } = this.parts;
    const { speech } = this;
    this.reward.textContent = view.reward === null ? "" : speech.reward(view.reward);
    this.counter.textContent = fill(labels.counter, { number: speech.number(view.trial + 1), total: speech.number(view.nTrials) });
    if (view.points !== null) {
      const points = speech.reward(view.points);
      this.points.textContent = fill(labels[this.parts.rewards.kind === "money" ? "money" : "points"], { points, money: points });
    }
    this.showDots(view.blue, view.yellow);
  }

  /** Puts both dots on their arms; the yellow one is above the blue one. */
  showDots(blue: number | null, yellow: number | null): void {
    const view = { ...this.view!, blue, yellow };
    this.view = view;
    this.moveDot(this.blue, "blue", blue);
    this.moveDot(this.yellow, "yellow", yellow);
    const { layout, dynamic } = this.parts;
    this.field.standAt?.(view.position);
    const open = new Set(choosable(dynamic, view.position, layout, view.available));
    for (let arm = 0; arm < nArms(layout); arm += 1) {
      const points = view.written?.[arm] ?? null;
      this.field.paint(arm, {
        blue: arm === blue, yellow: arm === yellow, available: open.has(arm), suggested: arm === this.suggested,
        reward: points === null ? "" : this.speech.reward(points),
      });
    }
  }

  /** Puts a ring on the suggested arm, and says so; null removes it. The focus stays where it is. */
  showAdvice(arm: number | null): void {
    if (arm === this.suggested) return;
    this.suggested = arm;
    this.moveDot(this.ring, "suggested", arm);
    this.heard.textContent = arm === null ? "" : this.speech.suggested(arm);
    this.showDots(this.view!.blue, this.view!.yellow);
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

  /** A short text below the arms; `mood` decides its look. */
  showNote(text: string, mood: "rule" | "hint" | "saving" | "trouble"): void {
    this.note.textContent = text;
    this.note.dataset.mood = mood;
  }

  /** The rule of this block, or which arms are open if only some are, unless there is something more urgent to say. */
  showRule(): void {
    const { layout, dynamic, labels, deadlineMs } = this.parts;
    const open = this.open();
    const rule = ruleLabels(layout, dynamic, deadlineMs !== null).map((name) => labels[name]).join(" ");
    if (open?.length === 1) this.showNote(fill(labels.rule_one_open, { arm: this.speech.name(open[0]!) }), "rule");
    else if (open) this.showNote(`${labels.rule_some_open} ${rule}`, "rule");
    else this.showNote(rule, "rule");
  }

  /** Which arms are open, for a screen reader; empty where the rule says it all. */
  saidOpen(): string {
    const open = this.open();
    return open ? this.speech.open(open) : "";
  }

  private open(): number[] | null {
    const { dynamic, layout } = this.parts;
    const { position, available } = this.view!;
    return openOnly(dynamic, position, layout, available);
  }

  /** Why an arm cannot be chosen. */
  whyNot(arm: number): string {
    const { layout, dynamic, labels } = this.parts;
    if (mayChoose(dynamic, this.view!.position, arm, layout)) return labels.hint_closed;
    return layout.kind === "grid" ? labels.hint_unavailable : labels.hint_too_far;
  }

  /** Whether the clock is running, a choice is being saved or its outcome looked at, or the block is paused. */
  showPhase(phase: string): void {
    this.root.dataset.phase = phase;
  }

  showPause(shown: boolean): void {
    this.pause.hidden = !shown;
    this.field.arms.toggleAttribute("inert", shown);
    if (shown) this.resume.focus({ preventScroll: true });
  }

  /** Tells a screen reader, politely. */
  say(text: string): void {
    this.status.textContent = text;
  }

  private moveDot(dot: HTMLElement, name: "blue" | "yellow" | "suggested", arm: number | null): void {
    const { dataset } = this.field.arms;
    dot.hidden = arm === null;
    if (arm === null) delete dataset[name];
    else {
      dataset[name] = String(arm);
      this.field.moveDot(dot, arm);
    }
  }

  private panel(): HTMLElement {
    // Where rewards are hidden there is nothing to show of them.
    if (this.parts.rewards.kind === "hidden") return element("div", { class: "gb-panel" }, this.counter);
    const caption = element("div", { id: "reward-caption", class: "gb-caption" }, this.parts.labels.reward_caption);
    const box = element("div", { class: "gb-reward-box" }, caption, this.reward);
    return element("div", { class: "gb-panel" }, this.counter, box, this.points);
  }

  private frame(): HTMLElement {
    const bar = element("div", { id: "time-bar", class: "gb-time-bar", "aria-hidden": "true" }, this.timeLeft);
    const frame = element("div", { class: "gb-frame" }, ...this.field.layers, this.pause);
    return element("div", { class: "gb-field" }, ...(this.parts.deadlineMs === null ? [] : [bar]), frame);
  }
}

function fieldOf({ layout, ...parts }: FieldParts): Field {
  return layout.kind === "grid" ? new Squares({ ...parts, layout }) : new Arms({ ...parts, layout });
}

/** How wide and how high the arms are, in any unit. */
function sides(layout: Layout): [number, number] {
  if (layout.kind === "grid") return [layout.width, layout.height];
  return layout.kind === "graph" ? [1, heightOf(layout)] : [layout.arms.length, 1];
}
