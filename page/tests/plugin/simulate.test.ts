import { initJsPsych } from "jspsych";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import GridBandit, { type Report } from "../../plugin/grid-bandit";
import type { Grid } from "../../plugin/layout";
import { nextTo } from "../../plugin/rules";
import { ownNumber, setHidden, wait } from "./play-block";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "requestAnimationFrame", "cancelAnimationFrame", "performance", "Date"] });
  setHidden(false);
  document.body.replaceChildren();
});
afterEach(() => vi.useRealTimers());

const shape: Grid = { kind: "grid", width: 10, height: 10 };

test.each(["data-only", "visual"] as const)("a robot plays a whole block: %s", async (mode) => {
  const jsPsych = initJsPsych();
  const choose = vi.fn(ownNumber);
  const loaded = vi.fn();
  void jsPsych.simulate([{ type: GridBandit, dynamic: "neighbour", start: 0, n_trials: 8, deadline_ms: 400, choose, on_load: loaded }], mode);
  await wait(8 * 440 + 1500);
  const data = jsPsych.data.get().values()[0]!;
  expect(loaded).toHaveBeenCalledTimes(1);
  expect(data.complete).toBe(true);
  expect(data.arm).toHaveLength(8);
  let at = 0;
  for (const arm of data.arm) {
    expect(nextTo(at, shape)).toContain(arm);
    at = arm;
  }
  for (const { goal, clicks, elapsed_ms } of choose.mock.calls.map(([report]) => report as Report)) {
    expect(elapsed_ms).toBeGreaterThanOrEqual(400);
    expect(clicks.at(-1)?.[0] ?? null).toBe(goal);
    for (const [, ms] of clicks) expect(ms).toBeLessThan(elapsed_ms);
  }
  expect(data.missed.filter(Boolean).length).toBeLessThan(8);
});

test("nothing is shown and no time is spent where only data are wanted", async () => {
  const jsPsych = initJsPsych();
  void jsPsych.simulate([{ type: GridBandit, n_trials: 90, means: Array(100).fill(30) }], "data-only");
  await wait(1);
  expect(document.querySelector("#grid")).toBeNull();
  const data = jsPsych.data.get().values()[0]!;
  expect(data.reward).toHaveLength(90);
  for (const reward of data.reward) expect(Math.abs(reward - 30)).toBeLessThanOrEqual(5);
  expect(new Set(data.reward).size).toBeGreaterThan(5);
});

test("a robot can be told what to choose", async () => {
  const jsPsych = initJsPsych();
  const trial = { type: GridBandit, n_trials: 3, start: 9, choose: ownNumber, simulation_options: { data: { goal: [4, null, 6] } } };
  void jsPsych.simulate([trial], "data-only");
  await wait(1);
  expect(jsPsych.data.get().values()[0]).toMatchObject({ arm: [4, 4, 6], missed: [false, true, false] });
});

test("parameters that make no sense are named", async () => {
  const run = (parameters: object) => initJsPsych().run([{ type: GridBandit, ...parameters }]);
  const means = Array(100).fill(0);
  await Promise.all([
    expect(run({ dynamic: "fly", means })).rejects.toThrow('got "fly"'),
  ]);
  await expect(run({ start: 100, means })).rejects.toThrow("from 0 to 99, got 100");
  await expect(run({ means: [1, 2] })).rejects.toThrow("expected 100 means");
});

const FOUR = { kind: "buttons", arms: ["a", "b", "c", "d"] };

test.each(["data-only", "visual"] as const)("a robot chooses what is open, where there is no clock: %s", async (mode) => {
  const jsPsych = initJsPsych();
  const offers = [[0], [1, 2], null, [3], null, [0, 3]];
  const block = { layout: FOUR, deadline_ms: null, outcome_ms: 10, n_trials: 6, means: [0, 100, 200, 300], offers, foregone: true };
  void jsPsych.simulate([{ type: GridBandit, ...block }], mode);
  await wait(6 * 1000 + 1500);
  const data = jsPsych.data.get().values()[0]!;
  expect(data).toMatchObject({ complete: true, missed: Array(6).fill(false), overrun_ms: Array(6).fill(null), available: offers, layout: "buttons", n_arms: 4 });
  data.arm.forEach((arm: number, trial: number) => {
    expect(offers[trial] ?? [0, 1, 2, 3]).toContain(arm);
    expect(Math.abs(data.reward[trial] - 100 * arm)).toBeLessThanOrEqual(5);
    expect(data.foregone[trial]).toHaveLength(4);
    expect(data.foregone[trial][arm]).toBe(data.reward[trial]);
  });
});
