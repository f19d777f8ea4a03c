/** Everything people read: labels from the study's texts, numbers and money as their language writes them. */

import type { Texts as Answer } from "../api";
import { writeMoney, writeNumber } from "../plugin/words/amounts";
import { DEFAULT_LABELS, fill, type LabelName } from "../plugin/words/labels";

/** Every label of the study's texts.toml. */
export type PageLabel = keyof Answer["labels"];

export class Texts {
  constructor(private readonly answer: Answer) {}

  get title(): string {
    return this.answer.title;
  }

  get language(): string {
    return this.answer.language;
  }

  /** The study's languages with their own names; none if there is only one. */
  get languages(): [string, string][] {
    return Object.entries(this.answer.languages);
  }

  get direction(): Answer["direction"] {
    return this.answer.direction;
  }

  /** The labels that the plugin knows. */
  get ofPlugin(): Record<string, string> {
    const { labels } = this.answer;
    const names = (Object.keys(DEFAULT_LABELS) as LabelName[]).filter((name) => name in labels);
    return Object.fromEntries(names.map((name) => [name, labels[name]!]));
  }

  /** A label with its placeholders filled in; numbers are written as the language writes them. */
  label(name: PageLabel, values: Record<string, string | number> = {}): string {
    const written = Object.entries(values).map(([key, value]) => [key, typeof value === "number" ? this.number(value) : value]);
    return fill(this.answer.labels[name] ?? name, Object.fromEntries(written));
  }

  number(value: number): string {
    return writeNumber(value, this.language);
  }

  money(value: number, currency: string): string {
    return writeMoney(value, currency, this.language);
  }
}
