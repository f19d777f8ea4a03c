/** A line at the top that says when the connection is lost; the game has its own. */

import type { Texts } from "../texts";

export class Notice {
  texts: Texts | null = null;

  constructor(private readonly line: HTMLElement) {}

  /** After a failed attempt: says so. With null: the server answers again. */
  trouble(attempt: number | null): void {
    this.line.hidden = attempt === null;
    // Until the texts have arrived, only English is available.
    this.line.textContent = attempt === null ? "" : (this.texts?.label("offline") ?? "No connection. Trying again…");
  }

  get text(): string {
    return this.line.textContent ?? "";
  }
}
