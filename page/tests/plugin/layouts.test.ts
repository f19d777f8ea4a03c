/** Buttons, lines and graphs: what is on the screen, and how an arm is chosen by mouse and keys. */

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { choosesLocally } from "../../plugin/choose";
import { KINDS, readLayout, type GivenLayout } from "../../plugin/layout";
import { arm, find, marked, press, setHidden, start, wait } from "./play-block";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "requestAnimationFrame", "cancelAnimationFrame", "performance", "Date"] });
  setHidden(false);
});
afterEach(() => vi.useRealTimers());

const NAMED = ["Red", "Green", "Blue", "Grey", ""];
const LAYOUTS: Record<Exclude<(typeof KINDS)[number], "grid">, GivenLayout> = {
  buttons: { kind: "buttons", arms: NAMED },
  line: { kind: "line", arms: NAMED },
  graph: {
    kind: "graph", arms: NAMED,
    // A cross: the last arm in the middle of the others (left, right, top, bottom).
    places: [[0, 0.5], [1, 0.5], [0.5, 0], [0.5, 1], [0.5, 0.5]], edges: [[0, 4], [1, 4], [4, 2], [3, 4]],
  },
};
const CASES = Object.entries(LAYOUTS);
/** What an arm answers: ten times its number. */
const tens = ({ yellow }: { yellow: number }) => ({ arm: yellow, reward: yellow * 10 });

test("every layout but the grid is tried below", () => {
  expect([...Object.keys(LAYOUTS), "grid"].sort()).toEqual([...KINDS].sort());
});

describe.each(CASES)("%s", (kind, layout) => {
  const begin = (more: Record<string, unknown> = {}) => start({ layout, start: 4, choose: tens, ...more });

  test("each arm is a button with its name, its number and what is on it", async () => {
    await begin();
    expect(find("#arms").getAttribute("role")).toBe("group");
    expect(find("#arms").getAttribute("aria-label")).toContain("5 options");
    expect(document.querySelectorAll('[role="button"]')).toHaveLength(5);
    expect(arm(0).getAttribute("aria-label")).toMatch(/^Red, option 1 of 5/);
    expect(arm(4).getAttribute("aria-label")).toMatch(/^Option 5 of 5.*, your dot, your next choice$/);
    expect(arm(4).getAttribute("aria-pressed")).toBe("true");
    expect([...document.querySelectorAll(".gb-label")].map((label) => label.textContent)).toEqual(["Red", "Green", "Blue", "Grey", "5"]);
    expect(marked()).toEqual([4, 4]);
  });

  test("with a clock a click moves the yellow dot, and time records it", async () => {
    const { reports, data } = await begin({ n_trials: 2 });
    arm(1).click();
    expect(marked()).toEqual([4, 1]);
    expect(find("#status").textContent).toBe("Next: Green.");
    arm(2).click();
    await wait(1520);
    expect(reports[0]).toMatchObject({ goal: 2, position: 4, clicks: [[1, expect.any(Number)], [2, expect.any(Number)]] });
    expect(marked()).toEqual([2, 2]);
    expect(find("#reward").textContent).toBe("20");
    expect(find("#status").textContent).toBe("Blue: reward 20.");
    await wait(1520 + 1300);
    expect(data()).toMatchObject({ layout: kind, n_arms: 5, arm: [2, 2], missed: [false, true], reward: [20, 20], points: 40 });
    expect(data()!.foregone).toBeUndefined();
    expect(data()!.available).toBeUndefined();
  });

  test("without a clock a click is the choice; its outcome is looked at before the next", async () => {
    const { reports, data } = await begin({ deadline_ms: null, n_trials: 2, outcome_ms: 800 });
    expect(document.querySelector("#time-bar")).toBeNull();
    expect(marked()).toEqual([null, null]);
    await wait(5000);
    expect(reports).toHaveLength(0);
    arm(3).click();
    await wait(1);
    expect(reports).toHaveLength(1);
    expect(reports[0]).toMatchObject({ trial: 0, goal: 3, clicks: [[3, reports[0]!.elapsed_ms]] });
    expect(reports[0]!.elapsed_ms).toBeGreaterThan(4900);
    expect([marked(), find("#reward").textContent, find("#counter").textContent]).toEqual([[3, null], "30", "Choice 1 of 2"]);
    expect(arm(3).querySelector<HTMLElement>(".gb-written")!.dataset.text).toBe("30");
    arm(0).click();
    await wait(780);
    arm(0).click();
    expect(reports).toHaveLength(1);
    await wait(60);
    expect(find("#counter").textContent).toBe("Choice 2 of 2");
    expect(arm(3).querySelector<HTMLElement>(".gb-written")!.dataset.text).toBe("");
    arm(0).click();
    await wait(1300);
    expect(data()).toMatchObject({ arm: [3, 0], overrun_ms: [null, null], missed: [false, false], complete: true });
  });

  test("digits choose, also with a clock, and one that names no arm does nothing", async () => {
    const { reports } = await begin();
    press("2");
    expect(marked()).toEqual([4, 1]);
    expect(document.activeElement).toBe(arm(1));
    press("6");
    press("0");
    press("3", { ctrlKey: true });
    expect(marked()).toEqual([4, 1]);
    await wait(1520);
    expect(reports[0]!.goal).toBe(1);
  });

  test("a key that is held down, and the second click of a double click, choose nothing more", async () => {
    const { reports } = await begin({ deadline_ms: null, outcome_ms: 0, n_trials: 5 });
    await wait(600);
    press("1");
    await wait(40);
    for (let count = 0; count < 5; count += 1) {
      press("1", { repeat: true });
      press("Enter", { repeat: true });
      await wait(30);
    }
    expect(reports).toHaveLength(1);
    await wait(600);
    for (const detail of [1, 2]) {
      arm(2).dispatchEvent(new MouseEvent("click", { bubbles: true, detail }));
      await wait(60);
    }
    expect(reports.map(({ goal }) => goal)).toEqual([0, 2]);
  });

  test("Enter and Space choose where the cursor is, which every arm can be reached by", async () => {
    const { reports } = await begin({ deadline_ms: null, outcome_ms: 0, n_trials: 2 });
    press("Home");
    expect(document.activeElement).toBe(arm(0));
    const seen = [0];
    for (let count = 1; count < 5; count += 1) {
      press("PageDown");
      seen.push(Number((document.activeElement as HTMLElement).dataset.arm));
    }
    expect(seen).toEqual([0, 1, 2, 3, 4]);
    press("PageUp");
    press("Enter");
    await wait(60);
    press("End");
    press(" ");
    await wait(1);
    expect(reports.map(({ goal }) => goal)).toEqual([3, 4]);
    expect([...document.querySelectorAll<HTMLElement>('[role="button"]')].filter(({ tabIndex }) => tabIndex === 0)).toEqual([arm(4)]);
  });

  test("only the arms on offer can be chosen, and it is said which and why", async () => {
    const { reports, events, data } = await begin({
      deadline_ms: null, outcome_ms: 0, n_trials: 2, offers: undefined, available: [0, 1],
      choose: (report: { yellow: number; trial: number }) => ({ ...tens(report), available: report.trial === 0 ? [2] : null }),
    });
    expect(find("#status").textContent).toBe("Open this time: Red; Green.");
    expect(find("#note").textContent).toMatch(/^Hatched options are closed this time\./);
    expect(arm(2).getAttribute("aria-disabled")).toBe("true");
    expect(arm(2).getAttribute("aria-label")).toContain("not available");
    arm(2).click();
    press("4");
    await wait(1);
    expect(reports).toHaveLength(0);
    expect(find("#note").textContent).toBe("This option is closed this time.");
    expect(events.filter(([what]) => what === "unavailable").map(([, which]) => which)).toEqual([2, 3]);
    arm(1).click();
    await wait(20);
    expect(find("#note").textContent).toBe("Only one option is open this time: Blue.");
    arm(1).click();
    arm(2).click();
    await wait(1300);
    expect(data()).toMatchObject({ arm: [1, 2], available: [[0, 1], [2]], complete: true });
  });

  test("what the others would have brought is written on them and said", async () => {
    const { data } = await begin({
      deadline_ms: null, n_trials: 2, foregone: true,
      choose: () => ({ arm: 1, reward: 5, foregone: [7, 5, null, -2.5, 0] }),
    });
    arm(1).click();
    await wait(1);
    expect([...document.querySelectorAll<HTMLElement>(".gb-written")].map((written) => written.dataset.text)).toEqual(["7", "5", "", "-2.5", "0"]);
    expect(find("#status").textContent).toBe("Green: reward 5. The others: Red 7; Grey -2.5; Option 5 0.");
    expect(arm(3).getAttribute("aria-label")).toContain("reward -2.5");
    await wait(1100);
    arm(1).click();
    await wait(1300);
    expect(data()!.foregone).toEqual([[7, 5, null, -2.5, 0], [7, 5, null, -2.5, 0]]);
  });

  test("hidden rewards leave no trace of points, on the screen or for the ear", async () => {
    const { data } = await begin({
      deadline_ms: null, n_trials: 1, rewards: { kind: "hidden" }, choose: () => ({ arm: 0, reward: null, points_block: null }),
    });
    expect(document.querySelector("#reward")).toBeNull();
    expect(document.querySelector("#points")).toBeNull();
    arm(0).click();
    await wait(1);
    expect(find("#status").textContent).toBe("Red: choice recorded.");
    expect(document.body.textContent).not.toMatch(/points|reward/i);
    await wait(1300);
    expect(data()).toMatchObject({ reward: [null], points: null });
  });

  test("money is written as the language writes it", async () => {
    await begin({ deadline_ms: null, language: "de", points: 150, rewards: { kind: "money", currency: "EUR", per_point: 0.01 } });
    expect(find("#points").textContent).toMatch(/1,50\s€/);
    arm(2).click();
    await wait(1);
    expect(find("#reward").textContent).toMatch(/^0,20\s€$/);
    expect(find("#status").textContent).toMatch(/Blue: reward 0,20\s€/);
  });

  test("a block that is taken up again shows where it was, and waits", async () => {
    const { reports } = await begin({
      deadline_ms: null, first_trial: 1, position: 2, goal: 2, last_reward: 12, points: 40, available: [0, 2], start_paused: true,
    });
    expect(marked()).toEqual([2, null]);
    expect(find("#reward").textContent).toBe("12");
    expect(find("#pause").hidden).toBe(false);
    expect(find("#pause").textContent).toContain("when you are ready");
    arm(0).click();
    await wait(1);
    expect(reports).toHaveLength(0);
    find("#resume").click();
    await wait(40);
    arm(0).click();
    await wait(1);
    expect(reports[0]).toMatchObject({ trial: 1, goal: 0, pauses: 1 });
  });

  test("a suggestion is marked, said, and gone after the choice", async () => {
    const { reports } = await begin({ deadline_ms: null, advise: () => ({ arm: 3, reason: "best" }) });
    await wait(40);
    expect(arm(3).querySelector("#ring:not([hidden])")).not.toBeNull();
    expect(arm(3).getAttribute("aria-label")).toContain("suggested");
    expect(find("#suggestion").textContent).toBe("Suggested: Grey.");
    arm(0).click();
    await wait(1);
    expect(find("#ring").hidden).toBe(true);
    expect(reports[0]).toMatchObject({ advised: 3, advice: "best" });
  });
});

test("only arms next to the blue dot are open where the rule says so", async () => {
  const { reports, data } = await start({ layout: LAYOUTS.graph, start: 0, dynamic: "neighbour", deadline_ms: null, n_trials: 1, choose: tens });
  expect([0, 1, 2, 3, 4].filter((each) => !arm(each).hasAttribute("aria-disabled"))).toEqual([0, 4]);
  expect(arm(4).getAttribute("aria-label")).toBe("Option 5 of 5, joined to Red; Green; Blue; Grey");
  expect([...document.querySelectorAll(".gb-edge")].map((edge) => edge.classList.contains("gb-from-here"))).toEqual([true, false, false, false]);
  arm(2).click();
  expect(find("#note").textContent).toMatch(/^Too far away/);
  arm(4).click();
  await wait(1300);
  expect(reports[0]!.goal).toBe(4);
  expect(data()!.edges).toEqual(LAYOUTS.graph.edges);
});

test("arrows have a head where they lead, are marked from here, said, and kept with the data", async () => {
  const layout = { ...LAYOUTS.graph, directed: true, edges: [[0, 4], [4, 1], [1, 4], [4, 2], [3, 4]] };
  const { data } = await start({ layout, start: 4, dynamic: "neighbour", deadline_ms: null, n_trials: 1, choose: tens });
  const heads = [...document.querySelectorAll<HTMLElement>(".gb-head")];
  const marks = (each: Element[]) => each.map(({ classList }) => classList.contains("gb-from-here"));
  expect(heads.map(({ style }) => style.transform.match(/rotate\((.*)rad\)/)![1]).map(Number)).toEqual([0, 0, Math.PI, -Math.PI / 2, -Math.PI / 2]);
  expect([heads[0]!.style.left, heads[3]!.style.left]).toEqual([arm(4).style.left, arm(2).style.left]);
  expect(marks(heads)).toEqual([false, true, false, true, false]);
  expect(marks([...document.querySelectorAll(".gb-edge")])).toEqual([false, true, true, true, false]);
  expect(heads.every((head) => head.getAttribute("aria-hidden") === "true")).toBe(true);
  expect(arm(4).getAttribute("aria-label")).toBe("Option 5 of 5, leads to Green; Blue, your dot");
  expect(arm(2).getAttribute("aria-label")).toBe("Blue, option 3 of 5");
  expect([0, 1, 2, 3, 4].filter((each) => !arm(each).hasAttribute("aria-disabled"))).toEqual([1, 2, 4]);
  expect(find("#note").textContent).toMatch(/^Stay, or choose an option that an arrow leads to/);
  arm(1).click();
  await wait(1300);
  expect(data()).toMatchObject({ arm: [1], directed: true, edges: layout.edges });
});

test("edges without a direction have no heads, and say nothing of one in the data", async () => {
  const { data } = await start({ layout: LAYOUTS.graph, start: 4, deadline_ms: null, n_trials: 1, choose: tens });
  expect(document.querySelector(".gb-head")).toBeNull();
  arm(1).click();
  await wait(1300);
  expect(data()!.directed).toBeUndefined();
});

test("a server that tells what the rule says anyway closes nothing; one that tells less does", async () => {
  const neighbours = { layout: LAYOUTS.graph, start: 4, dynamic: "neighbour", deadline_ms: null };
  await start({ ...neighbours, available: [0, 1, 2, 3, 4] });
  expect([find("#note").textContent, find("#status").textContent]).toEqual([expect.stringMatching(/^Stay, or choose/), ""]);
  await start({ ...neighbours, available: [0, 3] });
  expect([find("#note").textContent, find("#status").textContent]).toEqual([expect.stringMatching(/^Hatched/), "Open this time: Red; Grey."]);
});

test("while an outcome is looked at, the arms are open and closed as they were; then as they are for the next choice", async () => {
  const choose = () => ({ arm: 0, reward: 1, available: [0, 4] });
  await start({ layout: LAYOUTS.graph, start: 4, dynamic: "neighbour", deadline_ms: null, available: [0, 1, 2, 3, 4], choose });
  const open = () => [0, 1, 2, 3, 4].filter((each) => !arm(each).hasAttribute("aria-disabled"));
  arm(0).click();
  await wait(20);
  expect([marked(), open()]).toEqual([[0, null], [0, 1, 2, 3, 4]]);
  await wait(1000);
  expect(open()).toEqual([0, 4]);
  expect(find("#note").textContent).toMatch(/^Stay, or choose/);
});

test("on a graph people travel to a goal without a clock, one step at a click", async () => {
  const layout = readLayout(LAYOUTS.graph, 0, 0);
  const choose = choosesLocally({ means: [1, 2, 3, 4, 5], noise: 0, dynamic: "travel", layout, foregone: false, offers: [] });
  const { data } = await start({ layout, start: 0, dynamic: "travel", deadline_ms: null, outcome_ms: 0, n_trials: 2, choose });
  arm(2).click();
  await wait(60);
  expect(marked()).toEqual([4, 2]);
  arm(2).click();
  await wait(1300);
  expect(data()).toMatchObject({ arm: [4, 2], goal: [2, 2], reward: [5, 3] });
});

test("arrows go along a line, among buttons as they are read, and on a graph in their direction", async () => {
  await start({ layout: LAYOUTS.line, start: 1 });
  for (const [key, at] of [["ArrowRight", 2], ["ArrowDown", 3], ["ArrowLeft", 2], ["ArrowUp", 1]] as const) {
    press(key);
    expect(document.activeElement).toBe(arm(at));
  }
  await start({ layout: LAYOUTS.buttons, start: 1 });
  press("ArrowRight");
  expect(document.activeElement).toBe(arm(2));
  find("#arms").style.direction = "rtl";
  press("ArrowRight");
  expect(document.activeElement).toBe(arm(1));
  await start({ layout: LAYOUTS.graph, start: 4 });
  for (const [key, at] of [["ArrowUp", 2], ["ArrowDown", 4], ["ArrowLeft", 0], ["ArrowLeft", 0], ["ArrowRight", 4], ["ArrowRight", 1]] as const) {
    press(key);
    expect(document.activeElement, key).toBe(arm(at));
  }
});

test("colours are set, and what is no colour is ignored; pictures have no words but those of their arm", async () => {
  const arms = [{ colour: "#e69f00" }, { colour: "url(evil)" }, { picture: "a.png" }, { picture: "b.png", label: "Fox" }];
  await start({ layout: { kind: "buttons", arms }, start: 0 });
  // Here no picture ever comes, and the block begins without; in a browser, when they are there.
  expect(document.querySelector("#arms")).toBeNull();
  await wait(5000);
  const faces = [...document.querySelectorAll<HTMLElement>(".gb-face")];
  expect(faces.map(({ style }) => style.backgroundColor)).toEqual(["rgb(230, 159, 0)", "", "", ""]);
  expect(faces.map((face) => face.querySelector(".gb-label")?.textContent ?? "")).toEqual(["1", "2", "", "Fox"]);
  expect([...document.querySelectorAll("img")].map((image) => [image.getAttribute("src"), image.alt])).toEqual([["a.png", ""], ["b.png", ""]]);
  expect(arm(2).getAttribute("aria-label")).toBe("Option 3 of 4");
});

test("a dialog that opens and closes while pictures load does not start a clock that nobody sees", async () => {
  const { game, reports } = await start({ layout: { kind: "buttons", arms: [{ picture: "a.png" }, "b"] }, start: 0, deadline_ms: 1000 });
  game.pause("dialog");
  game.resume("dialog");
  await wait(4900);
  expect([reports.length, document.querySelector("#arms")]).toEqual([0, null]);
  await wait(120);
  arm(1).click();
  await wait(1020);
  expect(reports.map(({ goal, pauses }) => [goal, pauses])).toEqual([[1, 1]]);
});

test("more than ten arms have no digits", async () => {
  await start({ layout: { kind: "buttons", arms: Array(11).fill("") }, start: 0 });
  press("2");
  expect(marked()).toEqual([0, 0]);
  expect(document.querySelector(".gb-key")).toBeNull();
});

test("layouts that make no sense are named", async () => {
  const { initJsPsych } = await import("jspsych");
  const { default: GridBandit } = await import("../../plugin/grid-bandit");
  const run = (parameters: object) => initJsPsych().run([{ type: GridBandit, choose: tens, ...parameters }]);
  await expect(run({ layout: { kind: "ring" } })).rejects.toThrow('got "ring"');
  await expect(run({ layout: { kind: "buttons" } })).rejects.toThrow("at least one arm");
  await expect(run({ layout: { kind: "graph", arms: ["", ""], places: [[0, 0]], edges: [] } })).rejects.toThrow("each of 2 arms, got 1");
  await expect(run({ layout: { kind: "graph", arms: [""], places: [[0, 2]], edges: [] } })).rejects.toThrow("[0,2]");
  await expect(run({ layout: { kind: "graph", arms: [""], places: [[0, 0]], edges: [[0, 1]] } })).rejects.toThrow("[0,1]");
  await expect(run({ layout: { ...LAYOUTS.graph, directed: "yes" } })).rejects.toThrow('directed to be true or false, got "yes"');
  await expect(run({ layout: LAYOUTS.buttons, available: [] })).rejects.toThrow("at least one arm on offer");
  await expect(run({ layout: LAYOUTS.buttons, available: [5] })).rejects.toThrow("an arm from 0 to 4, got 5");
  await expect(run({ rewards: { kind: "money" } })).rejects.toThrow("rewards.currency");
  await expect(run({ rewards: { kind: "gold" } })).rejects.toThrow('got "gold"');
});
