/** What a page shows beside its text and its questions, one entry for each kind; most show nothing more. */

import type { PageShown } from "../../../api";
import { element } from "../../../plugin/dom";
import type { PageLabel, Texts } from "../../texts";
import { countdown } from "./countdown";

export interface Extra {
  content: HTMLElement;
  /** Resolves when the page can be left; without it, it always can. */
  open?: Promise<void>;
}

interface Kind {
  /** The heading of a page that has none. */
  title: PageLabel | null;
  extra?: (page: PageShown, texts: Texts) => Extra | null;
}

const KINDS: Record<string, Kind> = {
  text: { title: null },
  form: { title: "form_title" },
  quiz: { title: "quiz_title" },
  break: { title: "break_title", extra: ({ clock }, texts) => clock && countdown(clock, texts) },
  score: { title: "score_title", extra: score },
};

export function titleOf(page: PageShown): PageLabel | null {
  return KINDS[page.kind]?.title ?? null;
}

export function extraOf(page: PageShown, texts: Texts): Extra | null {
  return KINDS[page.kind]?.extra?.(page, texts) ?? null;
}

function score({ score: shown }: PageShown, texts: Texts): Extra | null {
  if (!shown) return null;
  const rows: [PageLabel, string][] = [];
  if (shown.points !== null) rows.push(["total_points", texts.number(shown.points)]);
  if (shown.bonus !== null) rows.push(["payment_bonus", texts.money(shown.bonus, shown.currency)]);
  const lines = rows.map(([name, value]) =>
    element("div", { "data-row": name }, element("dt", {}, texts.label(name)), element("dd", {}, value)));
  return { content: element("dl", { class: "earnings", id: "score" }, ...lines) };
}
