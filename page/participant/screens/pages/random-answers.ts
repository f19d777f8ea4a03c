/** Answers at random, for a pilot's page that plays by itself. */

import type { QuestionShown } from "../../../api";
import type { FormFields } from "./form";
import type { Answer } from "./questions";

const below = (n: number) => Math.floor(Math.random() * n);

const DRAWN: Record<string, (question: QuestionShown) => Answer> = {
  choice: ({ options }) => options[below(options.length)]!.value,
  several: ({ options, least }) => options.slice(0, Math.max(1, least ?? 0)).map(({ value }) => value),
  scale: ({ options }) => 1 + below(options.length),
  number: ({ least, most }) => Math.ceil(least ?? Math.min(most ?? 0, 0)),
  text: ({ most }) => "A page that plays by itself.".slice(0, most ?? undefined),
};

export function fillAtRandom(form: FormFields): void {
  for (const each of form.fields) {
    each.fill(DRAWN[each.question.kind]!(each.question));
    each.box.dispatchEvent(new Event("change"));
  }
}
