/** The strip of numbers: how many people are where, how long it takes, what has been stored. */

import type { Overview, Totals } from "../../api";
import { byId, button, el, fixed, setText, whole } from "../elements";

export const PLACES = {
  consent: "at consent",
  instructions: "instructions",
  training: "in training",
  task: "in task",
  at_page: "on a page",
  debriefing: "debriefing",
  finished: "finished",
  screened: "failed a quiz",
  declined: "declined",
  withdrawn: "withdrawn",
  gone: "gone",
} satisfies Partial<Record<keyof Totals, string>>;
type Place = keyof typeof PLACES;

/** The name of a place; if unknown, the server's own word. */
export const placeName = (place: string): string => PLACES[place as Place] ?? place;

export class Numbers {
  private readonly values = new Map<string, HTMLElement>();

  /** `choose` is called with the place that was pressed. */
  constructor(private readonly choose: (place: string) => void) {
    const tiles = [
      this.tile("arrived", "arrived", () => this.choose("")),
      this.tile("consented", "consented"),
      ...Object.entries(PLACES).map(([place, text]) => this.tile(place, text, () => this.choose(place))),
      this.tile("doubted", "doubted", () => this.choose("doubted")),
      this.tile("others", "robots"),
      this.tile("time", "median time, min"),
      this.tile("choices", "choices stored"),
      this.tile("lately", "in the last minute"),
    ];
    byId("numbers").replaceChildren(...tiles);
  }

  show(overview: Overview): void {
    const totals = overview.totals;
    const texts: Record<string, string> = {
      arrived: whole(totals.arrived),
      consented: whole(totals.consented),
      doubted: whole(totals.doubted),
      others: whole(overview.pilots ? overview.n_people : overview.n_pilots),
      time: fixed(totals.median_minutes_finished ?? totals.median_minutes_active, 1),
      choices: whole(totals.choices),
      lately: whole(totals.choices_last_minute),
    };
    for (const place of Object.keys(PLACES) as Place[]) texts[place] = whole(totals[place]);
    for (const [name, text] of Object.entries(texts)) this.set(name, text);
    this.label("others", overview.pilots ? "people" : "robots");
    const finished = totals.median_minutes_finished !== null;
    this.label("time", finished ? "min to finish, median" : "min so far, median");
    const so_far = totals.median_minutes_active;
    this.title("time", so_far === null ? "" : `People taking part now arrived ${fixed(so_far, 1)} min ago (median).`);
    this.title("gone", `Not seen for more than ${whole(overview.return_within_minutes)} min: they cannot come back.`);
    this.title("doubted", "May not have played by hand or in time: not in choices.csv, and not paid unless named.");
    this.title("consented", "Everyone who agreed, wherever they are now.");
  }

  private tile(name: string, text: string, press?: () => void): HTMLElement {
    const value = el("strong", "", "–");
    this.values.set(name, value);
    const label = el("span", "", text);
    const tile = press ? button("", press, `tile ${name}`) : el("div", `tile ${name}`);
    tile.append(value, label);
    return tile;
  }

  private set(name: string, text: string): void {
    const value = this.values.get(name);
    if (!value) return;
    setText(value, text);
    value.parentElement?.classList.toggle("none", text === "0");
  }

  private label(name: string, text: string): void {
    const label = this.values.get(name)?.nextSibling;
    if (label) setText(label, text);
  }

  private title(name: string, text: string): void {
    const tile = this.values.get(name)?.parentElement;
    if (tile && tile.title !== text) tile.title = text;
  }
}
