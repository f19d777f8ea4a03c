/** Leaving at any time: a dialog that asks whether to keep or delete what was recorded. */

import { element } from "../../plugin/dom";
import type { Texts } from "../texts";

export interface WithdrawParts {
  texts: Texts;
  opened: () => void;
  /** The person goes on. */
  closed: () => void;
  withdraw: (deleting: boolean) => Promise<void>;
}

/** Makes the button in the header open the dialog. */
export function offerWithdrawal(button: HTMLButtonElement, parts: WithdrawParts): void {
  const { texts } = parts;
  const keep = element("button", { type: "button", id: "withdraw-keep" }, texts.label("withdraw_keep"));
  const remove = element("button", { type: "button", id: "withdraw-delete", class: "danger" }, texts.label("withdraw_delete"));
  const goOn = element("button", { type: "button", id: "withdraw-go-on", class: "main" }, texts.label("withdraw_go_on"));
  const dialog = element(
    "dialog",
    { id: "withdraw-dialog", "aria-labelledby": "withdraw-title", "aria-describedby": "withdraw-text" },
    element("h2", { id: "withdraw-title" }, texts.label("withdraw_title")),
    element("p", { id: "withdraw-text" }, texts.label("withdraw_text")),
    element("p", { id: "withdraw-note", role: "status" }),
    element("div", { class: "stack" }, goOn, keep, remove),
  );
  document.body.append(dialog);
  button.textContent = texts.label("withdraw");

  let leaving = false;
  button.addEventListener("click", () => {
    dialog.showModal();
    goOn.focus();
    parts.opened();
  });
  goOn.addEventListener("click", () => dialog.close());
  // Escape closes it too; once someone has decided to leave, it stays until the server has answered.
  dialog.addEventListener("cancel", (event) => {
    if (leaving) event.preventDefault();
  });
  dialog.addEventListener("close", () => {
    if (!leaving) parts.closed();
  });
  const leave = async (deleting: boolean) => {
    leaving = true;
    for (const choice of [keep, remove, goOn]) choice.disabled = true;
    await parts.withdraw(deleting);
    dialog.close();
    dialog.remove();
  };
  keep.addEventListener("click", () => void leave(false));
  remove.addEventListener("click", () => void leave(true));
}
