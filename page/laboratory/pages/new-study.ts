/** A new study from a template. */

import type { Me } from "../../api";
import { el } from "../../researcher/elements";
import { field, form, input, select } from "../forms";
import { change } from "../laboratory-api";

const TEMPLATES: Record<string, string> = {
  paper: "The paper’s experiment: squares with a hidden landscape", bandit: "A restless bandit: four coloured buttons, quiz, questionnaire",
  graph: "Walks on a graph, with factors within persons",
};
const NAMES: Record<string, string> = { en: "English", de: "German", es: "Spanish", fr: "French" };

export async function newStudyPage(who: Me): Promise<{ title: string; content: Node[] }> {
  const heading = el("h1", "", "New study");
  heading.tabIndex = -1;
  const title = input("text", { maxLength: 200, required: true });
  const name = input("text", { required: true, maxLength: 40, pattern: "[a-z0-9]([a-z0-9\\-]*[a-z0-9])?" });
  let typed = false;
  name.addEventListener("input", () => void (typed = true));
  title.addEventListener("input", () => {
    if (!typed) name.value = asName(title.value);
  });
  const advice = input("checkbox");
  const suggests = checkbox("A computer suggests squares to some people", advice);
  suggests.classList.add("field");
  const template = select(who.templates.map((each) => [each, TEMPLATES[each] ?? each] as const), who.templates[0] ?? "");
  template.addEventListener("change", () => {
    suggests.hidden = template.value !== "paper";
    advice.checked &&= !suggests.hidden;
  });
  const languages = who.languages.map((language) => input("checkbox", { value: language, checked: language === "en" }));
  const send = async (): Promise<void> => {
    const chosen = languages.filter((box) => box.checked).map((box) => box.value);
    if (!chosen.length) throw new Error("Choose at least one language.");
    await change("/lab/api/studies", { name: name.value, title: title.value, template: template.value, languages: chosen, advice: advice.checked });
    location.hash = `#/study/${name.value}`;
  };
  const made = form(
    "Create the study", send,
    field("Title", title, "What participants see."),
    field("Short name", name, "Lower-case letters, digits and hyphens. It is part of the study’s address and cannot be changed later."),
    group("Languages", languages.map((box) => checkbox(NAMES[box.value] ?? box.value, box))),
    field("Template", template, "You can change everything afterwards."),
    suggests,
  );
  const note = el("p", "note", "The study begins closed: edit its texts, look at every screen, let robots try it, and open it when it is ready.");
  return { title: "New study", content: [heading, note, el("section", "card narrow", made)] };
}

function group(name: string, boxes: HTMLElement[]): HTMLElement {
  return el("fieldset", "field", el("legend", "", name), ...boxes);
}

function checkbox(text: string, box: HTMLInputElement): HTMLElement {
  return el("label", "check", box, text);
}

/** A short name out of a title. */
export function asName(title: string): string {
  const plain = title.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  return plain.replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 40).replace(/-+$/, "");
}
