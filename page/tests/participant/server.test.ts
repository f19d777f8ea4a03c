import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Arrived, Shown, State } from "../../api";
import { Api, ServerError } from "../../participant/participant-api";
import { App } from "../../participant/app";
import { EventLog } from "../../participant/events";
import { browserKey, queryOf, randomHex } from "../../participant/identity";

const json = (body: object, status = 200, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json", ...headers } });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function made(answers: (() => Response)[]) {
  const asked: [string, any][] = [];
  vi.stubGlobal("fetch", async (address: string, request: RequestInit) => {
    asked.push([address, request.body ? JSON.parse(String(request.body)) : null]);
    return (answers.shift() ?? (() => json({})))();
  });
  const trouble: (number | null)[] = [];
  return { asked, trouble, api: new Api({ slow: () => undefined, trouble: (attempt) => trouble.push(attempt) }) };
}

const failed = () => { throw new TypeError("Failed to fetch"); };
const state: State = {
  stage: "consent", epoch: 7, language: "en", direction: "ltr", consent_version: "v", html: {}, block: null, page: null, points: 0,
  payment: null, completion: null,
};
const arrived = () => json({ token: "secret", state, pilot: false } satisfies Arrived);
const shown = () => json({ state } satisfies Shown);

test("arriving is attempted again through failures, busy servers and limits", async () => {
  const { api, asked, trouble } = made([failed, () => json({}, 503), () => json({}, 429, { "Retry-After": "3" }), arrived]);
  const state = api.arrive({ page: "p", key: "k", query: {} });
  await vi.advanceTimersByTimeAsync(500 + 1000 + 2999);
  expect(asked).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(1);
  await expect(state).resolves.toMatchObject({ epoch: 7 });
  expect(trouble).toEqual([1, 2, 3, null]);
});

test("a refusal is final and carries the server's word", async () => {
  const { api } = made([arrived, () => json({ error: "taken-over", message: "Elsewhere." }, 409)]);
  await api.arrive({ page: "p", key: "k", query: {} });
  const error = await api.begin(0).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(ServerError);
  expect(error).toMatchObject({ status: 409, word: "taken-over", retry: false, message: "Elsewhere." });
});

test("a page that is seen again says at once that another one has taken over, and goes on where none has", async () => {
  const { api } = made([arrived, shown, () => json({ error: "taken-over", message: "Elsewhere." }, 409)]);
  const app = new App(api, () => undefined);
  await app.seenAgain();
  app.state = await api.arrive({ page: "p", key: "k", query: {} });
  await app.seenAgain();
  expect([app.isOver, app.ending]).toEqual([false, null]);
  await app.seenAgain();
  expect([app.isOver, app.ending]).toEqual([true, { kind: "taken-over" }]);
});

test("every request after arriving names its epoch", async () => {
  const { api, asked } = made([arrived, shown]);
  await api.arrive({ page: "p", key: "k", query: {} });
  await api.consent(true, "v");
  expect(asked[1]).toEqual(["api/consent", { epoch: 7, agreed: true, version: "v" }]);
});

test("a server that never answers is given up after a while", async () => {
  vi.stubGlobal("fetch", (_: string, { signal }: RequestInit) => new Promise((_resolve, reject) => {
    signal!.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
  }));
  const slow = vi.fn();
  const api = new Api({ slow, trouble: () => undefined });
  const choice = api.choice({ block: 0, trial: 0, goal: null, clicks: [], elapsed_ms: 1, pauses: 0, attempt: 1, by_hand: 0 });
  const caught = choice.catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(15_000);
  expect(await caught).toMatchObject({ status: 0, retry: true });
  expect(slow).toHaveBeenCalled();
});

test("events are numbered, sent in batches, and kept until they have arrived", async () => {
  const sent: number[][] = [];
  let works = false;
  const log = new EventLog({
    send: async (events) => {
      if (!works) throw new ServerError(0, "network", "");
      sent.push(events.map(({ number }) => number));
    },
    ready: () => true,
    where: () => ({ block: 1, trial: 2 }),
  });
  for (let count = 0; count < 120; count += 1) log.add("blur");
  await log.flush(false);
  works = true;
  await log.flush(false);
  await log.flush(false);
  await log.flush(false);
  expect(sent.map((batch) => batch.length)).toEqual([100, 20]);
  expect(sent.flat()).toEqual(Array.from({ length: 120 }, (_, number) => number));
});

test("events that the server refuses are not sent for ever", async () => {
  const send = vi.fn(async () => { throw new ServerError(422, "invalid", ""); });
  const log = new EventLog({ send, ready: () => true, where: () => ({ block: null, trial: null }) });
  log.add("blur");
  await log.flush(false);
  await log.flush(false);
  expect(send).toHaveBeenCalledTimes(1);
});

test("the browser is known again, and where storage is blocked the page still works", () => {
  const key = browserKey();
  expect(key).toMatch(/^[0-9a-f]{64}$/);
  expect(browserKey()).toBe(key);
  vi.spyOn(Storage.prototype, "getItem").mockImplementation(() => { throw new DOMException("blocked", "SecurityError"); });
  expect(browserKey()).toMatch(/^[0-9a-f]{64}$/);
  expect(randomHex(16)).not.toBe(randomHex(16));
});

test("the query is sent as far as a platform could have made it", () => {
  expect(queryOf("https://a.example/?PROLIFIC_PID=x&x=1&x=2")).toEqual({ PROLIFIC_PID: "x", x: "2" });
  expect(queryOf(`https://a.example/?${"n".repeat(65)}=1&v=${"v".repeat(2049)}`)).toEqual({});
});
