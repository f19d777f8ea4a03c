/** The screen before a block: which one it is, what its rule is, how much time there is. */

import type { BlockShown } from "../../api";
import { element } from "../../plugin/dom";
import { nextTo, squareAt, type Dynamic } from "../../plugin/rules";
import type { Texts } from "../texts";

const SVG = "http://www.w3.org/2000/svg";
const PICTURE = { width: 5, height: 5 };
const MIDDLE = squareAt({ column: 2, row: 2 }, PICTURE);

/** The content of the screen, without its button. */
export function readyScreen(block: BlockShown, texts: Texts): HTMLElement {
  const { kind, dynamic } = block;
  const part = texts.label("part_of", { number: block.number + 1, total: block.n_blocks });
  const kindText = texts.label(kind === "training" ? "kind_training" : "kind_task", {
    number: block.number_of_kind + 1,
    total: block.n_of_kind,
  });
  const rules = [
    texts.label(`ready_${dynamic}`),
    ...(block.deadline_ms === null ? [] : [texts.label("ready_time", { seconds: block.deadline_ms / 1000 })]),
    texts.label(dynamic === "travel" ? "ready_no_click_travel" : "ready_no_click"),
    texts.label("ready_choices", { choices: block.n_trials }),
    texts.label(kind === "training" ? "ready_training_points" : "ready_task_points"),
    ...(block.advice ? [texts.label("ready_advice")] : []),
  ];
  return element(
    "div",
    { class: "sheet ready" },
    element("p", { class: "part", id: "part" }, part, " · ", kindText),
    element("h1", { tabindex: -1 }, texts.label("ready_title")),
    element(
      "div",
      { class: "rules" },
      element("ul", {}, ...rules.map((rule) => element("li", {}, rule))),
      element("figure", {}, picture(dynamic, texts), legend(block, texts)),
    ),
    element("p", { class: "aside" }, texts.label("ready_keys")),
  );
}

function legend(block: BlockShown, texts: Texts): HTMLElement {
  const line = (name: string, text: string) => element("li", {}, element("span", { class: `key ${name}`, "aria-hidden": "true" }), text);
  return element("figcaption", {}, element("ul", { class: "legend" },
    line("blue", texts.label("ready_blue")), line("yellow", texts.label("ready_yellow")),
    ...(block.advice ? [line("ring", texts.label("ready_ring"))] : [])));
}

/** A small picture of the rule: the dots, and which squares may be chosen. */
function picture(dynamic: Dynamic, texts: Texts): SVGElement {
  const svg = vector("svg", { viewBox: "-0.1 -0.1 5.2 5.2", class: "picture", role: "img", "aria-label": texts.label("picture_label") });
  const near = nextTo(MIDDLE, PICTURE);
  for (let square = 0; square < 25; square += 1) {
    const away = dynamic === "neighbour" && !near.includes(square);
    svg.append(vector("rect", {
      x: Math.floor(square / 5), y: square % 5, width: 1, height: 1, class: away ? "away" : "open",
    }));
  }
  const blue = { standard: [1, 3], neighbour: [2, 2], travel: [0, 4] }[dynamic];
  const yellow = { standard: [3, 0], neighbour: [3, 2], travel: [3, 2] }[dynamic];
  if (dynamic === "travel") {
    // The path of the blue dot: along the sides, one square at a time.
    svg.append(vector("path", { d: "M0.5 4.5 V2.5 H3.5", class: "way" }));
  }
  svg.append(vector("circle", { cx: blue[0]! + 0.5, cy: blue[1]! + 0.5, r: 0.35, class: "blue" }));
  svg.append(vector("circle", { cx: yellow[0]! + 0.5, cy: yellow[1]! + 0.5, r: 0.18, class: "yellow" }));
  return svg;
}

function vector(tag: string, attributes: Record<string, string | number>): SVGElement {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}
