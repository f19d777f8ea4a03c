/** The questions of a page: filled in, checked, sent, and in a quiz marked. */

import type { FormShown, MarksShown } from "../../../api";
import { element } from "../../../plugin/dom";
import type { Texts } from "../../texts";
import { field, wrongIn, type Answer, type Field } from "./questions";

export class FormFields {
  readonly fields: Field[];
  /** When each answer was last changed, since the page was shown. */
  readonly times: Record<string, number> = {};
  private readonly shownAt = performance.now();

  constructor(form: FormShown, private readonly texts: Texts, private readonly changed: () => void) {
    this.fields = form.questions.map((question, number) => field(question, number, texts));
    for (const each of this.fields) {
      each.box.addEventListener("input", () => this.wasChanged(each));
      each.box.addEventListener("change", () => this.wasChanged(each));
    }
  }

  get elapsedMs(): number {
    return Math.round(performance.now() - this.shownAt);
  }

  get answers(): Record<string, Answer> {
    return Object.fromEntries(this.fields.map((each) => [each.question.name, each.answer()]));
  }

  fill(answers: Record<string, Answer>): void {
    for (const each of this.fields) {
      const answer = answers[each.question.name];
      if (answer !== undefined) each.fill(answer);
    }
  }

  /** Whether everything is answered as it can be; if not, the first answer that is wrong is focused and says why. */
  check(): boolean {
    const wrong = this.fields.filter((each) => {
      const sentence = wrongIn(each, this.texts);
      each.complain(sentence);
      return sentence !== "";
    });
    focusOn(wrong[0]);
    return wrong.length === 0;
  }

  /** Shows which answers were not right, and why; nothing can be changed any more. */
  mark(marks: MarksShown): void {
    const wrong = new Map(marks.wrong.map(({ question, feedback }) => [question, feedback]));
    for (const each of this.fields) {
      for (const input of each.inputs) input.setAttribute("aria-disabled", "true");
      each.box.addEventListener("click", (event) => event.preventDefault());
      each.box.addEventListener("keydown", (event) => {
        if (event.key !== "Tab") event.preventDefault();
      });
      const feedback = wrong.get(each.question.name);
      if (feedback === undefined) continue;
      each.complain(this.texts.label("answer_wrong"));
      if (feedback) {
        const text = element("div", { class: "feedback" });
        text.innerHTML = feedback; // Markdown that the server has made safe
        each.box.querySelector(".error")!.append(text);
      }
    }
    focusOn(this.fields.find((each) => wrong.has(each.question.name)));
  }

  private wasChanged(each: Field): void {
    this.times[each.question.name] = this.elapsedMs;
    if (each.box.classList.contains("wrong") && wrongIn(each, this.texts) === "") each.complain("");
    this.changed();
  }
}

function focusOn(each: Field | undefined): void {
  if (!each) return;
  each.box.scrollIntoView({ block: "center" });
  (each.inputs.find((input) => input instanceof HTMLInputElement && input.checked) ?? each.inputs[0])?.focus({ preventScroll: true });
}
