/** The clock of a break. It runs by the server's time, so a reload does not begin it anew. */

import type { ClockShown } from "../../../api";
import { element } from "../../../plugin/dom";
import type { Texts } from "../../texts";
import type { Extra } from "./page-kinds";

const TICK_MS = 200;

export function countdown({ seconds_left, wait }: ClockShown, texts: Texts): Extra {
  const endsAt = performance.now() + 1000 * seconds_left;
  const left = element("p", { class: "countdown", role: "timer", "aria-label": texts.label("break_clock") });
  const said = element("p", { role: "status" }, texts.label(wait ? "break_wait" : "break_free"));
  const content = element("div", { class: "break" }, left, said);
  const open = new Promise<void>((resolve) => {
    const tick = () => {
      const seconds = Math.max(0, Math.ceil((endsAt - performance.now()) / 1000));
      left.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
      if (seconds > 0) return;
      clearInterval(timer);
      said.textContent = texts.label("break_over");
      resolve();
    };
    const timer = setInterval(tick, TICK_MS);
    tick();
  });
  return wait ? { content, open } : { content };
}
