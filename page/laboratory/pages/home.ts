/** All studies at a glance: which are open, who is there, and what is wrong. */

import type { Me, StudyShown } from "../../api";
import { ago, counted, el, whole } from "../../researcher/elements";
import { get } from "../laboratory-api";
import { byId, setText } from "../../researcher/elements";

const EVERY_MS = 5000;
export const STATES = {
  open: "Open", closed: "Closed", archived: "Archived", stopped: "Not served",
} as const;

export async function homePage(who: Me): Promise<{ title: string; content: Node[]; leave: () => void }> {
  const heading = el("h1", "", "Studies");
  heading.tabIndex = -1;
  const list = el("div", "studies");
  const archived = el("details", "archive");
  const make = Object.assign(el("a", "primary button", "New study"), { href: "#/new" });
  const head = el("div", "heading spread", heading, ...(who.rights.includes("lead") ? [make] : []));
  const show = async (): Promise<void> => {
    const { studies, now } = await get("/lab/api/studies");
    const away = studies.filter((each) => each.state === "archived");
    const here = studies.filter((each) => each.state !== "archived");
    replaceIfChanged(list, here.length ? here.map((each) => card(each, now)) : [nothingYet(who)]);
    archived.hidden = away.length === 0;
    replaceIfChanged(archived, [el("summary", "", counted(away.length, "archived study", "archived studies")), ...away.map((each) => card(each, now))]);
  };
  await show();
  const timer = window.setInterval(() => {
    if (!document.hidden) show().catch(() => setText(byId("trouble"), "The server does not answer. Trying again every 5 s."));
  }, EVERY_MS);
  return { title: "Studies", content: [head, list, archived], leave: () => clearInterval(timer) };
}

/** Leaves the list alone where nothing is new, so that neither focus nor selection is lost. */
function replaceIfChanged(list: HTMLElement, rows: HTMLElement[]): void {
  const fresh = rows.map((row) => row.outerHTML).join("");
  if (list.dataset.shown === fresh) return;
  const focused = list.contains(document.activeElement) ? document.activeElement?.getAttribute("href") : null;
  list.replaceChildren(...rows);
  list.dataset.shown = fresh;
  if (focused) list.querySelector<HTMLElement>(`[href="${CSS.escape(focused)}"]`)?.focus();
}

function card(study: StudyShown, now: number): HTMLElement {
  const link = Object.assign(el("a", "", study.title), { href: `#/study/${study.name}` });
  const title = el("h2", "", link);
  const about = el("p", "note", study.name, " · your role: ", study.role);
  const head = el("div", "heading spread", el("div", "", title, about), badge(study.state));
  if (study.problem) return el("article", "card study", head, el("p", "warning", study.problem));
  if (study.state === "archived") return el("article", "card study", head);
  const numbers = el(
    "dl", "counts",
    ...count("came", study.n_people), ...count("taking part", study.n_active, "now"), ...count("finished", study.n_finished),
    ...count("robots", study.n_pilots),
  );
  const seen = study.seen_at === null ? "Nobody has come yet." : `Last seen: ${ago(now - study.seen_at)}${now - study.seen_at < 10 ? "" : " ago"}.`;
  return el("article", "card study", head, numbers, el("p", "note", seen));
}

function count(name: string, n: number, className = ""): HTMLElement[] {
  return [el("div", n ? className : "none", el("dt", "", name), el("dd", "", whole(n)))];
}

export function badge(state: StudyShown["state"]): HTMLElement {
  return el("span", `badge ${state}`, STATES[state]);
}

function nothingYet(who: Me): HTMLElement {
  const lead = who.rights.includes("lead");
  const text = lead ? "There is no study yet. Make the first one from a template: “New study”." : "You have not been given a study yet: ask an owner of the laboratory.";
  return el("p", "empty", text);
}
