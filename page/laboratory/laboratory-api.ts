/** What the laboratory is asked, and what it answers. */

import type { Me, Refusal } from "../api";
import type { Answered, Asked, Path } from "../paths";

/** The server answered, but not with what was asked for. */
export class Refused extends Error {
  constructor(readonly status: number, readonly word: string, message: string) {
    super(message);
  }
}

const PATIENCE_MS = 30_000;
/** The laboratory beside the folder of this script, wherever a proxy puts both. */
const script = document.currentScript as HTMLScriptElement | null;
export const ROOT = script?.src ? new URL("..", script.src).pathname : "/";
export const LAB = `${ROOT}lab`;
const LOGIN = `${LAB}/login`;
export type LabPath = Extract<Path, `/lab${string}`>;
/** What goes into the braces of an address, in their order. */
export type Parts = readonly (string | number)[];
let csrf = "";

/** Where participants find a study. */
export const participants = (study: string): string => new URL(`${ROOT}s/${study}/`, location.href).href;
/** Where researchers watch a study. */
export const watching = (study: string): string => `${ROOT}s/${study}/admin`;

function address(path: string, parts: Parts): string {
  let n = 0;
  return LAB + path.slice("/lab".length).replace(/\{[^}]*\}/g, () => encodeURIComponent(String(parts[n++])));
}

/** A request to the server; without a session, goes to the login. */
async function ask(at: string, options: RequestInit = {}): Promise<Response> {
  const answer = await fetch(at, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS), ...options });
  if (answer.ok) return answer;
  const said = (await answer.json().catch(() => null)) as Partial<Refusal> | null;
  if (answer.status === 401 && said?.error === "no-session") location.assign(LOGIN);
  throw new Refused(answer.status, said?.error ?? "", said?.message ?? `The server answered with status ${answer.status}.`);
}

/** What is at an address. */
export async function get<P extends LabPath>(path: P, ...parts: Parts): Promise<Answered<P>> {
  return (await ask(address(path, parts))).json() as Promise<Answered<P>>;
}

/** Somebody's name, and their token for changes. */
export async function me(): Promise<Me> {
  const found = await get("/lab/api/me");
  csrf = found.csrf;
  return found;
}

/** Whoever is logged in, if anybody is. */
export async function whoIsHere(): Promise<Me | null> {
  const answer = await fetch(`${LAB}/api/me`, { cache: "no-store" });
  return answer.ok ? me() : null;
}

/** A change; what the server says about it. */
export async function change<P extends LabPath>(path: P, body: Asked<P> | Record<string, never>, ...parts: Parts): Promise<Answered<P>> {
  if (!csrf) await me();
  const answer = await post(address(path, parts), body, { "X-CSRF-Token": csrf });
  return (answer.status === 204 ? {} : await answer.json()) as Answered<P>;
}

function post(at: string, body: object, headers: HeadersInit = {}): Promise<Response> {
  return ask(at, { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(body) });
}

/** What may be asked without a session. */
export async function enter<P extends "/lab/login" | "/lab/join" | "/lab/api/invitation">(path: P, body: Asked<P>): Promise<Answered<P>> {
  return (await post(address(path, []), body)).json() as Promise<Answered<P>>;
}

export async function logout(): Promise<void> {
  await change("/lab/logout", {});
  location.assign(LOGIN);
}

/** A sentence about what went wrong. */
export function inWords(error: unknown): string {
  if (error instanceof Refused) return error.message;
  if (error instanceof DOMException || error instanceof TypeError) return "The server does not answer: try again.";
  return error instanceof Error ? error.message : String(error);
}
