/** The screens of a study, drawn by the participants' own code as still pictures: in their frame no script can run. */

import type { ScreenShown, Texts as Labels } from "../api";
import { element } from "../plugin/dom";
import { FormFields } from "../participant/screens/pages/form";
import { extraOf } from "../participant/screens/pages/page-kinds";
import { layOut } from "../participant/screens/pages/page-screen";
import { finishedScreen } from "../participant/screens/finished";
import { readyScreen } from "../participant/screens/ready";
import { earnings, inAnyLanguage, titledPage, writtenPage } from "../participant/screens/sheets";
import { Texts, type PageLabel } from "../participant/texts";
import { ROOT } from "./laboratory-api";

/** The document of a screen, for a frame that is not allowed anything. */
export function documentOf({ state, name }: ScreenShown, labels: Labels, pictures: Record<string, string>): string {
  const texts = new Texts(labels);
  const page = document.implementation.createHTMLDocument(name);
  page.documentElement.lang = labels.language;
  page.documentElement.dir = labels.direction;
  const style = Object.assign(page.createElement("link"), { rel: "stylesheet", href: new URL(`${ROOT}static/study.css`, location.href).href });
  page.head.append(style);
  page.body.dataset.stage = state.stage;
  const header = element("header", { id: "header" }, element("p", { id: "title" }, labels.title));
  const main = element("main", { id: "main" }, drawn(state, texts));
  page.body.append(page.adoptNode(header), page.adoptNode(main));
  // What people could press stands there, but leads nowhere.
  for (const link of page.querySelectorAll("a")) link.removeAttribute("href");
  // The frame has no address of its own from which it could load them.
  for (const picture of page.querySelectorAll("img")) {
    picture.setAttribute("src", pictures[picture.getAttribute("src")?.split("/").pop() ?? ""] ?? "");
    picture.removeAttribute("loading");
  }
  return `<!doctype html>${page.documentElement.outerHTML}`;
}

function drawn(state: ScreenShown["state"], texts: Texts): HTMLElement {
  const html = state.html[state.stage];
  switch (state.stage) {
    case "consent": return screen(inAnyLanguage(writtenPage(html), texts), texts, "agree", "decline");
    case "instructions": return screen(writtenPage(html), texts, "continue");
    case "ready": return screen(readyScreen(state.block!, texts), texts, "start");
    case "debriefing": return screen(writtenPage(html, earnings(state, texts)), texts, "finish");
    case "finished": return finishedScreen(state, texts, {});
    case "at_page": return ownPage(state, texts);
    default: return titledPage(html, texts.label(`${state.stage}_title` as PageLabel));
  }
}

/** A screen with its buttons below. */
function screen(content: HTMLElement, texts: Texts, ...buttons: PageLabel[]): HTMLElement {
  const pressed = buttons.map((name, number) => element("button", { type: "button", class: number ? "" : "main" }, texts.label(name)));
  return element("div", {}, content, element("div", { class: "buttons", id: "jspsych-html-button-response-btngroup" }, ...pressed));
}

function ownPage(state: ScreenShown["state"], texts: Texts): HTMLElement {
  const page = state.page!;
  const form = page.form && new FormFields(page.form, texts, () => undefined);
  const button = element("button", { type: "button", class: "main" }, texts.label("continue"));
  return layOut({ texts }, page, form, extraOf(page, texts)?.content ?? null, button);
}
