/** One person: what they have done, what happened in their browser, and the deletion of all of it. */

import type { PersonBlock, PersonDetail, PersonPage } from "../../api";
import { deletePerson, person, Refused } from "../researcher-api";
import { colourOf, dashOf } from "./colours";
import { byId, button, clock, counted, day, el, fixed, svg, whole } from "../elements";
import { placeName } from "./numbers";
import { swatch } from "./swatch";

const WIDTH = 340;
const HEIGHT = 120;

export class PersonPanel {
  private readonly panel = byId("person");
  private readonly dialog = byId<HTMLDialogElement>("delete");
  code = "";
  /** Whether to offer the deletion of people's data. */
  mayDelete = true;

  /** `changed` is called with the person shown, or nobody; `timings` are the study's, in its order. */
  constructor(private readonly changed: (detail: PersonDetail | null) => void, private readonly timings: () => string[]) {
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.code && !this.dialog.open) this.close();
    });
  }

  async open(code: string): Promise<void> {
    this.code = code;
    const detail = await person(code);
    if (this.code !== code) return; // another person was selected meanwhile
    this.show(detail);
    this.changed(detail);
  }

  close(): void {
    this.code = "";
    this.panel.hidden = true;
    document.body.classList.remove("with-person");
    this.changed(null);
  }

  private show(detail: PersonDetail): void {
    const top = this.panel.scrollTop;
    const close = button("×", () => this.close(), "plain");
    close.setAttribute("aria-label", "close");
    this.panel.replaceChildren(el("div", "heading", el("h2", "", detail.code), close), facts(detail));
    const played = detail.blocks.filter((block) => block.regret.length);
    if (played.length) this.panel.append(el("h3", "", "Regret"), drawing(played, this.timings()), blocks(played, this.timings()));
    if (detail.pages.length) this.panel.append(el("h3", "", "Pages"), pages(detail.pages));
    if (detail.events.length) this.panel.append(el("h3", "", "Last events"), events(detail));
    if (!detail.deleted && this.mayDelete) this.panel.append(button("Delete this person’s data …", () => this.ask(detail), "danger"));
    this.panel.hidden = false;
    this.panel.scrollTop = top;
    document.body.classList.add("with-person");
  }

  /** Asks for the code to be typed; nothing is deleted before. */
  private ask(detail: PersonDetail): void {
    const typed = el("input");
    typed.id = "typed";
    typed.autocomplete = "off";
    typed.spellcheck = false;
    const label = el("label", "", "To delete, type the code ", el("b", "", detail.code));
    label.htmlFor = "typed";
    const sure = button("Delete permanently", () => void this.remove(detail, typed.value, message, sure), "danger");
    sure.disabled = true;
    typed.addEventListener("input", () => (sure.disabled = typed.value.trim() !== detail.code));
    const message = el("p", "message");
    message.setAttribute("role", "alert");
    const choices = detail.blocks.reduce((sum, block) => sum + block.regret.length, 0);
    const owed = detail.finished_at !== null && !detail.in_payment_file && !detail.pilot;
    const unpaid = `Their bonus of ${fixed(detail.bonus, 2)} ${detail.currency} is not in a payment file yet and could not be paid afterwards.`;
    this.dialog.replaceChildren(
      el("h2", "", "Delete a person’s data"),
      el("p", "", `${counted(choices, "choice")}, all events and answers, the consent, and their platform ID will be deleted. ` +
        "This cannot be undone. Only the code is kept, so that the same person cannot take part again."),
      ...(owed ? [el("p", "warning", unpaid)] : []),
      label, typed, message,
      el("div", "actions", button("Keep", () => this.dialog.close()), sure),
    );
    this.dialog.showModal();
    typed.focus();
  }

  private async remove(detail: PersonDetail, typed: string, message: HTMLElement, sure: HTMLButtonElement): Promise<void> {
    sure.disabled = true;
    try {
      await deletePerson(detail.code, typed.trim());
      this.dialog.close();
      await this.open(detail.code);
    } catch (error) {
      message.textContent = error instanceof Refused ? error.message : "The server does not answer; the data may not have been deleted.";
      sure.disabled = false;
    }
  }
}

function facts(detail: PersonDetail): HTMLElement {
  const lines: [string, string][] = [
    ["stage", detail.deleted ? "withdrawn, data deleted" : placeName(detail.place)],
    ["doubts", detail.doubts.join("; ")],
    ["left out", detail.excluded.join("; ")],
    ["from", detail.source],
    ["condition", detail.cell.replaceAll("-", " · ")],
    ["agent", detail.agent ?? ""],
    ["points", detail.deleted ? "" : `${whole(detail.points)} (bonus ${fixed(detail.bonus, 2)} ${detail.currency})`],
    ["payment", detail.in_payment_file ? "in a payment file" : ""],
    ["arrived", day(detail.arrived_at)],
    ["consented", detail.consented_at === null ? "" : day(detail.consented_at)],
    ["last seen", day(detail.seen_at)],
    ["finished", detail.finished_at === null ? "" : day(detail.finished_at)],
    ["page loads", whole(detail.epoch)],
  ];
  const told = lines.filter(([, text]) => text);
  return el("dl", "facts", ...told.flatMap(([name, text]) => [el("dt", "", name), el("dd", "", text)]));
}

/** As in the chart; training is grey. */
const colour = (block: PersonBlock, timings: string[]): string => (block.kind === "task" ? colourOf(timings, block.line) : "#98a2aa");

/** Thin curves of regret, one for each block. */
function drawing(played: PersonBlock[], timings: string[]): SVGElement {
  const longest = Math.max(2, ...played.map((block) => block.n_trials));
  const top = Math.max(1, ...played.flatMap((block) => block.regret));
  const bottom = Math.min(0, ...played.flatMap((block) => block.regret));
  const x = (t: number): string => ((WIDTH * t) / longest).toFixed(1);
  const y = (value: number): string => (HEIGHT - (HEIGHT * (value - bottom)) / (top - bottom)).toFixed(1);
  const lines = played.map((block) =>
    svg("polyline", {
      points: [`0,${y(0)}`, ...block.regret.map((value, k) => `${x(k + 1)},${y(value)}`)].join(" "),
      fill: "none", stroke: colour(block, timings), "stroke-width": 1.25,
      "stroke-dasharray": dashOf(timings, block.line).join(" ") || "none",
    }));
  const floor = svg("line", { x1: 0, x2: WIDTH, y1: y(0), y2: y(0), stroke: "#c5ccd2" });
  return svg("svg", { viewBox: `0 -4 ${WIDTH} ${HEIGHT + 8}`, class: "drawing", role: "img", "aria-label": "curves of regret" }, floor, ...lines);
}

function blocks(played: PersonBlock[], timings: string[]): HTMLElement {
  const rows = played.map((block) => {
    const name = block.kind === "task" ? `${block.panel}, ${block.line}, ${block.landscape}` : `training (${block.dynamic})`;
    const numbers = [`${block.regret.length}/${block.n_trials}`, whole(block.missed), whole(block.regret.at(-1) ?? 0)];
    return el("tr", "", el("td", "", swatch(colour(block, timings), dashOf(timings, block.line), 1.5), ` ${name}`),
      ...numbers.map((text) => el("td", "number", text)), el("td", "", block.form ?? ""));
  });
  const heads = ["block", "choices", "missed", "regret", "form"].map((text, k) => el("th", k > 0 && k < 4 ? "number" : "", text));
  return el("table", "dense", el("thead", "", el("tr", "", ...heads)), el("tbody", "", ...rows));
}

/** The study's own pages: how long each was shown, and what was not answered as expected. */
function pages(left: PersonPage[]): HTMLElement {
  const rows = left.map(({ page, attempt, seconds, passed, wrong }) => {
    const name = attempt > 1 ? `${page}, time ${attempt}` : page;
    const said = wrong.length ? `${passed === null ? "failed" : "wrong"}: ${wrong.join(", ")}` : passed ? "passed" : "";
    return el("tr", "", el("td", "", name), el("td", "number", seconds === null ? "" : `${whole(seconds)} s`), el("td", "", said));
  });
  const heads = ["page", "time", "answers"].map((text, k) => el("th", k === 1 ? "number" : "", text));
  return el("table", "dense", el("thead", "", el("tr", "", ...heads)), el("tbody", "", ...rows));
}

function events(detail: PersonDetail): HTMLElement {
  const rows = detail.events.map((event) => {
    const where = event.block === null ? "" : `${event.block + 1} · ${(event.trial ?? 0) + 1}`;
    return el("tr", "", el("td", "", clock(event.at)), el("td", "", event.kind), el("td", "", where), el("td", "number", event.value === null ? "" : String(event.value)));
  });
  const heads = ["time", "event", "block · choice", "value"].map((text) => el("th", "", text));
  return el("table", "dense", el("thead", "", el("tr", "", ...heads)), el("tbody", "", ...rows));
}
