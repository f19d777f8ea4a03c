/** A jsPsych plugin: a block of a bandit task, whose arms are squares, buttons, a line or a graph, with or without a time limit. */

import type { JsPsych, JsPsychPlugin } from "jspsych";
import { readBlock, type Block, type Trial } from "./block";
import { completed, type Report } from "./choose";
import { Collected } from "./game/collected";
import { Game } from "./game/game";
import { picturesOf, whenLoaded } from "./game/pictures";
import { info, type Info } from "./info";
import { untilDone } from "./retry";
import { plan, type RobotsTurn } from "./robot";

type Script = (number | null)[];

export default class GridBanditPlugin implements JsPsychPlugin<Info> {
  static info = info;

  constructor(private readonly jsPsych: JsPsych) {}

  /** Plays one block. */
  trial(display: HTMLElement, trial: Trial): void {
    this.play(display, trial, null);
  }

  /** Plays one block without a person: "visual" clicks on the screen in real time, "data-only" shows nothing and does not wait. */
  simulate(
    trial: Trial,
    mode: "data-only" | "visual",
    options: { data?: { goal?: Script } } | undefined,
    loaded: () => void,
  ): void {
    const script = options?.data?.goal ?? [];
    if (mode === "visual") {
      this.play(this.jsPsych.getDisplayElement(), trial, script);
      loaded();
    } else {
      loaded();
      void this.playUnseen(trial, script);
    }
  }

  private play(display: HTMLElement, trial: Trial, script: Script | null): void {
    const block = readBlock(trial);
    const collected = new Collected(block);
    const later = (callback: () => void, ms: number) => this.jsPsych.pluginAPI.setTimeout(callback, ms);
    const game = new Game({
      ...block,
      later,
      recorded: (report, outcome, available) => collected.add(report, outcome, available),
      started: (turn) => {
        if (script) this.clickLater(game, block, script, turn);
      },
      over: (error) => this.finish(collected, error),
    });
    (trial.on_begin as ((game: Game) => void) | null)?.(game);
    whenLoaded(picturesOf(block.layout), () => {
      game.begin(display);
      // A robot does not press the button of a pause that it did not cause.
      if (script && block.startPaused) game.resume("press");
    }, later);
  }

  private clickLater(game: Game, block: Block, script: Script, turn: RobotsTurn): void {
    const { arm, atMs } = plan({ ...block, script }, turn);
    if (arm !== null) this.jsPsych.pluginAPI.clickTarget(game.board.field.cell(arm), atMs);
  }

  private async playUnseen(trial: Trial, script: Script): Promise<void> {
    const block = readBlock(trial);
    const collected = new Collected(block);
    const later = (callback: () => void, ms: number) => this.jsPsych.pluginAPI.setTimeout(callback, ms);
    let { position, goal: yellow, available } = block;
    try {
      for (let trial = block.firstTrial; trial < block.nTrials; trial += 1) {
        const { arm, atMs } = plan({ ...block, script }, { trial, position, available });
        if (arm !== null) yellow = arm;
        const report: Report = {
          trial, position, goal: arm, yellow, clicks: arm === null ? [] : [[arm, atMs]], by_hand: 0,
          elapsed_ms: block.deadlineMs ?? atMs, pauses: 0, attempt: 1,
          advised: null, advice: null, advice_seal: null, advice_shown_ms: null,
        };
        const answer = await untilDone(async (attempt) => {
          report.attempt = attempt;
          return await block.choose({ ...report });
        }, { later });
        const outcome = completed(answer, collected.data.points);
        collected.add(report, outcome, available);
        ({ position, goal: yellow, available } = outcome);
      }
      this.finish(collected, null);
    } catch (error) {
      this.finish(collected, error);
    }
  }

  private finish(collected: Collected, error: unknown): void {
    if (error) console.warn("grid-bandit: the block ended early,", error);
    this.jsPsych.finishTrial({ ...collected.data });
  }
}

export type { Answer, Choose, Report } from "./choose";
export type { Game } from "./game/game";
