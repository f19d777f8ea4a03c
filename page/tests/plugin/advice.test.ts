import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Advice } from "../../plugin/game/adviser";
import { dots, find, setHidden, square, start, wait } from "./play-block";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "requestAnimationFrame", "cancelAnimationFrame", "performance", "Date"] });
  setHidden(false);
});
afterEach(() => vi.useRealTimers());

const SAID: Advice = { arm: 42, reason: "best", seal: "abc" };
const after = (ms: number, said: Advice | null = SAID) => () => new Promise<Advice | null>((resolve) => setTimeout(() => resolve(said), ms));
const ring = (): HTMLElement => find("#ring");

test("a suggestion in time is drawn as a ring, said, and reported with the time", async () => {
  const { reports } = await start({ advise: after(100) });
  expect(ring().hidden).toBe(true);
  await wait(150);
  expect(ring().hidden).toBe(false);
  expect(find("#grid").dataset.suggested).toBe("42");
  expect(ring().style.transform).toBe("translate(400%, 200%)");
  expect(square(42).getAttribute("aria-label")).toContain("suggested");
  expect(find("#suggestion").textContent).toBe("Suggested: column 5, row 3.");
  square(42).click();
  expect(square(42).getAttribute("aria-label")).toContain("suggested");
  await wait(1400);
  expect(reports[0]).toMatchObject({ advised: 42, advice: "best", advice_seal: "abc", goal: 42 });
  expect(reports[0]!.advice_shown_ms).toBeGreaterThanOrEqual(80);
  expect(reports[0]!.advice_shown_ms).toBeLessThan(150);
});

test("it goes when the choice is over, before the next one is advised", async () => {
  await start({ advise: after(100) });
  await wait(150);
  expect(ring().hidden).toBe(false);
  await wait(1390);
  expect(ring().hidden).toBe(true);
  expect(square(42).getAttribute("aria-label")).not.toContain("suggested");
  expect(find("#suggestion").textContent).toBe("");
  await wait(150);
  expect(ring().hidden).toBe(false);
});

test("one that comes too late is not drawn, and reported as late", async () => {
  const { reports } = await start({ advise: after(400) });
  await wait(600);
  expect(ring().hidden).toBe(true);
  await wait(1000);
  expect(reports[0]).toMatchObject({ advised: 42, advice: "late", advice_seal: "abc", advice_shown_ms: null });
});

test("one that comes after the first click is not drawn", async () => {
  const { reports } = await start({ advise: after(100) });
  square(7).click();
  await wait(1600);
  expect(reports[0]).toMatchObject({ goal: 7, advised: 42, advice: "late", advice_shown_ms: null });
});

test("no answer, and a failed one, are late; silence is reported with its reason", async () => {
  const failing = await start({ advise: () => Promise.reject(new Error("no connection")) });
  await wait(1520);
  expect(failing.reports[0]).toMatchObject({ advised: null, advice: "late", advice_shown_ms: null });
  const silent = await start({ advise: after(50, { arm: null, reason: "worse", seal: "s" }) });
  await wait(1520);
  expect(silent.reports[0]).toMatchObject({ advised: null, advice: "worse", advice_seal: "s", advice_shown_ms: null });
});

test("nobody is asked before advice begins, or where there is none", async () => {
  const advise = vi.fn(after(10));
  const { reports } = await start({ advise, advice_from: 1 });
  await wait(1400);
  expect(advise).not.toHaveBeenCalled();
  await wait(120);
  expect(reports[0]).toMatchObject({ advised: null, advice: null, advice_shown_ms: null });
  await wait(100);
  expect(advise).toHaveBeenCalledExactlyOnceWith(1);
  const none = vi.fn(after(10));
  await start({ advise: none, advice_from: null });
  await wait(1520);
  expect(none).not.toHaveBeenCalled();
});

test("it never moves the focus or the dots", async () => {
  await start({ advise: after(50) });
  square(55).focus();
  await wait(100);
  expect(ring().hidden).toBe(false);
  expect(document.activeElement).toBe(square(55));
  expect(dots()).toEqual([55, 55]);
});

test("a pause takes it away, and the same choice starts over with it, without asking again", async () => {
  const advise = vi.fn(after(50));
  const { reports } = await start({ advise });
  await wait(100);
  setHidden(true);
  expect(ring().hidden).toBe(true);
  setHidden(false);
  find("#resume").click();
  await wait(40);
  expect(ring().hidden).toBe(false);
  expect(advise).toHaveBeenCalledOnce();
  await wait(1500);
  expect(reports[0]).toMatchObject({ trial: 0, pauses: 1, advised: 42, advice: "best" });
  expect(reports[0]!.advice_shown_ms).toBeLessThan(50);
});

test("what was on the screen before a pause was shown, however fast the click after it", async () => {
  const { reports } = await start({ advise: after(50) });
  await wait(100);
  setHidden(true);
  setHidden(false);
  find("#resume").click();
  square(7).click();
  await wait(1600);
  expect(reports[0]).toMatchObject({ goal: 7, pauses: 1, advised: 42, advice: "best", advice_seal: "abc", advice_shown_ms: 0 });
});

test("what a page that was reloaded had shown is reported as shown, and as late only if nobody has seen it", async () => {
  const seen = await start({ advise: after(400, { ...SAID, seen: true }) });
  await wait(1600);
  expect(seen.reports[0]).toMatchObject({ advised: 42, advice: "best", advice_shown_ms: 0 });
  await wait(1600);
  const unseen = await start({ advise: after(400) });
  setHidden(true);
  setHidden(false);
  find("#resume").click();
  square(7).click();
  await wait(1600);
  expect(unseen.reports[0]).toMatchObject({ advice: "late", advice_shown_ms: null });
});

test("whoever gave it is told once it is on the screen", async () => {
  const shown = vi.fn();
  await start({ advise: after(50, { ...SAID, shown }) });
  expect(shown).not.toHaveBeenCalled();
  await wait(100);
  expect(shown).toHaveBeenCalledOnce();
  const late = vi.fn();
  await start({ advise: after(400, { ...SAID, shown: late }) });
  await wait(600);
  expect(late).not.toHaveBeenCalled();
});
