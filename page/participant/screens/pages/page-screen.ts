/** A page of the study's own: text, questions, a break, a score; as a jsPsych plugin. */

import type { JsPsych, JsPsychPlugin } from "jspsych";
import type { MarksShown, PageShown } from "../../../api";
import { element } from "../../../plugin/dom";
import type { App } from "../../app";
import { heading, writtenPage } from "../sheets";
import { draftOf, forgetDraft, keepDraft } from "./draft";
import { FormFields } from "./form";
import { extraOf, titleOf } from "./page-kinds";
import { fillAtRandom } from "./random-answers";

const info = { name: "page-screen", version: "1.0.0", parameters: {}, data: {} } as const;

/** The plugin that shows whatever page the server says it is. */
export function pagePlugin(app: App) {
  return class PageScreen implements JsPsychPlugin<typeof info> {
    static info = info;

    constructor(private readonly jsPsych: JsPsych) {}

    trial(display: HTMLElement): void {
      show(app, display, () => this.jsPsych.finishTrial());
      app.screenIsShown("at_page");
    }

    /** Answers at random and goes on, for a pilot's page that plays by itself. */
    simulate(_trial: unknown, mode: "data-only" | "visual", _options: unknown, loaded: () => void): void {
      const screen = show(app, this.jsPsych.getDisplayElement(), () => this.jsPsych.finishTrial());
      app.screenIsShown("at_page");
      loaded();
      if (screen.form) fillAtRandom(screen.form);
      void screen.open.then(() => this.jsPsych.pluginAPI.setTimeout(() => screen.press(), mode === "visual" ? 500 : 0));
    }
  };
}

interface Screen {
  form: FormFields | null;
  /** Resolves when the page can be left. */
  open: Promise<void>;
  /** Presses the button until the page is left. */
  press: () => void;
}

function show(app: App, display: HTMLElement, done: () => void): Screen {
  const { page, texts } = app;
  const startedAt = performance.now();
  const draft = { person: app.api.person, page: `${page.step}.${page.attempt}` };
  const form = page.form && new FormFields(page.form, texts, () => keepDraft({ ...draft, answers: form!.answers }));
  form?.fill(draftOf(draft.person, draft.page));
  const extra = extraOf(page, texts);
  const button = element("button", { type: "submit", id: "continue", class: "main" }, texts.label("continue"));
  const sheet = layOut(app, page, form, extra?.content ?? null, button);
  const open = extra?.open ?? Promise.resolve();
  if (extra?.open) {
    button.disabled = true;
    void extra.open.then(() => { button.disabled = false; });
  }
  let marked = false;
  sheet.addEventListener("submit", (event) => {
    event.preventDefault();
    if (button.disabled) return;
    if (marked) return done();
    if (form && !form.check()) return;
    button.disabled = true;
    const elapsed_ms = Math.round(performance.now() - startedAt);
    void app.leavePage({ step: page.step, attempt: page.attempt, answers: form?.answers ?? {}, times: form?.times ?? {}, elapsed_ms })
      .then((marks) => {
        if (app.isOver) return;
        forgetDraft();
        if (!form || !marks?.wrong.length) return done();
        marked = true;
        showMarks(app, page, form, marks, sheet, button);
      });
  });
  display.replaceChildren(sheet);
  const press = () => {
    if (!sheet.isConnected) return;
    sheet.requestSubmit(button);
    setTimeout(press, 200);
  };
  return { form, open, press };
}

/** The page as it stands on the screen. */
export function layOut(app: Pick<App, "texts">, page: PageShown, form: FormFields | null, extra: HTMLElement | null, button: HTMLElement): HTMLFormElement {
  const { texts } = app;
  const text = writtenPage(page.html || page.form?.intro || "");
  text.className = "written";
  const title = page.form?.title || (titleOf(page) ? texts.label(titleOf(page)!) : "");
  if (!text.querySelector("h1") && title) text.prepend(heading(title));
  const again = page.attempts_left === null ? [] : [element("p", { class: "again", role: "note" }, texts.label("sent_back", { attempts: page.attempts_left }))];
  return element(
    "form",
    { class: "sheet page", novalidate: true, "data-page": page.name },
    ...again,
    text,
    ...(form ? form.fields.map(({ box }) => box) : []),
    ...(extra ? [extra] : []),
    element("div", { class: "buttons" }, button),
  );
}

/** After a quiz that was not passed: what was wrong, and a button that leads on. */
function showMarks(app: App, page: PageShown, form: FormFields, marks: MarksShown, sheet: HTMLElement, button: HTMLButtonElement): void {
  const { texts, state } = app;
  const back = state.page;
  const label = back && back.step < page.step ? "read_again" : back && back.step === page.step ? "try_again" : "continue";
  const said = element("p", { class: "again", role: "status" }, texts.label("quiz_wrong", { n: marks.wrong.length, total: form.fields.length }));
  sheet.querySelector(".again")?.remove();
  sheet.prepend(said);
  button.textContent = texts.label(label);
  button.disabled = false;
  form.mark(marks);
}
