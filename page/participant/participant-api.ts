/** Asking the server: attempts, time limits, and errors that say whether another attempt makes sense. */

import type { Advised, Arriving, Choosing, Chosen, Happened, Leaving, Left, Refusal, State, Texts, Told } from "../api";
import type { Answered, Asked, Path } from "../paths";
import { untilDone } from "../plugin/retry";

/** The server's root, which contains this script's folder, wherever a proxy puts both. */
const script = document.currentScript as HTMLScriptElement | null;
const ROOT = script?.src ? new URL("..", script.src).href : "";
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
  trouble: (attempt: number | null, error?: unknown) => void;
}

/** Requests that are answered with what to show next. */
type Step = "/api/state" | "/api/consent" | "/api/begin" | "/api/finish" | "/api/withdraw";

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

  /** The name of the person for this server, which says nothing about them. */
  get person(): string {
    return this.token.split(".")[0] ?? "";
  }

  /** The short texts in this language or, if none is named, in one that the browser prefers. */
  async texts(language = ""): Promise<Texts> {
    return this.untilDone(() => this.once("/api/texts", undefined, false, language ? `?lang=${encodeURIComponent(language)}` : ""));
  }

  async arrive(body: Arriving, pilotKey = ""): Promise<State> {
    this.pilotKey = pilotKey;
    const answer = await this.untilDone(() => this.once("/api/arrive", body));
    this.isPilot = answer.pilot;
    this.pilotKey = "";
    this.token = answer.token;
    this.epoch = answer.state.epoch;
    return answer.state;
  }

  state = (): Promise<State> => this.step("/api/state", { epoch: this.epoch });
  consent = (agreed: boolean, version: string): Promise<State> => this.step("/api/consent", { epoch: this.epoch, agreed, version });
  begin = (block: number): Promise<State> => this.step("/api/begin", { epoch: this.epoch, block });
  finish = (): Promise<State> => this.step("/api/finish", { epoch: this.epoch });
  page = (report: Omit<Leaving, "epoch">): Promise<Left> => this.untilDone(() => this.once("/api/page", { epoch: this.epoch, ...report }));
  withdraw = (deleting: boolean): Promise<State> => this.step("/api/withdraw", { epoch: this.epoch, delete: deleting });

  /** One attempt to record a choice; the block itself attempts again, so that it can say so. */
  choice(body: Omit<Choosing, "epoch">): Promise<Chosen> {
    return this.once("/api/choice", { epoch: this.epoch, ...body });
  }

  /** One attempt to get advice; the server answers in time, with or without. */
  advice(block: number, trial: number): Promise<Advised> {
    return this.once("/api/advice", { epoch: this.epoch, block, trial });
  }

  /** One attempt to store events; `keepalive` makes it work even while the page is being left. */
  events(events: Happened[], keepalive: boolean): Promise<Told> {
    return this.once("/api/events", { epoch: this.epoch, events }, keepalive);
  }

  private async step<P extends Step>(path: P, body: Asked<P>): Promise<State> {
    const answer: Answered<Step> = await this.untilDone(() => this.once(path, body));
    return answer.state;
  }

  private async untilDone<T>(ask: () => Promise<T>): Promise<T> {
    const answer = await untilDone(ask, {
      later: (callback, ms) => setTimeout(callback, ms),
      failed: (attempt, error) => this.parts.trouble(attempt, error),
    });
    this.parts.trouble(null);
    return answer;
  }

  private async once<P extends Path>(path: P, body?: Asked<P>, keepalive = false, query = ""): Promise<Answered<P>> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), TIME_LIMIT_MS);
    const startedAt = performance.now();
    try {
      const response = await fetch(`${ROOT}${path.slice(1)}${query}`, this.request(body, keepalive, limit.signal));
      if (!response.ok) throw await refusal(response);
      return (await response.json()) as Answered<P>;
    } catch (error) {
      if (error instanceof ServerError) throw error;
      throw new ServerError(0, "network", error instanceof Error ? error.message : String(error));
    } finally {
      clearTimeout(timer);
      const took = performance.now() - startedAt;
      if (took > SLOW_MS && path !== "/api/events" && path !== "/api/advice") this.parts.slow(took);
    }
  }

  private request(body: object | undefined, keepalive: boolean, signal: AbortSignal): RequestInit {
    const headers: Record<string, string> = {};
    if (body) headers["Content-Type"] = "application/json";
    if (this.pilotKey) headers["X-Pilot-Key"] = this.pilotKey;
    if (this.token) headers["Authorization"] = `Bearer ${this.token}`;
    return { method: body ? "POST" : "GET", headers, body: body ? JSON.stringify(body) : null, keepalive, signal, cache: "no-store", credentials: "omit" };
  }
}

async function refusal(response: Response): Promise<ServerError> {
  let word = "unexpected";
  let message = response.statusText;
  try {
    const answer = (await response.json()) as Partial<Refusal>;
    word = answer.error ?? word;
    message = answer.message ?? message;
  } catch {
    // A proxy between us and the server may answer in its own words; the status says enough.
  }
  const seconds = Number(response.headers.get("Retry-After"));
  return new ServerError(response.status, word, message, Number.isFinite(seconds) ? seconds * 1000 : 0);
}
