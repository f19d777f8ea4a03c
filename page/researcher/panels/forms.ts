/** Which forms regret takes so far, beside the shares that the paper reports. */

import type { Phenotypes, Share } from "../../api";
import { byId, button, counted, el, percent } from "../elements";

export class FormShares {
  private chosen = "all";
  private all: Phenotypes[] = [];

  show(phenotypes: Phenotypes[]): void {
    this.all = phenotypes;
    const shown = phenotypes.find((each) => each.dynamic === this.chosen) ?? phenotypes[0];
    if (!shown) return;
    const choice = el("div", "choice small", ...phenotypes.map((each) => this.choice(each.dynamic, shown.dynamic)));
    choice.setAttribute("role", "group");
    choice.setAttribute("aria-label", "Blocks of which dynamic");
    const rows = shown.shares.map(row);
    const head = el("tr", "", el("td"), el("td"), ...["so far", "paper"].map((text) => el("th", "number", text)));
    const note =
      `${counted(shown.n, "finished task block")}. Bars: so far, with a 95 % interval; the mark: the paper (326 people, any square ` +
      "may be chosen). The power law is fitted to regret itself.";
    byId("forms").replaceChildren(
      ...(phenotypes.length > 1 ? [choice] : []),
      el("table", "dense shares", el("thead", "", head), el("tbody", "", ...rows)),
      el("p", "note", note),
    );
  }

  private choice(dynamic: string, shown: string): HTMLElement {
    const made = button(dynamic, () => {
      this.chosen = dynamic;
      this.show(this.all);
    });
    made.setAttribute("aria-pressed", String(dynamic === shown));
    return made;
  }
}

function row(share: Share): HTMLElement {
  const track = el("div", "track");
  const bar = el("div", "bar");
  bar.style.width = `${100 * (share.share ?? 0)}%`;
  track.append(bar);
  if (share.low !== null && share.high !== null) {
    const interval = el("div", "interval");
    interval.style.left = `${100 * share.low}%`;
    interval.style.width = `${100 * (share.high - share.low)}%`;
    track.append(interval);
  }
  const mark = el("div", "mark");
  mark.style.left = `${100 * share.paper}%`;
  track.append(mark);
  const ours = el("td", "number", percent(share.share));
  ours.title = counted(share.n, "block");
  return el("tr", "", el("th", "", share.form), el("td", "wide", track), ours, el("td", "number muted", percent(share.paper)));
}
