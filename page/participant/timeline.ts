/** The study as a jsPsych timeline: a loop that shows whatever the server says comes next, until nothing does. */

import type { JsPsych } from "jspsych";
import HtmlButtonResponse from "@jspsych/plugin-html-button-response";
import GridBandit, { type Answer, type Game, type Report } from "../plugin/grid-bandit";
import { element } from "../plugin/dom";
import type { App } from "./app";
import { readyScreen } from "./screens/ready";
import { pagePlugin } from "./screens/pages/page-screen";
import { earnings, inAnyLanguage, writtenPage } from "./screens/sheets";
import { PLAYED } from "./stages";

/** What jsPsych runs; its own names of these types are not exported. */
type TimelineArray = Extract<Parameters<JsPsych["run"]>[0], unknown[]>;
type TimelineDescription = Exclude<Parameters<JsPsych["run"]>[0], unknown[]>;

interface Button {
  id: string;
  text: string;
  main?: boolean;
}

/** The stages, each shown when it is its turn. */
export function studyTimeline(app: App): TimelineArray {
  return [{
    timeline: [consent(app), instructions(app), ownPage(app), ready(app), play(app), debriefing(app)],
    loop_function: () => PLAYED.includes(app.state.stage),
  }];
}

function consent(app: App): TimelineDescription {
  return textScreen(app, "consent", () => inAnyLanguage(writtenPage(app.state.html.consent), app.texts), () => [
    { id: "agree", text: app.texts.label("agree"), main: true },
    { id: "decline", text: app.texts.label("decline") },
  ], (pressed) => app.ask(() => app.api.consent(pressed === 0, app.state.consent_version ?? "")));
}

function instructions(app: App): TimelineDescription {
  return textScreen(app, "instructions", () => writtenPage(app.state.html.instructions),
    () => [{ id: "continue", text: app.texts.label("continue"), main: true }],
    async () => app.instructionsWereRead());
}

/** One of the study's own pages. */
function ownPage(app: App): TimelineDescription {
  return { timeline: [{ type: pagePlugin(app) }], conditional_function: () => !app.isOver && app.screen === "at_page" };
}

function ready(app: App): TimelineDescription {
  return textScreen(app, "ready", () => readyScreen(app.block, app.texts),
    () => [{ id: "start", text: app.texts.label("start"), main: true }],
    async () => {
      await app.ask(() => app.api.begin(app.block.number));
      app.justBegun = true;
    });
}

function debriefing(app: App): TimelineDescription {
  return textScreen(app, "debriefing", () => writtenPage(app.state.html.debriefing, earnings(app.state, app.texts)),
    () => [{ id: "finish", text: app.texts.label("finish"), main: true }],
    () => app.ask(() => app.api.finish()));
}

/** A screen with buttons below. Parameters are functions: jsPsych asks them each time the screen is shown. */
function textScreen(
  app: App,
  screen: string,
  content: () => HTMLElement,
  buttons: () => Button[],
  pressed: (number: number) => Promise<void>,
): TimelineDescription {
  return {
    timeline: [{
      type: HtmlButtonResponse,
      stimulus: () => content().outerHTML,
      choices: () => buttons().map(({ text }) => text),
      button_html: (_text: string, index: number) => buttonHtml(buttons()[index]!),
      button_layout: "flex",
      on_load: () => app.screenIsShown(screen),
      on_finish: (data: { response: number; stimulus?: string }) => {
        delete data.stimulus;
        return app.isOver ? undefined : pressed(data.response);
      },
      // A robot always presses the first button: agree, go on.
      simulation_options: { data: { response: 0 } },
    }],
    conditional_function: () => !app.isOver && app.screen === screen,
  };
}

function buttonHtml({ id, text, main }: Button): string {
  return element("button", { type: "button", id, class: main ? "main" : "other" }, text).outerHTML;
}

/** A block in play, from where the server says it is. */
function play(app: App): TimelineDescription {
  return {
    timeline: [{
      type: GridBandit,
      layout: () => app.block.layout,
      dynamic: () => app.block.dynamic,
      deadline_ms: () => app.block.deadline_ms,
      outcome_ms: () => app.block.outcome_ms,
      rewards: () => app.block.rewards,
      foregone: () => app.block.foregone,
      available: () => app.block.available ?? null,
      n_trials: () => app.block.n_trials,
      first_trial: () => app.block.trial ?? 0,
      position: () => app.block.position ?? 0,
      goal: () => app.block.goal ?? app.block.position ?? 0,
      last_reward: () => app.block.last_reward ?? null,
      points: () => app.block.points_block ?? 0,
      labels: () => app.texts.ofPlugin,
      language: () => app.texts.language,
      // After a reload nobody may be looking yet: the clock waits for a button press.
      start_paused: () => !app.takeJustBegun(),
      choose: (report: Report): Promise<Answer> => app.record(report),
      advise: (trial: number) => app.advise(trial),
      advice_from: () => app.block.advice?.from_trial ?? null,
      advice_within_ms: () => app.block.advice?.within_ms ?? 0,
      on_event: (kind: string, value: number | null, trial: number) => app.happened(kind, value, trial),
      on_begin: (game: Game) => app.blockBegins(game),
      on_load: () => app.screenIsShown("play"),
      on_finish: () => app.blockIsOver(),
    }],
    conditional_function: () => !app.isOver && app.screen === "play",
  };
}
