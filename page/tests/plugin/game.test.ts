import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { dots, find, press, setHidden, square, start, wait } from "./play-block";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "requestAnimationFrame", "cancelAnimationFrame", "performance", "Date"] });
  setHidden(false);
});
afterEach(() => vi.useRealTimers());

test("at first the box is blank and both dots are together", async () => {
  await start();
  expect(find("#reward").textContent).toBe("");
  expect(dots()).toEqual([55, 55]);
  expect(find("#counter").textContent).toBe("Choice 1 of 3");
});

test("a click moves the yellow dot only, and may be changed until the time is up", async () => {
  const { reports } = await start();
  square(12).click();
  expect(dots()).toEqual([55, 12]);
  await wait(700);
  square(34).click();
  expect(dots()).toEqual([55, 34]);
  expect(reports).toHaveLength(0);
  await wait(800);
  expect(reports).toHaveLength(1);
  expect(reports[0]).toMatchObject({ trial: 0, goal: 34, pauses: 0, attempt: 1 });
  expect(reports[0]!.clicks.map(([clicked]) => clicked)).toEqual([12, 34]);
  expect(dots()).toEqual([34, 34]);
  expect(find("#reward").textContent).toBe("34");
  expect(find("#status").textContent).toBe("Reward 34. Your dot is in column 4, row 5.");
});

test("clicks are timed from the start of their own clock, and never after its end", async () => {
  const { reports } = await start();
  await wait(380);
  square(1).click();
  await wait(1500);
  square(2).click();
  await wait(1500);
  for (const report of reports) {
    expect(report.elapsed_ms).toBeGreaterThanOrEqual(1500);
    expect(report.elapsed_ms).toBeLessThan(1505);
  }
  expect(reports[0]!.clicks[0]![1]).toBeGreaterThan(370);
  expect(reports[0]!.clicks[0]![1]).toBeLessThanOrEqual(400);
  expect(reports[1]!.clicks[0]![1]).toBeLessThan(400);
});

test("without a click the last choice is repeated, and said to be missed", async () => {
  const { reports, data } = await start({ n_trials: 2 });
  square(8).click();
  await wait(1520);
  expect(dots()).toEqual([8, 8]);
  await wait(1520);
  expect(reports[1]).toMatchObject({ goal: null, yellow: 8, clicks: [] });
  await wait(1300);
  expect(data()).toMatchObject({ arm: [8, 8], reward: [8, 8], missed: [false, true], points: 16, complete: true });
});

test("a click on the square of the yellow dot counts as a click", async () => {
  const { reports } = await start();
  square(55).click();
  await wait(1520);
  expect(reports[0]).toMatchObject({ goal: 55 });
});

test("beside the blue dot is all that the neighbour rule lets people choose", async () => {
  const { reports, events } = await start({ dynamic: "neighbour" });
  expect(square(99).getAttribute("aria-disabled")).toBe("true");
  expect(square(99).getAttribute("aria-label")).toContain("not available");
  expect(square(65).getAttribute("aria-disabled")).toBeNull();
  square(99).click();
  expect(dots()).toEqual([55, 55]);
  expect(find("#note").dataset.mood).toBe("hint");
  expect(events).toContainEqual(["unavailable", 99, 0]);
  square(65).click();
  await wait(1520);
  expect(reports[0]).toMatchObject({ goal: 65, clicks: [[65, expect.any(Number)]] });
  expect(square(55).getAttribute("aria-disabled")).toBeNull();
  expect(square(45).getAttribute("aria-disabled")).toBe("true");
});

test("where people travel the yellow dot stays at the goal while the blue one walks", async () => {
  const means = Array.from({ length: 100 }, (_, number) => number);
  const { initJsPsych } = await import("jspsych");
  const { default: GridBandit } = await import("../../plugin/grid-bandit");
  document.body.replaceChildren();
  const jsPsych = initJsPsych();
  void jsPsych.run([{ type: GridBandit, dynamic: "travel", start: 0, n_trials: 3, means, noise: 0 }]);
  await wait(20);
  square(2).click();
  await wait(1000 * 6 + 20);
  expect(dots()).toEqual([1, 2]);
  await wait(6020);
  expect(dots()).toEqual([2, 2]);
  await wait(6020 + 1300);
  expect(jsPsych.data.get().values()[0]).toMatchObject({ arm: [1, 2, 2], goal: [2, 2, 2], reward: [1, 2, 2], missed: [false, true, true] });
});

test("clicks while a choice is being saved do nothing", async () => {
  let answer!: (value: { arm: number; reward: number }) => void;
  await start({ choose: () => new Promise((resolve) => { answer = resolve; }) });
  square(3).click();
  await wait(1520);
  square(4).click();
  expect(dots()).toEqual([55, 3]);
  expect(find("#note").dataset.mood).toBe("rule");
  await wait(450);
  expect(find("#note").dataset.mood).toBe("saving");
  answer({ arm: 3, reward: 1 });
  await wait(20);
  expect(dots()).toEqual([3, 3]);
  expect(find("#note").dataset.mood).toBe("rule");
});

test("a block that is taken up again shows where it was", async () => {
  const { reports } = await start({ first_trial: 2, position: 7, goal: 9, last_reward: 12.5, points: 40 });
  expect(dots()).toEqual([7, 9]);
  expect(find("#reward").textContent).toBe("12.5");
  expect(find("#counter").textContent).toBe("Choice 3 of 3");
  expect(find("#points").textContent).toContain("40");
  await wait(1520);
  expect(reports.map(({ trial }) => trial)).toEqual([2]);
});

test("the last reward stays for a while before the block ends", async () => {
  const { data } = await start({ n_trials: 1, after_last_ms: 1000 });
  await wait(1520);
  expect(find("#reward").textContent).toBe("55");
  expect(data()).toBeUndefined();
  await wait(1010);
  expect(data()).toMatchObject({ complete: true, overrun_ms: [expect.any(Number)] });
});

test("so many clicks that a server would refuse them are kept to 200, the last one always", async () => {
  const { reports } = await start();
  for (let count = 0; count < 250; count += 1) square(count % 100).click();
  square(77).click();
  await wait(1520);
  expect(reports[0]!.clicks).toHaveLength(200);
  expect(reports[0]!.clicks.at(-1)![0]).toBe(77);
  expect(reports[0]!.goal).toBe(77);
});

test("keys move a cursor, and Enter or Space puts the yellow dot there", async () => {
  await start();
  expect(document.activeElement).toBe(square(55));
  for (const key of ["ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowUp"]) press(key);
  expect(document.activeElement).toBe(square(56));
  expect(dots()).toEqual([55, 55]);
  press("Enter");
  expect(dots()).toEqual([55, 56]);
  press("Home");
  press(" ");
  expect(dots()).toEqual([55, 6]);
  press("End", { ctrlKey: true });
  press("ArrowRight");
  press("Enter");
  expect(dots()).toEqual([55, 99]);
  press("PageUp");
  expect(document.activeElement).toBe(square(90));
  expect(document.querySelectorAll('.square[tabindex="0"]')).toHaveLength(1);
});

test("squares say where they are and what is on them", async () => {
  await start();
  square(0).click();
  expect(square(0).getAttribute("aria-label")).toBe("Column 1, row 1, your next choice");
  expect(square(0).getAttribute("aria-selected")).toBe("true");
  expect(square(55).getAttribute("aria-label")).toBe("Column 6, row 6, your dot");
  expect(find("#status").textContent).toBe("Next: column 1, row 1.");
});

test("numbers and labels follow the study's language", async () => {
  await start({ language: "de", last_reward: 1234.5, labels: { points: "Punkte: {points}" }, points: 1234.5 });
  expect(find("#reward").textContent).toBe("1.234,5");
  expect(find("#points").textContent).toBe("Punkte: 1.234,5");
});
