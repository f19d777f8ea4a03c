/** The last screen: what was earned, the completion code, and the way back to where people came from. */

import type { State } from "../../api";
import { element } from "../../plugin/dom";
import { earnings, heading } from "./sheets";
import type { Texts } from "../texts";
import { codeBox, wayBack } from "./way-out";

export function finishedScreen(state: State, texts: Texts, query: Record<string, string>): HTMLElement {
  const sheet = element(
    "div",
    { class: "sheet finished" },
    heading(texts.label("finished_title")),
    element("p", {}, texts.label("finished_thanks")),
    earnings(state, texts),
  );
  const { code, redirect, submit_to } = state.completion ?? { code: "", redirect: "", submit_to: "" };
  if (code) sheet.append(codeBox(code, texts));
  if (submit_to && query.assignmentId) sheet.append(submitForm(submit_to, query.assignmentId, state, texts));
  else if (redirect) sheet.append(wayBack(redirect, texts));
  return sheet;
}

/** MTurk takes an assignment back as a form with its name and at least one more field. */
function submitForm(submitTo: string, assignment: string, state: State, texts: Texts): HTMLElement {
  const hidden = (name: string, value: string) => element("input", { type: "hidden", name, value });
  return element(
    "form",
    { id: "submit-form", method: "post", action: `${submitTo.replace(/\/$/, "")}/mturk/externalSubmit` },
    element("p", {}, texts.label("submit_text")),
    hidden("assignmentId", assignment),
    hidden("code", state.completion?.code ?? ""),
    hidden("points", String(state.points)),
    element("div", { class: "buttons" }, element("button", { id: "submit", class: "main" }, texts.label("submit"))),
  );
}
