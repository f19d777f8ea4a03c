/** Asking the server: attempts, time limits, and errors that say whether another attempt makes sense. */

import type { ChoiceAnswer, State } from "./stages";
import type { TextsAnswer } from "./texts";
import { untilDone } from "../plugin/retry";

/** Beside the folder of this script, wherever a proxy puts both. */
const script = document.currentScript as HTMLScriptElement | null;
const API = script?.src ? new URL("../api/", script.src).href : "api/";
const TIME_LIMIT_MS = 15_000;
const SLOW_MS = 1000;

/** The server's "no", or no answer at all. */
export class ServerError extends Error {
  constructor(
    readonly status: number,
    /** The server's word for it, such as "taken-over"; "network" where nothing came back. */
    readonly word: string,
    message: string,
    readonly retryAfterMs = 0,
  ) {
    super(message);
  }

  /** Too busy or not reached: the same request may succeed later. All others are final. */
  get retry(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

export interface ApiParts {
  slow: (ms: number) => void;
  /** Called after a failed attempt, and with null once the server answers again. */
  trouble: (attempt: number | null) => void;
}

export interface ChoiceBody {
  block: number;
  trial: number;
  goal: number | null;
  clicks: [number, number][];
  elapsed_ms: number;
  pauses: number;
  attempt: number;
  by_hand: number;
}

export interface EventBody {
  number: number;
  kind: string;
  block: number | null;
  trial: number | null;
  page_ms: number;
  value: number | null;
}

export class Api {
  /** Whether the server knows this page as a pilot's. */
  isPilot = false;
  private pilotKey = "";
  private token = "";
  private epoch = 0;

  constructor(private readonly parts: ApiParts) {}

  get hasArrived(): boolean {
    return this.token !== "";
  }

  async texts(): Promise<TextsAnswer> {
    return this.untilDone(() => this.once("GET", "texts"));
  }

  async arrive(body: { page: string; key: string; query: Record<string, string> }, pilotKey = ""): Promise<State> {
    this.pilotKey = pilotKey;
    const answer = await this.untilDone<{ token: string; state: State; pilot: boolean }>(() => this.once("POST", "arrive", body));
    this.isPilot = answer.pilot === true;
    this.pilotKey = "";
    this.token = answer.token;
    this.epoch = answer.state.epoch;
    return answer.state;
  }

  state = (): Promise<State> => this.stateFrom("state");
  consent = (agreed: boolean, version: string): Promise<State> => this.stateFrom("consent", { agreed, version });
  begin = (block: number): Promise<State> => this.stateFrom("begin", { block });
  finish = (): Promise<State> => this.stateFrom("finish");
  withdraw = (deleting: boolean): Promise<State> => this.stateFrom("withdraw", { delete: deleting });

  /** One attempt to record a choice; the block itself attempts again, so that it can say so. */
  choice(body: ChoiceBody): Promise<ChoiceAnswer> {
    return this.once("POST", "choice", { epoch: this.epoch, ...body });
  }

  /** One attempt to store events; `keepalive` also while the page is being left. */
  events(events: EventBody[], keepalive: boolean): Promise<unknown> {
    return this.once("POST", "events", { epoch: this.epoch, events }, keepalive);
  }

  private async stateFrom(path: string, body: object = {}): Promise<State> {
    const answer = await this.untilDone<{ state: State }>(() => this.once("POST", path, { epoch: this.epoch, ...body }));
    return answer.state;
  }

  private async untilDone<T>(ask: () => Promise<T>): Promise<T> {
    const answer = await untilDone(ask, {
      later: (callback, ms) => setTimeout(callback, ms),
      failed: (attempt) => this.parts.trouble(attempt),
    });
    this.parts.trouble(null);
    return answer;
  }

  private async once<T>(method: string, path: string, body?: object, keepalive = false): Promise<T> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), TIME_LIMIT_MS);
    const startedAt = performance.now();
    try {
      const response = await fetch(`${API}${path}`, this.request(method, body, keepalive, limit.signal));
      if (!response.ok) throw await refusal(response);
      return (await response.json()) as T;
    } catch (error) {
      if (error instanceof ServerError) throw error;
      throw new ServerError(0, "network", error instanceof Error ? error.message : String(error));
    } finally {
      clearTimeout(timer);
      const took = performance.now() - startedAt;
      if (took > SLOW_MS && path !== "events") this.parts.slow(took);
    }
  }

  private request(method: string, body: object | undefined, keepalive: boolean, signal: AbortSignal): RequestInit {
    const headers: Record<string, string> = {};
    if (body) headers["Content-Type"] = "application/json";
    if (this.pilotKey) headers["X-Pilot-Key"] = this.pilotKey;
    if (this.token) headers["Authorization"] = `Bearer ${this.token}`;
    return { method, headers, body: body ? JSON.stringify(body) : null, keepalive, signal, cache: "no-store", credentials: "omit" };
  }
}

async function refusal(response: Response): Promise<ServerError> {
  let word = "unexpected";
  let message = response.statusText;
  try {
    const answer = (await response.json()) as { error?: string; message?: string };
    word = answer.error ?? word;
    message = answer.message ?? message;
  } catch {
    // A proxy between us and the server may answer in its own words; the status says enough.
  }
  const seconds = Number(response.headers.get("Retry-After"));
  return new ServerError(response.status, word, message, Number.isFinite(seconds) ? seconds * 1000 : 0);
}
