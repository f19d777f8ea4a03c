/** One study: what is going on, its address, and what can be done with it. */

import type { Me, StudyShown } from "../../api";
import { el, whole } from "../../researcher/elements";
import { confirmed, field, input } from "../forms";
import { change, get, participants, Refused, watching } from "../laboratory-api";
import { action } from "../said";
import { editor } from "./edit";
import { history } from "./history";
import { running } from "./run";
import { badge } from "./home";
import { members } from "./members";

type Tab = readonly [id: string, name: string, show: (study: StudyShown, who: Me, again: () => Promise<void>) => Promise<Node[]> | Node[]];

export async function studyPage(who: Me, name = "", tab = ""): Promise<{ title: string; content: Node[] }> {
  const content = el("div", "stack");
  let title = name;
  const show = async (): Promise<void> => {
    const study = await get("/lab/api/studies/{study}", name);
    title = study.title;
    const heading = el("h1", "", study.title);
    heading.tabIndex = -1;
    const tabs = TABS.filter(([id]) => study.rights.includes(NEEDS[id] ?? "see"));
    const chosen = tabs.find(([id]) => id === tab) ?? tabs[0]!;
    const links = tabs.map(([id, text]) => {
      const link = Object.assign(el("a", "", text), { href: `#/study/${name}${id ? `/${id}` : ""}` });
      if (id === chosen[0]) link.setAttribute("aria-current", "page");
      return link;
    });
    const nav = el("nav", "tabs", ...links);
    nav.setAttribute("aria-label", "Parts of the study");
    const shown = await chosen[2](study, who, show);
    content.replaceChildren(el("div", "heading", heading, badge(study.state)), nav, ...(study.problem ? [el("p", "warning", study.problem)] : []), ...shown);
  };
  await show();
  return { title, content: [content] };
}

/** Which right a part needs, other than that to look. */
const NEEDS: Record<string, StudyShown["rights"][number]> = { people: "own", run: "run" };
const TABS: readonly Tab[] = [
  ["", "Overview", overview],
  ["edit", "Texts and settings", editor],
  ["run", "Run", running],
  ["history", "History", (study, _, again) => history(study, again)],
  ["people", "Access", async (study, who) => [await members(who, study.name)]],
];

function overview(study: StudyShown, _: Me, again: () => Promise<void>): Node[] {
  return [links(study), state(study, again)];
}

function links(study: StudyShown): HTMLElement {
  const address = input("text", { value: participants(study.name), readOnly: true });
  address.addEventListener("focus", () => address.select());
  const prolific = `${participants(study.name)}?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}`;
  const forProlific = input("text", { value: prolific, readOnly: true });
  forProlific.addEventListener("focus", () => forProlific.select());
  const watch = Object.assign(el("a", "primary button", "Watch people and robots"), { href: watching(study.name) });
  const numbers = `${whole(study.n_people)} came, ${whole(study.n_active)} are taking part, ${whole(study.n_finished)} finished; ${whole(study.n_pilots)} robots.`;
  return el("section", "card", el("h2", "", "Participants"), el("p", "", numbers), ...(study.state === "archived" ? [] : [
    field("Their link", address), field("For Prolific", forProlific, "Paste this as the study’s address at Prolific."), el("div", "actions start", watch),
  ]));
}

function state(study: StudyShown, again: () => Promise<void>): HTMLElement {
  const may = (right: StudyShown["rights"][number]): boolean => study.rights.includes(right);
  const done = async (path: Parameters<typeof change>[0], sentence: string): Promise<string> => {
    await change(path, {}, study.name);
    await again();
    return sentence;
  };
  const buttons: HTMLElement[] = [];
  if (study.state === "closed" && may("run")) {
    buttons.push(action("Open to newcomers", async () => {
      const sure = await confirmed("Open the study?", "Everyone with the link can take part from now on.", "Open");
      if (!sure) return;
      try {
        await change("/lab/api/studies/{study}/open", { anyway: false }, study.name);
      } catch (error) {
        if (!(error instanceof Refused) || error.word !== "unfinished") throw error;
        if (!(await confirmed("It is not finished", `${error.message} Open it all the same?`, "Open anyway"))) return;
        await change("/lab/api/studies/{study}/open", { anyway: true }, study.name);
      }
      await again();
      return "The study is open.";
    }, "primary"));
  }
  if (study.state === "open" && may("run")) {
    buttons.push(action("Close to newcomers", () => done("/lab/api/studies/{study}/close", "The study is closed; whoever has begun goes on.")));
  }
  if (study.state === "stopped" && may("edit")) buttons.push(action("Try again", () => done("/lab/api/studies/{study}/again", "Read again.")));
  if (study.state === "archived" && may("own")) buttons.push(action("Bring back", () => done("/lab/api/studies/{study}/back", "The study is back.")));
  if (study.state !== "archived" && may("own")) {
    buttons.push(action("Archive", async () => {
      const sure = await confirmed("Archive the study?", "Its address leads nowhere until you bring it back. Nothing is deleted.", "Archive");
      return sure ? done("/lab/api/studies/{study}/archive", "The study is archived.") : undefined;
    }, "danger"));
  }
  const says = {
    open: "Open: newcomers are let in.", closed: "Closed: newcomers see a polite sentence; whoever has begun goes on.",
    archived: "Archived: nobody can reach it. Files and data are kept.", stopped: "It cannot be served.",
  }[study.state];
  return el("section", "card", el("h2", "", "Open and close"), el("p", "", says), el("div", "actions start", ...buttons));
}
