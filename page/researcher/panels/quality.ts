/** How well deadlines are met, and problems with attention and network. */

import type { Histogram, Quality } from "../../api";
import { byId, counted, el, fixed, percent, whole } from "../elements";

const NAMES: Record<string, string> = {
  missed: "missed deadlines",
  focus_losses: "focus losses",
  hidden_pauses: "hidden pauses",
  slow_network: "network trouble",
  overrun: "deadline overrun",
};

export function showQuality(quality: Quality): void {
  const choices = quality.timings.reduce((sum, timing) => sum + timing.choices, 0);
  const missed = quality.timings.map((each) => `${each.timing} ${percent(each.missed / each.choices)}`).join(", ");
  const flags = Object.entries(quality.flags).map(([flag, n]) => `${flag} ${whole(n)}`).join(", ");
  const lines: [string, string][] = [
    ["Missed", choices ? `${percent(quality.missed / choices)} of choices (${missed})` : "–"],
    ["Overrun", quality.overrun_median_ms === null ? "–" : `median ${fixed(quality.overrun_median_ms, 1)} ms, largest ${fixed(quality.overrun_max_ms, 0)} ms`],
    ["Flags", flags || "none"],
  ];
  const list = el("dl", "facts", ...lines.flatMap(([name, text]) => [el("dt", "", name), el("dd", "", text)]));
  byId("quality").replaceChildren(list, el("div", "histograms", ...quality.histograms.map((each) => histogram(each, quality))));
}

function histogram(each: Histogram, quality: Quality): HTMLElement {
  const most = Math.max(1, ...each.counts);
  const columns = each.counts.map((count, k) => {
    const bar = el("div", "column");
    bar.style.height = `${Math.ceil((30 * count) / most)}px`;
    const column = el("div", count ? "" : "none", bar, el("span", "", each.bins[k] ?? ""));
    const bin = each.bins[k] ?? "";
    const ofPeople = `${bin} ${bin === "1" ? "time" : "times"}: ${counted(count, "person", "people")}`;
    column.title = each.name === "overrun" ? `${bin} ms: ${counted(count, "choice")}` : ofPeople;
    return column;
  });
  const total = quality[each.name as "missed"] as number | undefined;
  const said = total === undefined ? "choices, by ms over the deadline" : `${whole(total)}; number of people by how often`;
  const bars = el("div", "columns", ...columns);
  bars.setAttribute("role", "img");
  bars.setAttribute("aria-label", each.counts.map((count, k) => `${each.bins[k] ?? ""}: ${count}`).join("; "));
  return el("figure", each.name, el("figcaption", "", el("b", "", NAMES[each.name] ?? each.name), ` ${said}`), bars);
}
