/** How people leave for good: a code to copy, and a link back. */

import { element } from "../../plugin/dom";
import type { Texts } from "../texts";

/** The completion code, with a button that copies it. */
export function codeBox(code: string, texts: Texts): HTMLElement {
  const shown = element("code", { id: "completion-code", tabindex: 0 }, code);
  const copied = element("span", { id: "copied", role: "status" });
  const copy = element("button", { type: "button", id: "copy-code" }, texts.label("code_copy"));
  copy.addEventListener("click", () => {
    void copyText(code, shown).then(() => {
      copied.textContent = texts.label("code_copied");
    });
  });
  const line = element("div", { class: "code-line" }, shown, copy, copied);
  return element("div", { class: "code-box" }, element("h2", {}, texts.label("code_title")), line);
}

async function copyText(text: string, shown: HTMLElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Not allowed in some frames: select the code, so that the person can copy it with two keys.
    getSelection()?.selectAllChildren(shown);
    document.execCommand("copy");
  }
}

/** The link to where people came from. */
export function wayBack(address: string, texts: Texts): HTMLElement {
  const link = element("a", { id: "leave", class: "button main", href: address }, texts.label("leave"));
  return element("div", {}, element("p", {}, texts.label("leave_text")), element("div", { class: "buttons" }, link));
}
