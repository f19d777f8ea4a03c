/**
 * The questions of a form, one entry for each kind: what is shown, what was answered, and what is wrong with it.
 *
 * The server checks every answer again; here people are told before anything is sent.
 */

import type { QuestionShown } from "../../../api";
import { element, type Attributes } from "../../../plugin/dom";
import type { Texts } from "../../texts";

export type Answer = string | number | string[] | null;

/** A question on the screen. */
export interface Field {
  question: QuestionShown;
  box: HTMLElement;
  /** What can be focused and changed. */
  inputs: (HTMLInputElement | HTMLTextAreaElement)[];
  answer: () => Answer;
  /** Puts an answer there, as if someone had given it. */
  fill: (answer: Answer) => void;
  /** Says what is wrong, or with "" that nothing is. */
  complain: (sentence: string) => void;
}

/** The inside of a kind of question. */
interface Kind {
  /** The element that the question's text belongs to, with its inputs. */
  make: (question: QuestionShown, id: string, texts: Texts) => { inputs: Field["inputs"]; content: HTMLElement };
  answer: (inputs: Field["inputs"]) => Answer;
  fill: (inputs: Field["inputs"], answer: Answer) => void;
  /** What is wrong with an answer that is there; "" for nothing. */
  wrong: (question: QuestionShown, answer: Answer, texts: Texts) => string;
  /** Whether the inputs are many, under one heading. */
  group: boolean;
}

type Inputs = Field["inputs"];
const fine = () => "";
const boxes = (inputs: Inputs) => inputs.filter((input): input is HTMLInputElement => input instanceof HTMLInputElement);
const chosen = (inputs: Inputs) => boxes(inputs).filter((input) => input.checked).map((input) => input.value);

function check(inputs: Inputs, values: string[]): void {
  for (const input of boxes(inputs)) input.checked = values.includes(input.value);
}

function options(type: "radio" | "checkbox") {
  return ({ options: offered }: QuestionShown, id: string) => {
    const inputs = offered.map(({ value }, number) => element("input", { type, name: id, id: `${id}-${number}`, value }));
    const lines = offered.map(({ text }, number) =>
      element("label", { class: "option", for: `${id}-${number}` }, inputs[number]!, element("span", {}, text)));
    return { inputs, content: element("div", { class: "options" }, ...lines) };
  };
}

/** A Likert scale: its steps side by side, or below one another where there is no room for their words. */
function steps({ options: offered }: QuestionShown, id: string, texts: Texts) {
  const inputs = offered.map(({ value }, number) =>
    element("input", { type: "radio", name: id, id: `${id}-${number}`, value }));
  const worded = offered.every(({ text }) => text !== "");
  const lines = offered.map(({ value, text }, number) =>
    element("label", { class: "step", for: `${id}-${number}` }, inputs[number]!,
      worded ? element("span", {}, text) : element("span", {}, texts.number(Number(value)), ...(text ? [element("span", { class: "unseen" }, ` ${text}`)] : []))));
  const scale = element("div", { class: worded ? "scale worded" : "scale" }, ...lines);
  const [first, last] = [offered[0]?.text ?? "", offered[offered.length - 1]?.text ?? ""];
  if (worded || (!first && !last)) return { inputs, content: scale };
  // The steps at the ends say it too, for those who do not see it.
  const ends = element("div", { class: "ends", "aria-hidden": "true" }, element("span", {}, first), element("span", {}, last));
  return { inputs, content: element("div", {}, scale, ends) };
}

function line({ lines, most, kind }: QuestionShown, id: string) {
  const number = kind === "number";
  const size: Attributes = !number && most !== null ? { maxlength: most } : {};
  const input = lines > 1
    ? element("textarea", { id, name: id, rows: lines, ...size })
    : element("input", { id, name: id, type: "text", autocomplete: "off", inputmode: number ? "decimal" : "text", class: number ? "number" : "line", ...size });
  return { inputs: [input], content: input as HTMLElement };
}

const written = (inputs: Inputs) => inputs[0]!.value.trim();

/** The number that was written, with a comma or a point; null if it is none. */
function numberIn(text: string): number | null {
  const value = Number(text.replace(/[\s\u00a0]/g, "").replace(",", "."));
  return text === "" || !Number.isFinite(value) ? null : value;
}

function wrongNumber({ least, most, whole }: QuestionShown, answer: Answer, texts: Texts): string {
  const value = typeof answer === "number" ? answer : null;
  if (value === null) return texts.label("answer_number");
  if (least !== null && most !== null && (value < least || value > most)) return texts.label("answer_between", { least, most });
  if (least !== null && value < least) return texts.label("answer_at_least", { least });
  if (most !== null && value > most) return texts.label("answer_at_most", { most });
  return whole && !Number.isInteger(value) ? texts.label("answer_whole") : "";
}

function wrongCount({ least, most }: QuestionShown, answer: Answer, texts: Texts): string {
  const n = Array.isArray(answer) ? answer.length : 0;
  return n < (least ?? 0) || n > (most ?? n) ? texts.label("answer_count", { least: least ?? 0, most: most ?? n }) : "";
}

const KINDS: Record<string, Kind> = {
  choice: { make: options("radio"), answer: (inputs) => chosen(inputs)[0] ?? null, fill: (inputs, answer) => check(inputs, [String(answer)]), wrong: fine, group: true },
  several: { make: options("checkbox"), answer: chosen, fill: (inputs, answer) => check(inputs, Array.isArray(answer) ? answer : []), wrong: wrongCount, group: true },
  scale: {
    make: steps,
    answer: (inputs) => (chosen(inputs).length ? Number(chosen(inputs)[0]) : null),
    fill: (inputs, answer) => check(inputs, [String(answer)]),
    wrong: fine,
    group: true,
  },
  number: {
    make: line,
    // What is no number is kept as it was written, so that it is complained of and not lost.
    answer: (inputs) => (written(inputs) === "" ? null : numberIn(written(inputs)) ?? written(inputs)),
    fill: (inputs, answer) => { inputs[0]!.value = answer === null ? "" : String(answer); },
    wrong: wrongNumber,
    group: false,
  },
  text: {
    make: line,
    answer: (inputs) => (written(inputs) === "" ? null : inputs[0]!.value),
    fill: (inputs, answer) => { inputs[0]!.value = answer === null ? "" : String(answer); },
    wrong: fine,
    group: false,
  },
};

/** A question as it is shown; `number` makes its names on the page. */
export function field(question: QuestionShown, number: number, texts: Texts): Field {
  const kind = KINDS[question.kind]!;
  const id = `question-${number}`;
  const { inputs, content } = kind.make(question, id, texts);
  const text = kind.group ? element("legend", { id: `${id}-text` }) : element("label", { id: `${id}-text`, for: id });
  text.innerHTML = question.html; // Markdown that the server has made safe
  if (!question.required) text.append(element("span", { class: "optional" }, texts.label("optional")));
  const error = element("p", { class: "error", id: `${id}-error`, hidden: true });
  const box = kind.group
    ? element("fieldset", { class: "question", "data-question": question.name }, text, content, error)
    : element("div", { class: "question", "data-question": question.name }, text, content, error);
  const complain = (sentence: string) => {
    error.hidden = sentence === "";
    error.textContent = sentence;
    box.classList.toggle("wrong", sentence !== "");
    for (const input of inputs) {
      // Where several inputs are one answer, "invalid" is said by the group's description alone.
      if (sentence) input.setAttribute("aria-describedby", error.id);
      else input.removeAttribute("aria-describedby");
      if (!kind.group) input.setAttribute("aria-invalid", String(sentence !== ""));
    }
  };
  if (question.required && !kind.group) inputs[0]!.setAttribute("aria-required", "true");
  return {
    question, box, inputs, complain,
    answer: () => kind.answer(inputs),
    fill: (answer) => kind.fill(inputs, answer),
  };
}

/** What is wrong with the answer of a field, in a sentence; "" for nothing. */
export function wrongIn({ question, answer }: Field, texts: Texts): string {
  const given = answer();
  const none = given === null || (Array.isArray(given) && given.length === 0);
  if (none && question.required && !(Array.isArray(given) && question.least === 0)) return texts.label("answer_needed");
  return none ? "" : KINDS[question.kind]!.wrong(question, given, texts);
}
