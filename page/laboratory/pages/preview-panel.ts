/** A frame with a screen of the study in it, for a desktop or a phone. */

import type { ScreensShown } from "../../api";
import { counted, el, setText } from "../../researcher/elements";
import { field, select } from "../forms";
import { change, inWords } from "../laboratory-api";
import { documentOf } from "../preview";

interface Edits {
  base: number;
  files: Record<string, string | null>;
}

export class PreviewPanel {
  readonly element: HTMLElement;
  private shown: ScreensShown = { texts: null, screens: [], pictures: {}, problem: "" };
  private readonly frame = el("iframe");
  private readonly screen = el("select");
  private readonly language: HTMLSelectElement;
  private readonly width = select([["desktop", "Desktop"], ["phone", "Phone"]] as const, "desktop");
  private readonly message = el("p", "note");
  private asked = 0;

  constructor(private readonly study: string, languages: string[], private readonly edits: () => Edits) {
    this.language = select(languages.map((each) => [each, each] as const), languages[0] ?? "");
    this.frame.title = "Preview of the screen";
    this.frame.setAttribute("sandbox", ""); // Nothing: no script, no forms, no way out.
    this.message.setAttribute("role", "status");
    this.screen.addEventListener("change", () => this.show());
    this.width.addEventListener("change", () => this.show());
    this.language.addEventListener("change", () => void this.refresh());
    const choices = el("div", "choices", field("Screen", this.screen), ...(languages.length > 1 ? [field("Language", this.language)] : []), field("On a", this.width));
    this.element = el("section", "card preview", el("h2", "", "Preview"), choices, this.message, this.frame);
  }

  async refresh(): Promise<void> {
    const number = (this.asked += 1);
    try {
      const shown = await change("/lab/api/studies/{study}/preview", { ...this.edits(), language: this.language.value }, this.study);
      if (number !== this.asked) return;
      if (shown.texts) this.take(shown);
      setText(this.message, shown.problem ? `This is how it was before: ${shown.problem}` : counted(shown.screens.length, "screen"));
    } catch (error) {
      if (number === this.asked) setText(this.message, inWords(error));
    }
  }

  /** Shows the screen that a file is on, if there is one. */
  follow(file: string): void {
    const stage = file.split("/").pop()!.replace(/\.(md|toml)$/, "");
    const found = this.shown.screens.findIndex(({ state, name }) => state.stage === stage || name === `Page: ${stage}`);
    if (found < 0) return;
    this.screen.selectedIndex = found;
    this.show();
  }

  private take(shown: ScreensShown): void {
    const chosen = Math.max(0, this.screen.selectedIndex);
    this.shown = shown;
    this.screen.replaceChildren(...shown.screens.map(({ name }) => new Option(name)));
    this.screen.selectedIndex = Math.min(chosen, shown.screens.length - 1);
    this.show();
  }

  private show(): void {
    const screen = this.shown.screens[this.screen.selectedIndex];
    this.frame.className = this.width.value;
    if (!screen || !this.shown.texts) return;
    const fresh = documentOf(screen, this.shown.texts, this.shown.pictures);
    if (this.frame.srcdoc !== fresh) this.frame.srcdoc = fresh;
  }
}
