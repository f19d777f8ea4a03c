import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { dots, find, setHidden, square, start, wait } from "./play-block";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "requestAnimationFrame", "cancelAnimationFrame", "performance", "Date"] });
  setHidden(false);
});
afterEach(() => vi.useRealTimers());

test("a hidden page throws the running choice away and waits for a press", async () => {
  const { reports, events } = await start();
  square(3).click();
  await wait(1000);
  setHidden(true);
  expect(dots()).toEqual([55, 55]);
  await wait(10_000);
  setHidden(false);
  expect(find("#pause").hidden).toBe(false);
  expect(document.activeElement).toBe(find("#resume"));
  await wait(10_000);
  expect(reports).toHaveLength(0);
  find("#resume").click();
  expect(find("#pause").hidden).toBe(true);
  await wait(1400);
  expect(reports).toHaveLength(0);
  square(4).click();
  await wait(130);
  expect(reports).toHaveLength(1);
  expect(reports[0]).toMatchObject({ goal: 4, pauses: 1 });
  expect(reports[0]!.clicks).toHaveLength(1);
  expect(events.map(([kind]) => kind)).toEqual(["pause", "resume"]);
});

test("each pause of a choice counts, and the next choice starts without any", async () => {
  const { reports } = await start();
  for (let count = 0; count < 2; count += 1) {
    setHidden(true);
    setHidden(false);
    find("#resume").click();
  }
  await wait(1530);
  expect(reports[0]!.pauses).toBe(2);
  await wait(1530);
  expect(reports[1]!.pauses).toBe(0);
});

test("a page hidden while a choice is being saved records it and then waits", async () => {
  let answer!: (value: { arm: number; reward: number }) => void;
  const { reports } = await start({ choose: () => new Promise((resolve) => { answer = resolve; }) });
  await wait(1520);
  setHidden(true);
  answer({ arm: 3, reward: 1 });
  await wait(20);
  expect(dots()).toEqual([3, 3]);
  await wait(5000);
  expect(reports).toHaveLength(1);
  setHidden(false);
  find("#resume").click();
  await wait(1530);
  expect(reports[1]).toMatchObject({ trial: 1, pauses: 1 });
});

test("a dialog pauses without a button of its own", async () => {
  const { reports, game, events } = await start();
  square(3).click();
  game.pause("dialog");
  expect(find("#pause").hidden).toBe(true);
  expect(find(".grid-bandit").dataset.phase).toBe("paused");
  await wait(5000);
  expect(reports).toHaveLength(0);
  game.resume("dialog");
  await wait(1530);
  expect(reports[0]).toMatchObject({ goal: null, pauses: 1 });
  expect(events.map(([kind]) => kind)).toEqual(["pause", "resume"]);
});

test("a page hidden behind a dialog still needs its press", async () => {
  const { reports, game, events } = await start();
  game.pause("dialog");
  setHidden(true);
  setHidden(false);
  game.resume("dialog");
  await wait(3000);
  expect(reports).toHaveLength(0);
  find("#resume").click();
  await wait(1530);
  expect(reports).toHaveLength(1);
  expect(events.map(([kind]) => kind)).toEqual(["pause", "resume"]);
});

test("a block may start paused, and need not pause at all", async () => {
  const paused = await start({ start_paused: true });
  await wait(3000);
  expect(paused.reports).toHaveLength(0);
  find("#resume").click();
  await wait(1530);
  expect(paused.reports[0]!.pauses).toBe(1);

  const steady = await start({ pause_when_hidden: false });
  setHidden(true);
  await wait(1530);
  expect(steady.reports).toHaveLength(1);
});

test("a stopped block records nothing more", async () => {
  const { reports, game } = await start();
  game.stop();
  setHidden(true);
  setHidden(false);
  await wait(5000);
  expect(reports).toHaveLength(0);
});
