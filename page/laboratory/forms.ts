/** Fields and forms: each with a label, its errors beside it, and a button that waits for the answer. */

import { el } from "../researcher/elements";
import { inWords } from "./laboratory-api";

/** A labelled field; what is typed is its value. */
export function field(label: string, input: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement, hint = ""): HTMLElement {
  input.id ||= `field-${(number += 1)}`;
  const name = el("label", "", label);
  name.htmlFor = input.id;
  const row = el("div", "field", name, input);
  if (hint) {
    const note = el("p", "note", hint);
    note.id = `${input.id}-hint`;
    input.setAttribute("aria-describedby", note.id);
    row.append(note);
  }
  return row;
}
let number = 0;

export function input(type: string, more: Partial<HTMLInputElement> = {}): HTMLInputElement {
  return Object.assign(el("input"), { type, ...more });
}

/** A choice among values, each with its name. */
export function select<Value extends string>(options: readonly (readonly [Value, string])[], chosen: Value): HTMLSelectElement {
  const made = el("select");
  for (const [value, name] of options) made.append(new Option(name, value, false, value === chosen));
  return made;
}

/** A form that sends itself by `send`; while it is on its way, its button waits, and what went wrong is said below. */
export function form(button: string, send: () => Promise<unknown>, ...fields: HTMLElement[]): HTMLFormElement {
  const submit = el("button", "primary", button);
  const message = el("p", "message");
  message.setAttribute("role", "alert");
  const made = el("form", "form", ...fields, el("div", "actions", submit), message);
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    submit.disabled = true;
    message.textContent = "";
    send()
      .catch((error: unknown) => void (message.textContent = inWords(error)))
      .finally(() => void (submit.disabled = false));
  });
  return made;
}

/** Asks before something that cannot be undone, or is seen by others; true if it was confirmed. */
export function confirmed(title: string, text: string, yes: string): Promise<boolean> {
  const dialog = el("dialog", "card");
  const heading = el("h2", "", title);
  heading.id = "confirm-title";
  dialog.setAttribute("aria-labelledby", heading.id);
  const [no, go] = [el("button", "", "Cancel"), el("button", "primary", yes)];
  no.value = "no";
  go.value = "yes";
  const choices = el("form", "actions", no, go);
  choices.method = "dialog";
  dialog.append(heading, el("p", "", text), choices);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((done) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      done(dialog.returnValue === "yes");
    });
  });
}

/** The head of a table; a column without a name has no heading. */
export function headOf(names: readonly string[]): HTMLElement {
  return el("thead", "", el("tr", "", ...names.map((name) => (name ? el("th", "", name) : el("td")))));
}
