/** Everyone, in a sorted table whose texts are changed only where they differ. */

import type { People, PersonRow } from "../../api";
import { ago, byId, button, counted, el, setText, whole } from "../elements";
import { placeName, PLACES } from "./numbers";
import { SortedTable, type Column } from "./sorted-table";

type Columns = People["columns"];
/** A row with the names of its columns. */
type Person = { [Place in keyof Columns & keyof PersonRow & `${number}` as Columns[Place]]: PersonRow[Place] };
interface Field { key: keyof Person; title: string; number?: boolean; text: (person: Person, now: number) => string }

const count = (key: keyof Person, title: string): Field => ({ key, title, number: true, text: (person) => whole(person[key] as number) });
const FIELDS: Field[] = [
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
  slow_network: "times the network was slow, failed or was lost", flags: "choices that the server doubts, by reason, and attention checks that were failed",
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

/** The fields as columns: times are sorted by how long ago they were, which is what is shown. */
const COLUMNS: Column<Person>[] = FIELDS.map(({ key, title, number }) => ({
  key, title, hint: HINTS[key] ?? "", number: number ?? false, down: number === true && !isTime(key),
  value: (person) => (key === "block" ? progress(person) : isTime(key) ? -(person[key] as number) : (person[key] as string | number)),
}));

export class PeopleTable {
  private readonly people = new Map<string, Person>();
  private readonly place = byId<HTMLSelectElement>("place");
  private readonly find = byId<HTMLInputElement>("find");
  // Newest first, an order that does not change while someone reads.
  private readonly table = new SortedTable<Person>({
    table: "people", pager: "pager", columns: COLUMNS, key: "arrived_at", name: (person) => person.code,
    make: (row) => this.make(row), write: (row, person) => this.write(row, person),
  });
  private now = 0;
  private selected = "";
  pilots = false;

  /** `choose` is called with the person who was pressed. */
  constructor(private readonly choose: (code: string) => void) {
    const options = [["", "everyone"], ["here", "taking part now"], ["doubted", "doubted"], ...Object.entries(PLACES)];
    this.place.append(...options.map(([value, text]) => new Option(text, value)));
    this.place.addEventListener("change", () => this.showFirst());
    this.find.addEventListener("input", () => this.showFirst());
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
    this.showFirst();
    byId("people").scrollIntoView({ block: "nearest" });
  }

  show(): void {
    const found = this.found();
    this.table.show(found);
    const of = [...this.people.values()].filter((person) => person.pilot === this.pilots).length;
    const [one, many] = this.pilots ? (["robot", "robots"] as const) : (["person", "people"] as const);
    setText(byId("found"), of ? `${whole(found.length)} of ${counted(of, one, many)}` : `No ${many} yet.`);
  }

  private showFirst(): void {
    this.table.turn(0);
    this.show();
  }

  private found(): Person[] {
    const words = this.find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const place = this.place.value;
    const here = (person: Person): boolean => !["finished", "screened", "declined", "withdrawn", "gone"].includes(person.place);
    return [...this.people.values()].filter((person) => {
      if (person.pilot !== this.pilots) return false;
      if (place === "doubted" ? !person.doubts : place && (place === "here" ? !here(person) : person.place !== place)) return false;
      const text = `${person.code} ${person.source} ${person.cell} ${person.place} ${person.flags} ${person.doubts}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }

  private make(row: HTMLTableRowElement): void {
    for (const field of FIELDS) {
      const cell = row.insertCell();
      if (field.number) cell.className = "number";
      if (field.key === "code") cell.append(button("", () => this.choose(row.dataset["code"] ?? ""), "code"));
      else if (field.key === "block") cell.append(el("div", "progress", el("div", "done")), el("span", ""));
      else cell.textContent = "";
      if (field.key === "place") cell.className = "place";
    }
    row.addEventListener("click", (event) => {
      if (!(event.target instanceof HTMLButtonElement)) this.choose(row.dataset["code"] ?? "");
    });
  }

  private write(row: HTMLTableRowElement, person: Person): void {
    row.dataset["code"] = person.code;
    if (row.dataset["place"] !== person.place) row.dataset["place"] = person.place;
    row.classList.toggle("selected", person.code === this.selected);
    FIELDS.forEach((field, k) => {
      const cell = row.cells[k];
      if (!cell) return;
      const text = field.text(person, this.now);
      setText(field.key === "code" || field.key === "block" ? (cell.lastChild ?? cell) : cell, text);
      if (field.key === "block") {
        const width = `${Math.round(100 * progress(person))}%`;
        const done = cell.querySelector<HTMLElement>(".done");
        if (done && done.style.width !== width) done.style.width = width;
      }
      if (field.number && !isTime(field.key)) cell.classList.toggle("none", text === "0");
    });
  }
}

/** A row as the server sends it, with the names of its columns. */
function read(columns: Columns, cells: PersonRow): Person {
  return Object.fromEntries(columns.map((name, k) => [name, cells[k]])) as unknown as Person;
}
