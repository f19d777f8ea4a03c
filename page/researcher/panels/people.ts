/** Everyone, in a table of at most 50 rows at a time, which are made once and then changed only where a text differs. */

import type { People, PersonRow } from "../../api";
import { ago, byId, button, counted, el, setText, whole } from "../elements";
import { placeName, PLACES } from "./numbers";

const PAGE = 50;

type Columns = People["columns"];
/** A row with the names of its columns. */
type Person = { [Place in keyof Columns & keyof PersonRow & `${number}` as Columns[Place]]: PersonRow[Place] };
interface Column { key: keyof Person; title: string; number?: boolean; text: (person: Person, now: number) => string }

const count = (key: keyof Person, title: string): Column => ({ key, title, number: true, text: (person) => whole(person[key] as number) });
const COLUMNS: Column[] = [
  { key: "code", title: "code", text: (person) => person.code },
  { key: "source", title: "from", text: (person) => person.source },
  { key: "cell", title: "condition", text: (person) => person.cell.replaceAll("-", " · ") },
  { key: "place", title: "stage", text: (person) => placeName(person.place) },
  { key: "block", title: "block, choice", text: progressText },
  { ...count("points", "points"), key: "points" },
  count("missed", "missed"),
  count("focus_losses", "focus"),
  count("hidden_pauses", "hidden"),
  count("slow_network", "network"),
  { key: "flags", title: "flags", text: (person) => person.flags },
  { key: "doubts", title: "doubts", text: (person) => person.doubts },
  { key: "arrived_at", title: "arrived", number: true, text: (person, now) => ago(now - person.arrived_at) },
  { key: "seen_at", title: "last seen", number: true, text: (person, now) => ago(now - person.seen_at) },
];
const HINTS: Partial<Record<keyof Person, string>> = {
  missed: "deadlines without a click", focus_losses: "times the window lost focus", hidden_pauses: "times the page was hidden",
  slow_network: "times the network was slow, failed or was lost", flags: "choices that the server doubts, by reason",
  doubts: "why this person may not have played by hand or in time: not in choices.csv, and not paid unless named",
};

const isTime = (key: keyof Person): boolean => key === "arrived_at" || key === "seen_at";

function progressText(person: Person): string {
  if (!person.n_blocks || person.block >= person.n_blocks) return "";
  return `${person.block + 1}/${person.n_blocks} · ${person.trial}/${person.n_trials}`;
}

/** The share of all blocks that someone has played, each block counting the same. */
function progress(person: Person): number {
  if (!person.n_blocks) return 0;
  return Math.min(1, (person.block + (person.n_trials ? person.trial / person.n_trials : 0)) / person.n_blocks);
}

export class PeopleTable {
  private readonly people = new Map<string, Person>();
  private readonly rows: HTMLTableRowElement[] = [];
  private readonly heads = new Map<keyof Person, HTMLElement>();
  private readonly place = byId<HTMLSelectElement>("place");
  private readonly find = byId<HTMLInputElement>("find");
  private body = el("tbody");
  // Newest first, an order that does not change while someone reads.
  private key: keyof Person = "arrived_at";
  private down = false;
  private first = 0;
  private now = 0;
  private selected = "";
  pilots = false;

  /** `choose` is called with the person who was pressed. */
  constructor(private readonly choose: (code: string) => void) {
    const options = [["", "everyone"], ["here", "taking part now"], ["doubted", "doubted"], ...Object.entries(PLACES)];
    this.place.append(...options.map(([value, text]) => new Option(text, value)));
    this.place.addEventListener("change", () => this.turn(0));
    this.find.addEventListener("input", () => this.turn(0));
    byId("people").append(el("thead", "", el("tr", "", ...COLUMNS.map((column) => this.head(column)))), this.body);
  }

  /** Takes in what has changed; true if the selected person has. */
  take(news: People): boolean {
    if (news.full) this.people.clear();
    this.now = news.now;
    let touched = news.full;
    for (const cells of news.rows) {
      const person = read(news.columns, cells);
      this.people.set(person.code, person);
      touched ||= person.code === this.selected;
    }
    this.show();
    return touched;
  }

  select(code: string): void {
    this.selected = code;
    this.show();
  }

  filter(place: string): void {
    this.place.value = place;
    this.turn(0);
    byId("people").scrollIntoView({ block: "nearest" });
  }

  show(): void {
    const found = this.found();
    this.first = Math.max(0, Math.min(this.first, PAGE * Math.floor((found.length - 1) / PAGE)));
    const shown = found.slice(this.first, this.first + PAGE);
    while (this.rows.length < shown.length) this.rows.push(this.row());
    this.rows.forEach((row, k) => {
      const person = shown[k];
      row.hidden = !person;
      if (person) this.write(row, person);
    });
    const of = [...this.people.values()].filter((person) => person.pilot === this.pilots).length;
    const [one, many] = this.pilots ? (["robot", "robots"] as const) : (["person", "people"] as const);
    setText(byId("found"), of ? `${whole(found.length)} of ${counted(of, one, many)}` : `No ${many} yet.`);
    this.pages(found.length);
    for (const [key, head] of this.heads) head.setAttribute("aria-sort", key !== this.key ? "none" : this.down ? "descending" : "ascending");
  }

  private found(): Person[] {
    const words = this.find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const place = this.place.value;
    const here = (person: Person): boolean => !["finished", "declined", "withdrawn", "gone"].includes(person.place);
    const found = [...this.people.values()].filter((person) => {
      if (person.pilot !== this.pilots) return false;
      if (place === "doubted" ? !person.doubts : place && (place === "here" ? !here(person) : person.place !== place)) return false;
      const text = `${person.code} ${person.source} ${person.cell} ${person.place} ${person.flags} ${person.doubts}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const sign = this.down ? -1 : 1;
    const value = (person: Person): string | number => {
      if (this.key === "block") return progress(person);
      const own = person[this.key] as string | number;
      return isTime(this.key) ? -own : own; // shown is how long ago it was
    };
    return found.sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      return x === y ? (a.code < b.code ? -1 : 1) : sign * (x < y ? -1 : 1);
    });
  }

  private turn(first: number): void {
    this.first = first;
    this.show();
  }

  private head(column: Column): HTMLElement {
    const press = button(column.title, () => {
      this.down = this.key === column.key ? !this.down : column.number === true && !isTime(column.key);
      this.key = column.key;
      this.turn(0);
    });
    press.title = HINTS[column.key] ?? "";
    const head = el("th", column.number ? "number" : "", press);
    head.scope = "col";
    this.heads.set(column.key, head);
    return head;
  }

  private row(): HTMLTableRowElement {
    const row = el("tr");
    for (const column of COLUMNS) {
      const cell = row.insertCell();
      if (column.number) cell.className = "number";
      if (column.key === "code") cell.append(button("", () => this.choose(row.dataset["code"] ?? ""), "code"));
      else if (column.key === "block") cell.append(el("div", "progress", el("div", "done")), el("span", ""));
      else cell.textContent = "";
      if (column.key === "place") cell.className = "place";
    }
    row.addEventListener("click", (event) => {
      if (!(event.target instanceof HTMLButtonElement)) this.choose(row.dataset["code"] ?? "");
    });
    this.body.append(row);
    return row;
  }

  private write(row: HTMLTableRowElement, person: Person): void {
    row.dataset["code"] = person.code;
    if (row.dataset["place"] !== person.place) row.dataset["place"] = person.place;
    row.classList.toggle("selected", person.code === this.selected);
    COLUMNS.forEach((column, k) => {
      const cell = row.cells[k];
      if (!cell) return;
      const text = column.text(person, this.now);
      setText(column.key === "code" || column.key === "block" ? (cell.lastChild ?? cell) : cell, text);
      if (column.key === "block") {
        const width = `${Math.round(100 * progress(person))}%`;
        const done = cell.querySelector<HTMLElement>(".done");
        if (done && done.style.width !== width) done.style.width = width;
      }
      if (column.number && !isTime(column.key)) cell.classList.toggle("none", text === "0");
    });
  }

  private pages(n: number): void {
    const pager = byId("pager");
    const last = Math.max(0, Math.ceil(n / PAGE) - 1);
    const at = Math.floor(this.first / PAGE);
    if (!pager.firstChild) {
      pager.append(button("‹", () => this.turn(this.first - PAGE)), el("span"), button("›", () => this.turn(this.first + PAGE)));
      pager.firstElementChild?.setAttribute("aria-label", "previous page");
      pager.lastElementChild?.setAttribute("aria-label", "next page");
    }
    pager.hidden = last === 0;
    const [before, text, after] = [...pager.children] as [HTMLButtonElement, HTMLElement, HTMLButtonElement];
    setText(text, `${at + 1} / ${last + 1}`);
    before.disabled = at === 0;
    after.disabled = at === last;
  }
}

/** A row as the server sends it, with the names of its columns. */
function read(columns: Columns, cells: PersonRow): Person {
  return Object.fromEntries(columns.map((name, k) => [name, cells[k]])) as unknown as Person;
}
