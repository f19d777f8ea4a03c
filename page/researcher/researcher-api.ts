/** What the server is asked, and what it answers. */

export interface Totals {
  arrived: number; consented: number; consent: number; instructions: number; training: number; task: number;
  debriefing: number; finished: number; declined: number; withdrawn: number; gone: number;
  median_minutes_finished: number | null; median_minutes_active: number | null;
  choices: number; choices_last_minute: number; doubted: number;
}
export interface CellCount {
  name: string; timing: string; dynamic: string; landscape: string; second_dynamic: string; active: number; finished: number;
}
export interface Curve {
  dynamic: string; timing: string; n_blocks: number; n_finished: number;
  n: number[]; mean: number[]; low: (number | null)[]; high: (number | null)[];
}
export interface Share { form: string; n: number; share: number | null; low: number | null; high: number | null; paper: number }
export interface Phenotypes { dynamic: string; n: number; shares: Share[] }
export interface Histogram { name: string; bins: string[]; counts: number[] }
export interface Quality {
  missed: number; focus_losses: number; hidden_pauses: number; slow_network: number;
  overrun_median_ms: number | null; overrun_max_ms: number | null;
  timings: { timing: string; choices: number; missed: number }[];
  histograms: Histogram[]; flags: Record<string, number>;
}
export interface Overview {
  name: string; title: string; pilots: boolean; n_people: number; n_pilots: number; n_blocks: number; n_trials: number;
  return_within_minutes: number; totals: Totals; cells: CellCount[]; curves: Curve[]; phenotypes: Phenotypes[]; quality: Quality;
}
export type Cells = (string | number | boolean)[];
export interface People { version: string; now: number; full: boolean; columns: string[]; rows: Cells[] }
export interface Block {
  number: number; kind: string; dynamic: string; timing: string; landscape: string; deadline_ms: number; n_trials: number;
  begun_at: number; missed: number; points: number; regret: number[]; form: string | null;
}
export interface Detail {
  code: string; source: string; pilot: boolean; place: string; cell: string; agent: string | null; epoch: number;
  points: number; bonus: number; currency: string; in_payment_file: boolean; deleted: boolean; doubts: string[];
  arrived_at: number; consented_at: number | null; seen_at: number; finished_at: number | null;
  blocks: Block[]; events: { kind: string; at: number; block: number | null; trial: number | null; value: number | null }[];
}

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
let csrf = "";

/** A request to the server; without a session, the way leads to the login. */
async function ask(path: string, options: RequestInit = {}, patience = PATIENCE_MS): Promise<Response> {
  const answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(patience), ...options });
  if (answer.ok || answer.status === 304) return answer;
  if (answer.status === 401 && path !== LOGIN) location.assign(LOGIN);
  const said = (await answer.json().catch(() => null)) as { message?: string } | null;
  throw new Refused(answer.status, said?.message ?? `The server answered with status ${answer.status}.`);
}

async function get<Type>(path: string): Promise<Type> {
  return (await ask(path)).json() as Promise<Type>;
}

async function change(path: string, body: unknown = {}, patience = PATIENCE_MS): Promise<Response> {
  if (!csrf) csrf = (await get<{ csrf: string }>(`${ADMIN}/api/session`)).csrf;
  const headers = { "Content-Type": "application/json", "X-CSRF-Token": csrf };
  return ask(path, { method: "POST", headers, body: JSON.stringify(body) }, patience);
}

const seen = new Map<boolean, { tag: string; overview: Overview }>();

/** The overview; the same object as before if nothing has changed. */
export async function overview(pilots: boolean): Promise<Overview> {
  const before = seen.get(pilots);
  const headers: HeadersInit = before ? { "If-None-Match": before.tag } : {};
  const answer = await ask(`${ADMIN}/api/overview?pilots=${String(pilots)}`, { headers });
  if (answer.status === 304 && before) return before.overview;
  const now = { tag: answer.headers.get("ETag") ?? "", overview: (await answer.json()) as Overview };
  seen.set(pilots, now);
  return now.overview;
}

/** What is wrong with the server, a sentence each; nothing if all is well. */
export const notices = async (): Promise<string[]> => (await get<{ notices: string[] }>(`${ADMIN}/api/notices`)).notices;
export const people = (since: string): Promise<People> => get(`${ADMIN}/api/people?since=${encodeURIComponent(since)}`);
export const person = (code: string): Promise<Detail> => get(`${ADMIN}/api/people/${encodeURIComponent(code)}`);

export async function deletePerson(code: string, typed: string): Promise<{ n_choices: number }> {
  const answer = await change(`${ADMIN}/api/people/${encodeURIComponent(code)}/delete`, { code: typed });
  return answer.json() as Promise<{ n_choices: number }>;
}

export async function login(password: string): Promise<void> {
  const headers = { "Content-Type": "application/json" };
  await ask(LOGIN, { method: "POST", headers, body: JSON.stringify({ password }) });
}

export async function logout(): Promise<void> {
  await change(`${ADMIN}/logout`);
  location.assign(LOGIN);
}

/** The data as a file: its name and what is in it. Large studies take a while. */
export async function exported(pilots: boolean): Promise<{ name: string; data: Blob }> {
  const answer = await change(`${ADMIN}/api/export?pilots=${pilots ? "only" : "without"}`, {}, 600_000);
  const name = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1] ?? "study.zip";
  return { name, data: await answer.blob() };
}
