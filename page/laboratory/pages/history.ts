/** What was done in a study, and every version of its files: compared, and brought back. */

import type { FileDifference, StudyShown, VersionShown } from "../../api";
import { day, el } from "../../researcher/elements";
import { confirmed, headOf } from "../forms";
import { change, get } from "../laboratory-api";
import { action } from "../said";

export async function history(study: StudyShown, again: () => Promise<void>): Promise<Node[]> {
  const [{ deeds }, { versions }] = await Promise.all([
    get("/lab/api/studies/{study}/deeds", study.name), get("/lab/api/studies/{study}/versions", study.name),
  ]);
  const rows = deeds.map((each) => el("tr", "", el("td", "", day(each.at)), el("td", "", each.by), el("td", "", each.what)));
  const done = el("section", "card", el("h2", "", "What was done"), rows.length ? table(["When", "Who", "What"], rows) : el("p", "empty", "Nothing yet."));
  const saved = versions.map((each, place) => version(study, each, versions[place + 1], place === 0, again));
  return [el("section", "card", el("h2", "", "Versions of texts and settings"), ...saved), done];
}

function table(names: string[], rows: HTMLElement[]): HTMLElement {
  return el("table", "list", headOf(names), el("tbody", "", ...rows));
}

function version(study: StudyShown, each: VersionShown, before: VersionShown | undefined, newest: boolean, again: () => Promise<void>): HTMLElement {
  const shown = el("div", "differences");
  const title = el("summary", "", el("b", "", `Version ${each.number}`), ` ${day(each.at)}, ${each.by}${each.why ? `: ${each.why}` : ""}`);
  const details = el("details", "version", title, shown);
  details.addEventListener("toggle", () => {
    if (details.open && !shown.childElementCount) void fill();
  });
  const fill = async (): Promise<void> => {
    const path = `/lab/api/studies/{study}/versions/{number}?older=${before?.number ?? 0}` as "/lab/api/studies/{study}/versions/{number}";
    const { files } = await get(path, study.name, each.number);
    const restore = action(`Use version ${each.number} again`, async () => {
      const sure = await confirmed(`Use version ${each.number} again?`, "It becomes the newest version. The versions in between stay in the history.", "Use it");
      if (!sure) return;
      const made = await change("/lab/api/studies/{study}/versions/{number}/restore", {}, study.name, each.number);
      await again();
      return `Version ${each.number} is used again, as version ${made.version}.`;
    });
    const may = !newest && study.rights.includes("edit");
    shown.replaceChildren(...(files.length ? files.map(differenceLines) : [el("p", "note", "No differences.")]), ...(may ? [restore] : []));
  };
  return details;
}

/** The lines of a file that differ; what was added and removed is said in words too. */
export function differenceLines({ name, lines }: FileDifference): HTMLElement {
  const rows = lines.map((line) => {
    const kind = line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : line.startsWith("@@") ? "where" : "same";
    const element = el(kind === "added" ? "ins" : kind === "removed" ? "del" : "span", kind, kind === "where" ? "⋯" : line || " ");
    return element;
  });
  const block = el("pre", "difference", ...rows);
  block.tabIndex = 0;
  block.setAttribute("role", "region");
  block.setAttribute("aria-label", `Changes of ${name}`);
  return el("div", "", el("h3", "", name), block);
}
