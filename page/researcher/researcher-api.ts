/** What the server is asked, and what it answers. */

import type { Assessments, Deleted, Overview, People, PersonDetail, Refusal, SessionInfo } from "../api";
import type { Answered, Asked, Path, Query } from "../paths";

/** The server answered, but not with what was asked for. */
export class Refused extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

const PATIENCE_MS = 15_000;
/** The researcher's page beside the folder of this script, wherever a proxy puts both. */
const script = document.currentScript as HTMLScriptElement | null;
export const ADMIN = script?.src ? new URL("../admin", script.src).pathname : "/admin";
const LOGIN = `${ADMIN}/login`;
type AdminPath = Extract<Path, `/admin${string}`>;
const JSON_BODY = { "Content-Type": "application/json" };
let csrf = "";

/** The server's address for this path, person and query. */
function address<P extends AdminPath>(path: P, code = "", query?: Query<P>): string {
  const words = new URLSearchParams(Object.entries(query ?? {}).map(([name, value]) => [name, String(value)])).toString();
  return ADMIN + path.slice("/admin".length).replace("{code}", encodeURIComponent(code)) + (words && `?${words}`);
}

/** A request to the server; without a session, goes to the login. */
async function ask(at: string, options: RequestInit = {}, patience = PATIENCE_MS): Promise<Response> {
  const answer = await fetch(at, { cache: "no-store", signal: AbortSignal.timeout(patience), ...options });
  if (answer.ok || answer.status === 304) return answer;
  if (answer.status === 401 && at !== LOGIN) location.assign(LOGIN);
  const said = (await answer.json().catch(() => null)) as Partial<Refusal> | null;
  throw new Refused(answer.status, said?.message ?? `The server answered with status ${answer.status}.`);
}

async function get<P extends AdminPath>(path: P, code = "", query?: Query<P>): Promise<Answered<P>> {
  return (await ask(address(path, code, query))).json() as Promise<Answered<P>>;
}

/** What whoever is logged in may do, and where the laboratory is, if the study belongs to one. */
export async function session(): Promise<SessionInfo> {
  const info = await get("/admin/api/session");
  csrf = info.csrf;
  return info;
}

async function change(at: string, body: object = {}, patience = PATIENCE_MS): Promise<Response> {
  if (!csrf) await session();
  return ask(at, { method: "POST", headers: { ...JSON_BODY, "X-CSRF-Token": csrf }, body: JSON.stringify(body) }, patience);
}

const seen = new Map<boolean, { tag: string; overview: Overview }>();

/** The overview; the same object as before if nothing has changed. */
export async function overview(pilots: boolean): Promise<Overview> {
  const before = seen.get(pilots);
  const headers: HeadersInit = before ? { "If-None-Match": before.tag } : {};
  const answer = await ask(address("/admin/api/overview", "", { pilots }), { headers });
  if (answer.status === 304 && before) return before.overview;
  const now = { tag: answer.headers.get("ETag") ?? "", overview: (await answer.json()) as Overview };
  seen.set(pilots, now);
  return now.overview;
}

/** What is wrong with the server, a sentence each; nothing if all is well. */
export const notices = async (): Promise<string[]> => (await get("/admin/api/notices")).notices;
/** What the companion finds of everyone who is playing; while it is asked for, it is brought up to date. */
export const assessments = (pilots: boolean): Promise<Assessments> => get("/admin/api/assessments", "", { pilots });
export const people = (since: string): Promise<People> => get("/admin/api/people", "", { since });
export const person = (code: string): Promise<PersonDetail> => get("/admin/api/people/{code}", code);

export async function deletePerson(code: string, typed: string): Promise<Deleted> {
  const path = "/admin/api/people/{code}/delete";
  const body: Asked<typeof path> = { code: typed };
  return (await change(address(path, code), body)).json() as Promise<Answered<typeof path>>;
}

export async function login(password: string): Promise<void> {
  const body: Asked<"/admin/login"> = { password };
  await ask(LOGIN, { method: "POST", headers: JSON_BODY, body: JSON.stringify(body) });
}

export async function logout(): Promise<void> {
  await change(address("/admin/logout"));
  location.assign(LOGIN);
}

/** The data as a file: its name and what is in it. Large studies take a while. */
export async function exported(pilots: boolean): Promise<{ name: string; data: Blob }> {
  const answer = await change(address("/admin/api/export", "", { pilots: pilots ? "only" : "without" }), {}, 600_000);
  const name = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1] ?? "study.zip";
  return { name, data: await answer.blob() };
}
