/** What the companion finds of everyone who is playing: a small curve each, sorted by whatever is looked for. */

import type { AssessedPerson, Assessments, Estimate, Found } from "../../api";
import { ago, byId, button, counted, el, percent, setText, whole } from "../elements";
import { placeName } from "./numbers";
import { SortedTable, type Column } from "./sorted-table";
import { inWords, range, spark } from "./spark";

const FORMS = ["linear", "power", "log", "none"];
const NOT_YET = "not assessed yet";

const number = (key: string, title: string, hint: string, of: (found: Found) => number | null | undefined): Column<AssessedPerson> => ({
  key, title, hint, number: true, down: true, value: ({ found }) => (found ? (of(found) ?? null) : null),
});

export class CompanionTable {
  private shown: Assessments | null = null;
  private bounds: [number, number] = [0, 1];
  /** Whose parameters are folded out. */
  private readonly open = new Set<string>();
  private readonly chosen = byId<HTMLSelectElement>("parameter");
  private readonly table = new SortedTable<AssessedPerson>({
    table: "companion", pager: "companion-pager", key: "code", name: (person) => person.code,
    columns: [
      { key: "code", title: "code", value: (person) => person.code },
      { key: "place", title: "block, choice", hint: "of the task blocks", value: (person) => 1e6 * person.block + person.choices },
      { ...number("regret", "regret", "so far in this block (line) and to come (95 % band)", (found) => found.regret.at(-1) ?? 0), number: false },
      ...FORMS.map((form) => number(form, form, `probability that regret has this form at the end of the block`, (found) => found.forms[form])),
      number("to_come", "to come", "expected regret in the rest of the block if they go on as they do", (found) => found.regret_to_come),
      number("advised", "advised", "the same if they did what an adviser suggests", (found) => found.regret_if_advised),
      { key: "weakness", title: "weakness", hint: "sorted by what it costs in a block", down: true, value: ({ found }) => found?.weakness?.cost ?? null },
      { ...number("parameters", "parameters", "with 95 % intervals; sorted by the one chosen above", (found) => this.estimate(found)?.estimate), number: false },
      { key: "age", title: "assessed", hint: "how long ago, and how many choices have been made since", number: true, down: true, value: (person) => (person.made_at === null ? Infinity : -person.made_at) },
    ],
    make: (row) => this.make(row),
    write: (row, person) => this.write(row, person),
  });

  /** `choose` is called with the person who was pressed. */
  constructor(private readonly choose: (code: string) => void) {
    this.chosen.addEventListener("change", () => {
      if (this.shown) this.show(this.shown);
    });
  }

  show(assessments: Assessments): void {
    byId("companion-panel").hidden = !assessments.enabled;
    if (!assessments.enabled) return;
    this.shown = assessments;
    const { people } = assessments;
    const found = people.flatMap((person) => (person.found ? [person.found] : []));
    this.bounds = range(found);
    this.offer(found[0]?.estimates.map((each) => each.parameter) ?? []);
    byId("companion").hidden = people.length === 0;
    setText(byId("companion-status"), people.length ? status(people.length, found.length, assessments.agent) : assessments.why_not || "Nobody is in a task block.");
    this.table.show(people);
  }

  /** Parameters to choose from: those of the agent, which stay the same. */
  private offer(names: string[]): void {
    const select = this.chosen;
    const before = [...select.options].map((option) => option.value);
    (select.parentElement ?? select).hidden = names.length === 0;
    if (names.length === 0 || names.join() === before.join()) return;
    select.replaceChildren(...names.map((name) => new Option(name, name)));
    select.value = names.includes("temperature") ? "temperature" : (names[0] ?? "");
  }

  private estimate(found: Found): Estimate | undefined {
    return found.estimates.find((each) => each.parameter === this.chosen.value);
  }

  private make(row: HTMLTableRowElement): void {
    const cell = (className = ""): HTMLTableCellElement => {
      const made = row.insertCell();
      made.className = className;
      return made;
    };
    const head = el("th", "", button("", () => this.choose(row.dataset["code"] ?? ""), "code"));
    head.scope = "row";
    row.append(head);
    cell();
    cell("curve").append(el("span", "drawn"), el("span", "value"));
    FORMS.forEach(() => cell("number"));
    cell("number");
    cell("number");
    cell("words");
    const details = el("details", "", el("summary"), el("dl", "facts"));
    details.addEventListener("toggle", () => {
      const code = row.dataset["code"] ?? "";
      if (details.open) this.open.add(code);
      else this.open.delete(code);
    });
    cell("estimates").append(details);
    cell("number age");
  }

  private write(row: HTMLTableRowElement, person: AssessedPerson): void {
    const { found } = person;
    row.dataset["code"] = person.code;
    const cells = [...row.cells];
    const text = (k: number, value: string): void => setText(cells[k] as HTMLElement, value);
    setText(row.querySelector(".code") as HTMLElement, person.code);
    text(1, where(person));
    this.draw(cells[2] as HTMLElement, person);
    const likely = found ? Math.max(...FORMS.map((form) => found.forms[form] ?? 0)) : NaN;
    FORMS.forEach((form, k) => {
      const share = found?.forms[form] ?? null;
      text(3 + k, percent(share, 0));
      (cells[3 + k] as HTMLElement).classList.toggle("most", share !== null && share === likely);
    });
    text(7, found ? whole(found.regret_to_come) : "–");
    text(8, found ? whole(found.regret_if_advised) : "–");
    text(9, person.trouble || (found ? weaknessOf(found) : NOT_YET));
    this.fold(cells[10] as HTMLElement, person);
    text(11, person.made_at === null ? "–" : ageOf(person, person.made_at, this.shown?.now ?? 0));
  }

  private draw(cell: HTMLElement, person: AssessedPerson): void {
    const key = JSON.stringify([person.code, person.made_at, this.bounds]);
    if (cell.dataset["of"] === key) return;
    cell.dataset["of"] = key;
    cell.firstElementChild?.replaceChildren(...(person.found ? [spark(person.found, this.bounds)] : []));
    cell.title = person.found ? inWords(person.found) : "";
    setText(cell.lastElementChild as HTMLElement, person.found ? whole(person.found.regret.at(-1) ?? 0) : "–");
  }

  /** All parameters under the one that is chosen. */
  private fold(cell: HTMLElement, person: AssessedPerson): void {
    const details = cell.firstElementChild as HTMLDetailsElement;
    details.hidden = !person.found;
    details.open = this.open.has(person.code);
    if (!person.found) return;
    const chosen = this.estimate(person.found);
    const summary = details.firstElementChild as HTMLElement;
    setText(summary, chosen ? interval(chosen) : "all");
    summary.setAttribute("aria-label", `${chosen?.parameter ?? ""} ${summary.textContent ?? ""}, all parameters`);
    const list = details.lastElementChild as HTMLElement;
    const rest = person.found.estimates.filter((each) => each !== chosen);
    const texts = rest.flatMap((each) => [each.parameter, interval(each)]);
    if (list.childElementCount !== texts.length) list.replaceChildren(...texts.map((_, k) => el(k % 2 ? "dd" : "dt")));
    texts.forEach((each, k) => setText(list.children[k] as HTMLElement, each));
  }
}

function status(n: number, n_found: number, agent: string): string {
  const whom = `${counted(n, "person", "people")} in a task block or just finished, modelled by ${agent}.`;
  return n_found < n ? `${whom} ${whole(n - n_found)} to be assessed; the first takes about a minute.` : whom;
}

function where(person: AssessedPerson): string {
  const at = person.found ? `${person.found.regret.length}/${person.found.n_trials}` : "";
  const place = person.place === "task" ? "" : ` · ${placeName(person.place)}`;
  return `${person.block}${at && ` · ${at}`}${place}`;
}

function weaknessOf(found: Found): string {
  const worst = found.weakness;
  if (!worst) return "none that stands out";
  return `${worst.sentence} It costs them about ${whole(worst.cost)} in a block (probability ${percent(worst.probability, 0)}).`;
}

function ageOf(person: AssessedPerson, made_at: number, now: number): string {
  const since = person.choices - (person.known ?? 0);
  return since > 0 ? `${ago(now - made_at)}, ${counted(since, "choice")} since` : ago(now - made_at);
}

function interval(estimate: Estimate): string {
  const [middle, low, high] = [estimate.estimate, estimate.low, estimate.high].map(three);
  return `${middle} [${low}, ${high}]`;
}

/** Three digits that count. */
const three = (value: number | null): string => (value === null ? "–" : whole3.format(value));
const whole3 = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
