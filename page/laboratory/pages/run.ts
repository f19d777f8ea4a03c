/** Running a study: pilots, reports, backups and payments, and what became of them. */

import type { ErrandShown, StudyShown } from "../../api";
import { day, el } from "../../researcher/elements";
import { field, form, input } from "../forms";
import { change, get, LAB, watching } from "../laboratory-api";
import { action, said } from "../said";

const EVERY_MS = 3000;
const STATES = { running: "under way", done: "done", failed: "failed" } as const;

export async function running(study: StudyShown): Promise<Node[]> {
  const list = el("div", "stack");
  list.setAttribute("aria-live", "polite");
  const show = async (): Promise<void> => {
    const { errands } = await get("/lab/api/studies/{study}/errands", study.name);
    list.replaceChildren(...(errands.length ? errands.map((each) => errand(study, each)) : [el("p", "note", "Nothing yet.")]));
    if (errands.some((each) => each.state === "running")) window.setTimeout(() => list.isConnected && !document.hidden && void show(), EVERY_MS);
  };
  const begin = async (kind: "pilot" | "report" | "backup", people = 10): Promise<string> => {
    await change("/lab/api/studies/{study}/errands", { kind, people }, study.name);
    await show();
    return `The ${kind} has begun; you may leave this page.`;
  };
  await show();
  const robots = input("number", { min: "1", max: "200", value: "10", required: true });
  const pilot = form("Let robots play", async () => said(await begin("pilot", Number(robots.value))), field("Robots", robots, "They keep to the real clock, are marked as pilots, and are never paid."));
  const links = el("pre", "difference");
  links.hidden = true;
  const byHand = action("Links to try it yourself", async () => {
    links.textContent = (await get("/lab/api/studies/{study}/pilot", study.name)).said;
    links.hidden = false;
  });
  const download = Object.assign(el("a", "button", "Download the data"), { href: watching(study.name) });
  const cards = [
    card("Try it", pilot, byHand, links),
    card("Results", el("p", "", "The report fits models to everyone’s choices, which may take many minutes."), el("div", "actions start", action("Write a report", () => begin("report")), download)),
    card("Safety", el("p", "", "A checked copy of the database, in the study’s folder on the server."), el("div", "actions start", action("Back up now", () => begin("backup")))),
    ...(study.rights.includes("names") ? [payment(study), finding(study)] : []),
  ];
  return [el("div", "studies", ...cards), card("What was run", list)];
}

function card(title: string, ...more: Node[]): HTMLElement {
  return el("section", "card", el("h2", "", title), ...more);
}

function errand(study: StudyShown, each: ErrandShown): HTMLElement {
  const head = el("p", "", el("b", "", `${each.kind[0]!.toUpperCase()}${each.kind.slice(1)}`), ` ${day(each.at)}, ${each.by}: ${STATES[each.state]}`);
  const words = el("pre", "difference", each.words || "…");
  const report = Object.assign(el("a", "button", "Download the report"), { href: `${LAB}/api/studies/${study.name}/errands/${each.number}/report` });
  return el("div", "errand", head, words, ...(each.has_report && each.state === "done" ? [report] : []));
}

function payment(study: StudyShown): HTMLElement {
  const shown = el("div");
  const pay = async (again: boolean): Promise<string> => {
    const paid = await change("/lab/api/studies/{study}/pay", { again, also: [] }, study.name);
    const files = paid.files.map(({ name, text }) => {
      const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
      return Object.assign(el("a", "button", name), { href: address, download: name });
    });
    shown.replaceChildren(el("pre", "difference", paid.said), el("div", "actions start", ...files));
    return paid.files.length ? "The files are below: save them." : "There is nobody to pay.";
  };
  const buttons = el("div", "actions start", action("Write bonus files", () => pay(false)), action("The last files again", () => pay(true)));
  return card("Pay", el("p", "", "For Prolific and MTurk. Nobody appears in two files; people in doubt are listed and not paid."), buttons, shown);
}

function finding(study: StudyShown): HTMLElement {
  const id = input("text", { required: true, maxLength: 128, autocomplete: "off" });
  const found = el("p", "");
  found.setAttribute("role", "status");
  const send = async (): Promise<void> => {
    found.textContent = (await change("/lab/api/studies/{study}/find", { platform_id: id.value }, study.name)).said;
  };
  return card("Find somebody", form("Find their code", send, field("Platform ID", id, "With the code you can look them up or delete their data.")), found);
}
