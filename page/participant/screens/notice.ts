/** A line at the top that says when the connection is lost; the game has its own. */

import { beforeTexts, isBusy } from "../refusals";
import type { Texts } from "../texts";

export class Notice {
  texts: Texts | null = null;

  constructor(private readonly line: HTMLElement) {}

  /** After a failed attempt: says so. With null: the server answers again. */
  trouble(attempt: number | null, error?: unknown): void {
    this.line.hidden = attempt === null;
    const said = this.texts?.label(isBusy(error) ? "busy" : "offline") ?? beforeTexts("offline");
    this.line.textContent = attempt === null ? "" : said;
  }

  get text(): string {
    return this.line.textContent ?? "";
  }
}
