/** Everything people read: labels from the study's texts, numbers and money as their language writes them. */

import type { Texts as Answer } from "../api";
import { DEFAULT_LABELS, fill, type LabelName } from "../plugin/labels";

/** Labels of the page, beside those of the plugin. The English texts are in the study's texts.toml. */
export const PAGE_LABELS = [
  "agree", "decline", "continue", "start", "finish",
  "part_of", "kind_training", "kind_task", "ready_title",
  "ready_standard", "ready_neighbour", "ready_travel", "ready_time", "ready_no_click", "ready_no_click_travel", "ready_choices",
  "ready_blue", "ready_yellow", "ready_keys", "ready_training_points", "ready_task_points", "picture_label",
  "withdraw", "withdraw_title", "withdraw_text", "withdraw_keep", "withdraw_delete", "withdraw_go_on",
  "finished_title", "finished_thanks", "total_points", "payment_base", "payment_bonus", "payment_total",
  "code_title", "code_copy", "code_copied", "leave", "leave_text", "submit", "submit_text",
  "declined_title", "withdrawn_title", "preview_title", "expired_title",
  "taken_over_title", "taken_over_text", "taken_over_here",
  "elsewhere_title", "elsewhere_text",
  "error_title", "error_text", "error_reload", "error_details",
  "offline",
] as const;

export type PageLabel = (typeof PAGE_LABELS)[number] | LabelName;

export class Texts {
  constructor(private readonly answer: Answer) {}

  get title(): string {
    return this.answer.title;
  }

  get language(): string {
    return this.answer.language;
  }

  get direction(): Answer["direction"] {
    return this.answer.direction;
  }

  /** The labels that the plugin knows. */
  get ofPlugin(): Record<string, string> {
    const names = Object.keys(DEFAULT_LABELS).filter((name) => name in this.answer.labels);
    return Object.fromEntries(names.map((name) => [name, this.answer.labels[name]!]));
  }

  /** A label with its placeholders filled in; numbers are written as the language writes them. */
  label(name: PageLabel, values: Record<string, string | number> = {}): string {
    const written = Object.entries(values).map(([key, value]) => [key, typeof value === "number" ? this.number(value) : value]);
    return fill(this.answer.labels[name] ?? name, Object.fromEntries(written));
  }

  number(value: number): string {
    return new Intl.NumberFormat(this.language, { maximumFractionDigits: 2 }).format(value);
  }

  money(value: number, currency: string): string {
    try {
      return new Intl.NumberFormat(this.language, { style: "currency", currency }).format(value);
    } catch {
      // A currency that is none of ISO 4217, such as "credits".
      return `${this.number(value)} ${currency}`;
    }
  }
}
