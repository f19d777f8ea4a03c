import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { BlockShown } from "../../api";
import { readyScreen } from "../../participant/screens/ready";
import { Texts } from "../../participant/texts";

const templates = join(process.cwd(), "../src/explorelab/study/config/templates");
const textsIn = (language: string): Texts => {
  const toml = readFileSync(join(templates, language, "texts.toml"), "utf8");
  const labels = Object.fromEntries([...toml.matchAll(/^(\w+) = "(.*)"$/gm)].map(([, name, text]) => [name!, text!]));
  return new Texts({ language, direction: "ltr", title: "", languages: {}, labels });
};

const arms = ["Red", "Green", "Blue", "4"].map((label) => ({ label, colour: label === "4" ? "" : label.toLowerCase(), picture: "" }));
const nothing = { width: 0, height: 0, arms: [], places: [], edges: [], directed: false };
const LAYOUTS: Record<BlockShown["layout"]["kind"], BlockShown["layout"]> = {
  grid: { ...nothing, kind: "grid", width: 10, height: 10 },
  buttons: { ...nothing, kind: "buttons", arms },
  line: { ...nothing, kind: "line", arms },
  graph: { ...nothing, kind: "graph", arms, places: [[0, 0], [1, 0], [1, 1], [0, 1]], edges: [[0, 1], [1, 2], [2, 3]] },
};

const block = (more: Partial<BlockShown>): BlockShown => ({
  number: 0, n_blocks: 2, kind: "task", number_of_kind: 0, n_of_kind: 2, dynamic: "standard", deadline_ms: 6000, outcome_ms: 1000,
  n_trials: 90, width: 10, height: 10, layout: LAYOUTS.grid, rewards: { kind: "points", currency: "", per_point: 1 }, foregone: false,
  closes: false, available: null, trial: null, position: null, goal: null, last_reward: null, points_block: null, ...more,
});

const english = textsIn("en");
const rules = (more: Partial<BlockShown>, texts = english) => [...readyScreen(block(more), texts).querySelectorAll(".rules > ul > li")].map((rule) => rule.textContent!);

describe.each(["en", "de", "es", "fr"])("in %s", (language) => {
  const texts = textsIn(language);

  test.each(Object.values(LAYOUTS))("every rule of $kind is told in words, and drawn", (layout) => {
    for (const dynamic of ["standard", "neighbour", "travel"] as const) {
      for (const deadline_ms of [null, 1500]) {
        for (const rewards of ["points", "money", "hidden"] as const) {
          for (const kind of ["task", "training"] as const) {
            const shown = block({ layout, dynamic, deadline_ms, kind, closes: true, foregone: true, rewards: { kind: rewards, currency: "EUR", per_point: 1 } });
            const screen = readyScreen(shown, texts);
            // A label that does not exist would be shown by its name.
            expect(screen.textContent).not.toMatch(/[a-z]_[a-z]|[{}]/);
            expect(screen.querySelector("svg circle.blue")).not.toBeNull();
            expect(screen.querySelector("svg")!.outerHTML).not.toMatch(/NaN|undefined| style=/);
          }
        }
      }
    }
  });
});

test("arrows are told in words and drawn, each at the side of the arm to which it leads", () => {
  const layout = { ...LAYOUTS.graph, directed: true, edges: [[0, 1], [1, 2], [2, 1], [2, 3], [3, 0]] as [number, number][] };
  const shown = { layout, dynamic: "neighbour" as const, deadline_ms: null };
  expect(rules(shown)[0]).toBe("Stay, or choose an option that an arrow leads to from the blue dot.");
  const heads = (more: Partial<BlockShown>) => [...readyScreen(block(more), english).querySelectorAll("svg path.head")];
  expect(heads(shown)).toHaveLength(5);
  // From the top left to the top right: the tip is half an arm's size to the left of the middle.
  const [x, y] = heads(shown)[0]!.getAttribute("d")!.match(/-?[\d.]+/g)!.map(Number);
  expect(x).toBeLessThan(4.5);
  expect(x).toBeGreaterThan(3.5);
  expect(y).toBeCloseTo(0.5);
  expect(heads({ ...shown, layout: LAYOUTS.graph })).toHaveLength(0);
  for (const language of ["de", "es", "fr"]) expect(rules(shown, textsIn(language))[0]).not.toBe(rules({ ...shown, layout: LAYOUTS.graph }, textsIn(language))[0]);
});

test("the paper's block is explained as ever", () => {
  expect(rules({})).toEqual([
    "You can choose any square.",
    "You have 6 seconds for each choice; the bar above the squares shows how much is left. Until it runs out, you can change your choice.",
    "If you do not click in time, your last choice is repeated.",
    "There are 90 choices, one right after the other.",
    "These points count. Collect as many as you can.",
  ]);
});

test("without a deadline nothing is said of time, or of what comes next", () => {
  const told = rules({ layout: LAYOUTS.buttons, deadline_ms: null });
  expect(told).toContain("There is no time limit. Your click is your choice and cannot be changed.");
  expect(told.join(" ")).not.toMatch(/second|bar|click in time/);
  const screen = readyScreen(block({ layout: LAYOUTS.buttons, deadline_ms: null }), english);
  expect(screen.querySelector("circle.yellow, .key.yellow")).toBeNull();
});

test("hidden rewards, outcomes of others and closed arms are announced", () => {
  expect(rules({ rewards: { kind: "hidden", currency: "", per_point: 1 }, foregone: true }).join(" ")).not.toMatch(/points|would have/);
  expect(rules({ foregone: true })).toContain("After each choice you also see what the other options would have brought.");
  expect(rules({ closes: true })).toContain("Sometimes options are closed: hatched ones cannot be chosen that time.");
});

test("the picture of buttons has their colours, that of a graph its edges and what is too far away", () => {
  const picture = (more: Partial<BlockShown>) => readyScreen(block(more), english).querySelector("svg")!;
  expect([...picture({ layout: LAYOUTS.buttons }).querySelectorAll("rect")].map((arm) => arm.getAttribute("fill"))).toEqual(["red", "green", "blue", null]);
  const graph = picture({ layout: LAYOUTS.graph, dynamic: "neighbour" });
  expect(graph.querySelectorAll("line")).toHaveLength(3);
  expect([...graph.querySelectorAll("circle.graph")].map((arm) => arm.classList.contains("away"))).toEqual([false, false, false, true]);
});
