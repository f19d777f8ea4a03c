/** How much advice was shown in time, and how much of it was followed; nothing in a study without. */

import type { AdviceCount } from "../../api";
import { byId, el, percent, whole } from "../elements";

export function showAdvice(advice: AdviceCount[] | null | undefined): void {
  byId("advice-panel").hidden = !advice;
  if (!advice) return;
  const names = ["advice", "choices", "shown", "late", "followed"];
  const head = names.map((name, k) => {
    const cell = el("th", k ? "number" : "", name);
    cell.scope = "col";
    return cell;
  });
  const rows = advice.map((each) => el("tr", "",
    el("td", "", each.arm), number(whole(each.choices)),
    number(share(each.shown, each.choices)), number(share(each.late, each.choices)), number(share(each.followed, each.shown))));
  byId("advice").replaceChildren(el("table", "dense", el("thead", "", el("tr", "", ...head)), el("tbody", "", ...rows)));
}

function number(text: string): HTMLElement {
  return el("td", "number", text);
}

function share(part: number, of: number): string {
  return of ? percent(part / of) : "–";
}
