import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { delayAfter, untilDone } from "../../plugin/retry";
import { find, setHidden, square, start, wait } from "./play-block";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "requestAnimationFrame", "cancelAnimationFrame", "performance", "Date"] });
  setHidden(false);
});
afterEach(() => vi.useRealTimers());

const later = (callback: () => void, ms: number) => setTimeout(callback, ms);

test("waits longer after each failure, at most five seconds", () => {
  expect([1, 2, 3, 4, 5, 6, 50].map(delayAfter)).toEqual([500, 1000, 2000, 4000, 5000, 5000, 5000]);
});

test("tries until it works, and says which attempt it is", async () => {
  const attempts: number[] = [];
  const done = untilDone(async (number) => {
    attempts.push(number);
    if (number < 4) throw new Error("no connection");
    return "done";
  }, { later });
  await wait(499);
  expect(attempts).toEqual([1]);
  await wait(1);
  expect(attempts).toEqual([1, 2]);
  await wait(3000);
  expect(attempts).toEqual([1, 2, 3, 4]);
  await expect(done).resolves.toBe("done");
});

test("waits at least as long as the server asks for", async () => {
  const attempts: number[] = [];
  void untilDone(async (number) => {
    attempts.push(number);
    if (number === 1) throw Object.assign(new Error("too fast"), { retryAfterMs: 3000 });
  }, { later });
  await wait(2999);
  expect(attempts).toEqual([1]);
  await wait(1);
  expect(attempts).toEqual([1, 2]);
});

test("gives up at once on an error that is final", async () => {
  const attempt = vi.fn(async () => { throw Object.assign(new Error("not allowed"), { retry: false }); });
  await expect(untilDone(attempt, { later })).rejects.toThrow("not allowed");
  expect(attempt).toHaveBeenCalledTimes(1);
});

test("a choice is kept and sent again, with a note on the screen", async () => {
  const { reports, events } = await start({
    choose: async (report: { attempt: number; yellow: number }) => {
      if (report.attempt < 3) throw new Error("no connection");
      return { arm: report.yellow, reward: 5 };
    },
  });
  square(20).click();
  await wait(1520);
  expect(find("#note").dataset.mood).toBe("trouble");
  square(21).click();
  await wait(500 + 1000 + 20);
  expect(reports.map(({ attempt, goal, trial }) => [attempt, goal, trial])).toEqual([[1, 20, 0], [2, 20, 0], [3, 20, 0]]);
  expect(reports[2]!.elapsed_ms).toBe(reports[0]!.elapsed_ms);
  expect(find("#note").dataset.mood).toBe("rule");
  expect(events.filter(([kind]) => kind === "retry")).toEqual([["retry", 1, 0], ["retry", 2, 0]]);
});

test("a choice that can never be recorded ends the block", async () => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const { data } = await start({ choose: async () => { throw Object.assign(new Error("taken over"), { retry: false }); } });
  await wait(1540);
  expect(data()).toMatchObject({ complete: false, arm: [] });
});
