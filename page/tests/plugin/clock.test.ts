import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Clock } from "../../plugin/game/clock";
import { wait } from "./play-block";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "requestAnimationFrame", "cancelAnimationFrame", "performance"] });
});
afterEach(() => vi.useRealTimers());

function made() {
  const shown: number[] = [];
  const later = (callback: () => void, ms: number) => setTimeout(callback, ms);
  return { shown, clock: new Clock({ later, show: (left) => shown.push(left) }) };
}

test("time is up once, at the deadline and not before", async () => {
  const { clock } = made();
  const up = vi.fn();
  clock.start(1000, up);
  await wait(16 + 998);
  expect(up).not.toHaveBeenCalled();
  await wait(4);
  expect(up).toHaveBeenCalledTimes(1);
  expect(up.mock.calls[0]![0]).toBeGreaterThanOrEqual(1000);
  expect(up.mock.calls[0]![0]).toBeLessThan(1003);
  await wait(5000);
  expect(up).toHaveBeenCalledTimes(1);
});

test("timers that fire too early are not believed", async () => {
  const up = vi.fn();
  // A browser whose timers are 5 ms early.
  const later = (callback: () => void, ms: number) => setTimeout(callback, Math.max(1, ms - 5));
  new Clock({ later, show: () => undefined }).start(300, up);
  await wait(400);
  expect(up.mock.calls[0]![0]).toBeGreaterThanOrEqual(300);
});

test("a stopped clock is silent, and started again it starts in full", async () => {
  const { clock } = made();
  const up = vi.fn();
  clock.start(1000, up);
  await wait(900);
  clock.stop();
  await wait(5000);
  expect(up).not.toHaveBeenCalled();
  clock.start(1000, up);
  await wait(900);
  expect(up).not.toHaveBeenCalled();
  await wait(150);
  expect(up).toHaveBeenCalledTimes(1);
});

test("a page that is not drawn starts its clock by a timer", async () => {
  vi.stubGlobal("requestAnimationFrame", () => 0);
  const { clock } = made();
  const up = vi.fn();
  clock.start(500, up);
  await wait(600);
  expect(up).toHaveBeenCalledTimes(1);
});

test("the bar shrinks smoothly, or in ten steps where people want less motion", async () => {
  const smooth = made();
  smooth.clock.start(1000, () => undefined);
  await wait(1100);
  expect(new Set(smooth.shown).size).toBeGreaterThan(40);

  vi.stubGlobal("matchMedia", () => ({ matches: true }));
  const stepped = made();
  stepped.clock.start(1000, () => undefined);
  await wait(1100);
  expect([...new Set(stepped.shown)]).toEqual([1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0]);
});
