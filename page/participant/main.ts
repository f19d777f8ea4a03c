/** The participant's page: arrives at the server, plays through jsPsych, shows the last screen. */

import { initJsPsych } from "jspsych";
import type { State } from "../api";
import { Api, ServerError } from "./participant-api";
import { App } from "./app";
import { finishedScreen } from "./screens/finished";
import { browserKey, pilotKey, queryOf, randomHex } from "./identity";
import { Notice } from "./screens/notice";
import { elsewhere, errorScreen, notOpen, screenedOut, takenOver, titledPage } from "./screens/sheets";
import { PLAYED } from "./stages";
import { beforeTexts, whatHappened } from "./refusals";
import { Texts } from "./texts";
import { studyTimeline } from "./timeline";
import { offerWithdrawal } from "./screens/withdraw";

const main = document.getElementById("main")!;
const withdraw = document.getElementById("withdraw") as HTMLButtonElement;
const pilot = pilotKey(location.href);
const query = queryOf(location.href, pilot !== "");
const notice = new Notice(document.getElementById("notice")!);
const api = new Api({
  slow: (ms) => app.log.add("slow", Math.round(ms)),
  trouble: (attempt, error) => {
    notice.trouble(attempt, error);
    // The line at the top lies behind an open dialog.
    const inDialog = document.getElementById("withdraw-note");
    if (inDialog) inDialog.textContent = notice.text;
    if (attempt !== null) app.log.add("retry", attempt);
  },
});
const app = new App(api, screenIsShown);

void start();

async function start(): Promise<void> {
  app.log.listen();
  window.addEventListener("beforeunload", (event) => {
    if (!app.isPlaying) return;
    event.preventDefault();
    event.returnValue = ""; // What older browsers want instead.
  });
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) void app.seenAgain();
  });
  try {
    await arrive();
  } catch (error) {
    // Without an arrival there is no study to continue.
    if (app.texts && error instanceof ServerError && error.word === "elsewhere") showLast(elsewhere(app.texts), "elsewhere");
    else if (app.texts && error instanceof ServerError && error.word === "closed") showLast(notOpen(app.texts), "closed");
    else if (app.texts) showLast(errorScreen(app.texts, whatHappened(app.texts, error, true)));
    else main.textContent = beforeTexts("not_loaded");
    return;
  }
  try {
    if (PLAYED.includes(app.state.stage)) await play();
  } catch (error) {
    app.fail(error);
  }
  showEnd();
}

async function arrive(): Promise<void> {
  speak(new Texts(await api.texts(query.lang)));
  app.state = await api.arrive({ page: randomHex(16), key: browserKey(), query }, pilot);
  // Whoever has agreed goes on in the language in which they did, whatever the link or the browser says now.
  if (app.state.language !== app.texts.language) speak(new Texts(await api.texts(app.state.language)));
  if (navigator.webdriver) app.log.add("webdriver");
}

function speak(texts: Texts): void {
  app.texts = texts;
  notice.texts = texts;
  document.documentElement.lang = texts.language;
  document.documentElement.dir = texts.direction;
  document.title = texts.title;
  document.getElementById("title")!.textContent = texts.title;
}

async function play(): Promise<void> {
  const { texts } = app;
  offerWithdrawal(withdraw, {
    texts,
    opened: () => app.pause(),
    closed: () => app.resume(),
    withdraw: (deleting) => app.withdraw(deleting),
  });
  main.replaceChildren();
  const jsPsych = initJsPsych({
    display_element: main,
    // There is no sound; browsers would complain about an audio context that nobody asked for.
    use_webaudio: false,
    // jsPsych makes its element a Tab stop; ours does not need to be one, as its buttons are.
    on_trial_start: () => main.setAttribute("tabindex", "-1"),
  });
  // A stand-in for what jsPsych 6 had there; nothing on a page that pays people may be reached from outside.
  delete (window as { jsPsych?: unknown }).jsPsych;
  app.jsPsych = jsPsych;
  const timeline = studyTimeline(app);
  const mode = query.simulate;
  // Anyone can write an address; only the server knows whether this page may play by itself.
  if (api.isPilot && (mode === "visual" || mode === "data-only")) {
    // Data not made by a person must be marked as such.
    app.log.add("simulated");
    await jsPsych.simulate(timeline, mode);
  } else {
    await jsPsych.run(timeline);
  }
}

function screenIsShown(screen: string, last = false): void {
  document.body.dataset.stage = screen;
  // On every screen between consent and the end.
  withdraw.hidden = last || screen === "consent";
  if (screen === "play") return;
  window.scrollTo(0, 0);
  main.querySelector<HTMLElement>("h1, h2")?.focus({ preventScroll: true });
}

function showEnd(): void {
  const { state, texts, ending } = app;
  if (ending?.kind === "taken-over") showLast(takenOver(texts), "taken-over");
  else if (ending?.kind === "error") showLast(errorScreen(texts, ending.details));
  else if (state.stage === "finished") showLast(finishedScreen(state, texts, query), "finished");
  else showLast(lastPage(state), state.stage);
  void app.log.flush(false);
}

/** The page that the researchers wrote for this ending. */
function lastPage(state: State): HTMLElement {
  const { texts } = app;
  const html = state.html[state.stage];
  switch (state.stage) {
    case "screened": return screenedOut(state, texts);
    case "declined": return titledPage(html, texts.label("declined_title"));
    case "withdrawn": return titledPage(html, texts.label("withdrawn_title"));
    case "preview": return titledPage(html, texts.label("preview_title"));
    case "expired": return titledPage(html, texts.label("expired_title"));
    default: return errorScreen(texts, `unknown stage "${state.stage}"`);
  }
}

function showLast(content: HTMLElement, screen = "error"): void {
  main.replaceChildren(content);
  screenIsShown(screen, true);
}
