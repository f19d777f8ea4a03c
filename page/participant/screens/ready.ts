/** The screen before a block: which one it is, what its rule is, how much time there is. */

import type { BlockShown } from "../../api";
import { element } from "../../plugin/dom";
import { mayLabel } from "../../plugin/words/rule-labels";
import type { PageLabel, Texts } from "../texts";
import { rulePicture } from "./rule-picture";

/** The content of the screen, without its button. */
export function readyScreen(block: BlockShown, texts: Texts): HTMLElement {
  const { kind } = block;
  const part = texts.label("part_of", { number: block.number + 1, total: block.n_blocks });
  const kindText = texts.label(kind === "training" ? "kind_training" : "kind_task", {
    number: block.number_of_kind + 1,
    total: block.n_of_kind,
  });
  const picture = rulePicture(block, texts.label(showsYellow(block) ? "picture_label" : "picture_label_plain"));
  return element(
    "div",
    { class: "sheet ready", "data-layout": block.layout.kind },
    element("p", { class: "part", id: "part" }, part, " · ", kindText),
    element("h1", { tabindex: -1 }, texts.label("ready_title")),
    element(
      "div",
      { class: "rules" },
      element("ul", {}, ...rules(block, texts).map((rule) => element("li", {}, rule))),
      element("figure", {}, picture, legend(block, texts)),
    ),
    element("p", { class: "aside" }, texts.label(keys(block))),
  );
}

function rules(block: BlockShown, texts: Texts): string[] {
  const isGrid = block.layout.kind === "grid";
  const labels: PageLabel[] = [
    mayChoose(block),
    ...(block.closes ? ["ready_closed" as const] : []),
    ...timing(block),
    "ready_choices",
    ...worth(block),
    ...(block.advice ? [isGrid ? "ready_advice" as const : "ready_advice_arms" as const] : []),
  ];
  const values = { seconds: (block.deadline_ms ?? 0) / 1000, choices: block.n_trials };
  return labels.map((label) => texts.label(label, values));
}

function mayChoose({ layout, dynamic }: BlockShown): PageLabel {
  if (layout.kind === "grid") return `ready_${dynamic}`;
  return dynamic === "travel" ? "ready_arms_travel" : mayLabel(layout, dynamic);
}

function timing({ layout, dynamic, deadline_ms }: BlockShown): PageLabel[] {
  if (deadline_ms === null) return ["ready_no_deadline"];
  return [layout.kind === "grid" ? "ready_time" : "ready_time_arms", dynamic === "travel" ? "ready_no_click_travel" : "ready_no_click"];
}

/** What choices bring, what is seen of it, and whether it counts. */
function worth({ kind, rewards, foregone }: BlockShown): PageLabel[] {
  const isTraining = kind === "training";
  if (rewards.kind === "hidden") return ["ready_hidden", isTraining ? "ready_training_hidden" : "ready_task_hidden"];
  const others: PageLabel[] = foregone ? ["ready_foregone"] : [];
  if (rewards.kind === "money") return [...others, isTraining ? "ready_training_money" : "ready_task_money"];
  return [...others, isTraining ? "ready_training_points" : "ready_task_points"];
}

function keys({ layout }: BlockShown): PageLabel {
  return layout.kind !== "grid" && layout.arms.length <= 10 ? "ready_keys_digits" : "ready_keys";
}

function showsYellow({ deadline_ms, dynamic }: BlockShown): boolean {
  return deadline_ms !== null || dynamic === "travel";
}

function legend(block: BlockShown, texts: Texts): HTMLElement {
  const line = (name: string, text: string) => element("li", {}, element("span", { class: `key ${name}`, "aria-hidden": "true" }), text);
  return element("figcaption", {}, element("ul", { class: "legend" },
    line("blue", texts.label("ready_blue")),
    ...(showsYellow(block) ? [line("yellow", texts.label(block.deadline_ms === null ? "ready_goal" : "ready_yellow"))] : []),
    ...(block.closes ? [line("closed", texts.label("square_unavailable"))] : []),
    ...(block.advice ? [line("ring", texts.label("ready_ring"))] : [])));
}
