/** The researcher's page: polls the server every five seconds while someone is looking, and shows what has changed. */

import "./language"; // Before the chart, whose library needs it.
import type { Overview, PersonDetail, SessionInfo } from "../api";
import { ADMIN, assessments, exported, logout, notices, overview, people, Refused, session } from "./researcher-api";
import { showAdvice } from "./panels/advice";
import { showBalance } from "./panels/balance";
import { RegretChart } from "./panels/chart";
import { CompanionTable } from "./panels/companion";
import { byId, setText } from "./elements";
import { FormShares } from "./panels/forms";
import { prepareLogin } from "./login";
import { Numbers } from "./panels/numbers";
import { PeopleTable } from "./panels/people";
import { PersonPanel } from "./panels/person";
import { showQuality } from "./panels/quality";

const EVERY_MS = 5000;

class Page {
  private readonly chart = new RegretChart();
  private readonly forms = new FormShares();
  private readonly companion = new CompanionTable((code) => this.choose(code));
  private readonly table = new PeopleTable((code) => this.choose(code));
  private readonly numbers = new Numbers((place) => this.table.filter(place));
  private readonly panel = new PersonPanel(
    (detail) => this.chosen(detail),
    () => [...new Set(this.shown?.curves.map((curve) => curve.timing))],
  );
  private person: PersonDetail | null = null;
  private shown: Overview | null = null;
  private version = "";
  private pilots = false;
  private answered = "";
  private running = false;
  private again = false;
  private timer = 0;

  start(): void {
    byId("show-people").addEventListener("click", () => this.switchTo(false));
    byId("show-pilots").addEventListener("click", () => this.switchTo(true));
    byId("logout").addEventListener("click", () => void logout().catch((error: unknown) => this.failed(error)));
    byId("download").addEventListener("click", () => void this.download());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) void this.refresh();
    });
    void this.refresh();
    session().then((info) => this.allow(info), (error: unknown) => this.failed(error));
  }

  /** Shows only what whoever is logged in may do, and the way back to the laboratory. */
  private allow({ rights, laboratory }: SessionInfo): void {
    byId("download").hidden = !rights.includes("run");
    this.panel.mayDelete = rights.includes("own");
    if (!laboratory) return;
    const back = byId<HTMLAnchorElement>("laboratory");
    back.href = new URL(laboratory, new URL(`${ADMIN.replace(/admin$/, "")}`, location.href)).href;
    back.hidden = false;
  }

  /** One look at the server; the next follows in five seconds, or when someone looks again. */
  private async refresh(): Promise<void> {
    if (this.running) {
      this.again = true;
      return;
    }
    this.running = true;
    clearTimeout(this.timer);
    try {
      const asked = [overview(this.pilots), people(this.version), notices(), assessments(this.pilots)] as const;
      const [all, everyone, told, assessed] = await Promise.all(asked);
      this.version = everyone.version;
      this.show(all);
      this.companion.show(assessed);
      if (this.table.take(everyone) && this.panel.code) await this.panel.open(this.panel.code);
      this.answered = new Date().toLocaleTimeString();
      setText(byId("status"), `Updated ${this.answered}, every 5 s`);
      this.tell(told);
    } catch (error) {
      this.failed(error);
    } finally {
      this.running = false;
      // Nobody looks at a hidden page, so it does not poll until it is seen again.
      if (!document.hidden) this.timer = window.setTimeout(() => void this.refresh(), this.again ? 0 : EVERY_MS);
      this.again = false;
    }
  }

  private show(all: Overview): void {
    byId("page").hidden = false;
    if (all === this.shown) return;
    this.shown = all;
    setText(byId("title"), all.title);
    if (document.title !== all.title) document.title = all.title;
    this.numbers.show(all);
    this.chart.show(all.curves, this.person, all.n_trials);
    this.forms.show(all.phenotypes);
    showBalance(all.cells);
    showQuality(all.quality);
    showAdvice(all.advice);
  }

  /** Shows sentences at the top of the page; hides the box if there are none. */
  private tell(sentences: string[]): void {
    setText(byId("trouble"), sentences.join("\n"));
    byId("trouble").hidden = sentences.length === 0;
  }

  private failed(error: unknown): void {
    const since = this.answered ? `since ${this.answered}` : "yet";
    this.tell([error instanceof Refused ? error.message : `The server has not answered ${since}. Trying again every 5 s.`]);
    setText(byId("status"), this.answered ? `Data from ${this.answered}` : "");
  }

  private switchTo(pilots: boolean): void {
    this.pilots = this.table.pilots = pilots;
    byId("show-people").setAttribute("aria-pressed", String(!pilots));
    byId("show-pilots").setAttribute("aria-pressed", String(pilots));
    this.table.show();
    void this.refresh();
  }

  private choose(code: string): void {
    this.table.select(code);
    this.panel.open(code).catch((error: unknown) => this.failed(error));
  }

  private chosen(detail: PersonDetail | null): void {
    this.person = detail;
    if (!detail) this.table.select("");
    if (this.shown) this.chart.show(this.shown.curves, detail, this.shown.n_trials);
  }

  private async download(): Promise<void> {
    const press = byId<HTMLButtonElement>("download");
    press.disabled = true;
    setText(press, "Preparing …");
    try {
      const { name, data } = await exported(this.pilots);
      const link = document.createElement("a");
      link.href = URL.createObjectURL(data);
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    } catch (error) {
      this.failed(error);
    } finally {
      press.disabled = false;
      setText(press, "Download data");
    }
  }
}

const form = document.getElementById("login");
if (form instanceof HTMLFormElement) prepareLogin(form);
else new Page().start();
