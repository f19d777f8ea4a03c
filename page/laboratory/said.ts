/** One line that says what was done, or what went wrong; screen readers read it aloud. */

import { byId, setText } from "../researcher/elements";
import { inWords } from "./laboratory-api";

let timer = 0;

/** Says that something was done. */
export function said(sentence: string): void {
  const line = byId("said");
  setText(line, sentence);
  line.hidden = false;
  clearTimeout(timer);
  timer = window.setTimeout(() => void (line.hidden = true), 8000);
}

/** Does something on a press of a button, which waits for it, and says what came of it. */
export function doing(press: HTMLButtonElement, work: () => Promise<string | void>): void {
  press.disabled = true;
  byId("trouble").hidden = true;
  work()
    .then((sentence) => (sentence ? said(sentence) : undefined))
    .catch((error: unknown) => {
      setText(byId("trouble"), inWords(error));
      byId("trouble").hidden = false;
    })
    .finally(() => void (press.disabled = false));
}

/** A button that does something. */
export function action(text: string, work: () => Promise<string | void>, className = ""): HTMLButtonElement {
  const made = document.createElement("button");
  made.type = "button";
  made.className = className;
  made.textContent = text;
  made.addEventListener("click", () => doing(made, work));
  return made;
}
