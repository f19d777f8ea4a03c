/** Screens of text: pages of the study (HTML that the server has made safe), and the last screens. */

import type { State } from "../../api";
import { element } from "../../plugin/dom";
import { codeBox, wayBack } from "./way-out";
import type { PageLabel, Texts } from "../texts";

/** A page written by the researchers. */
export function writtenPage(html: string | undefined, ...more: Node[]): HTMLElement {
  const sheet = element("div", { class: "sheet written" });
  // The server made this from Markdown and let only harmless elements through.
  sheet.innerHTML = html ?? "";
  sheet.querySelector("h1")?.setAttribute("tabindex", "-1");
  sheet.append(...more);
  return sheet;
}

/** The sheet with links to the same page in the study's other languages, if it has any. */
export function inAnyLanguage(sheet: HTMLElement, texts: Texts): HTMLElement {
  const links = texts.languages.map(([code, name]) => {
    const address = new URL(location.href);
    address.searchParams.set("lang", code);
    return element("a", { href: address.href, lang: code, hreflang: code, "aria-current": code === texts.language && "true" }, name);
  });
  if (links.length) sheet.prepend(element("nav", { class: "languages", "aria-label": texts.label("choose_language") }, ...links));
  return sheet;
}

/** A page written by the researchers, with a heading of ours if it has none. */
export function titledPage(html: string | undefined, title: string, ...more: Node[]): HTMLElement {
  const sheet = writtenPage(html, ...more);
  if (!sheet.querySelector("h1")) sheet.prepend(heading(title));
  return sheet;
}

export function heading(text: string): HTMLElement {
  return element("h1", { tabindex: -1 }, text);
}

/** What was earned: points, and money if the study pays. */
export function earnings(state: State, texts: Texts): HTMLElement {
  const rows: [PageLabel, string][] = state.points === null ? [] : [["total_points", texts.number(state.points)]];
  if (state.payment) {
    const { currency, base, bonus, total } = state.payment;
    rows.push(["payment_base", texts.money(base, currency)]);
    rows.push(["payment_bonus", texts.money(bonus, currency)]);
    rows.push(["payment_total", texts.money(total, currency)]);
  }
  const list = element("dl", { id: "earnings", class: "earnings" });
  for (const [name, value] of rows) {
    list.append(element("div", { "data-row": name }, element("dt", {}, texts.label(name)), element("dd", {}, value)));
  }
  return list;
}

/** "This study is open somewhere else." */
export function takenOver(texts: Texts): HTMLElement {
  return withReload(texts, "taken_over_title", texts.label("taken_over_text"), "taken_over_here");
}

/** "Somebody has begun under this name elsewhere": nothing of theirs is shown. */
export function elsewhere(texts: Texts): HTMLElement {
  return element("div", { class: "sheet" }, heading(texts.label("elsewhere_title")), element("p", {}, texts.label("elsewhere_text")));
}

/** "You cannot go on": a quiz was failed too often; with a code, if the study has one for that. */
export function screenedOut(state: State, texts: Texts): HTMLElement {
  const sheet = element("div", { class: "sheet screened" }, heading(texts.label("screened_title")), element("p", {}, texts.label("screened_text")));
  const { code, redirect } = state.completion ?? { code: "", redirect: "" };
  if (code) sheet.append(codeBox(code, texts));
  if (redirect) sheet.append(wayBack(redirect, texts));
  return sheet;
}

/** "No newcomers at the moment." */
export function notOpen(texts: Texts): HTMLElement {
  return element("div", { class: "sheet" }, heading(texts.label("closed_title")), element("p", {}, texts.label("closed_text")));
}

/** Something went wrong for good; `details` helps whoever looks into it. */
export function errorScreen(texts: Texts, details: string): HTMLElement {
  const sheet = withReload(texts, "error_title", texts.label("error_text"), "error_reload");
  sheet.append(element("details", {}, element("summary", {}, texts.label("error_details")), element("p", { id: "error" }, details)));
  return sheet;
}

function withReload(texts: Texts, title: PageLabel, text: string, button: PageLabel): HTMLElement {
  const reload = element("button", { type: "button", id: "reload", class: "main" }, texts.label(button));
  reload.addEventListener("click", () => location.reload());
  return element("div", { class: "sheet" }, heading(texts.label(title)), element("p", {}, text), element("div", { class: "buttons" }, reload));
}
