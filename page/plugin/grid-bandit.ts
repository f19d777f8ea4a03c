/** A jsPsych plugin: a block of a spatial bandit task on a grid of squares, with a time limit for every choice. */

import type { JsPsych, JsPsychPlugin } from "jspsych";
import { Collected, readBlock, type Block, type Trial } from "./block";
import type { Report } from "./choose";
import { Game } from "./game/game";
import { info, type Info } from "./info";
import { untilDone } from "./retry";
import { plan } from "./robot";

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
      recorded: (report, answer) => collected.add(report, answer),
      started: (number, position) => {
        if (script) this.clickLater(game, block, script, number, position);
      },
      over: (error) => this.finish(collected, error),
    });
    (trial.on_begin as ((game: Game) => void) | null)?.(game);
    game.begin(display);
    // A robot does not press the button of a pause that it did not cause.
    if (script && block.startPaused) game.resume("press");
  }

  private clickLater(game: Game, block: Block, script: Script, trial: number, position: number): void {
    const { square, atMs } = plan({ ...block, script }, trial, position);
    if (square !== null) this.jsPsych.pluginAPI.clickTarget(game.board.squares.cell(square), atMs);
  }

  private async playUnseen(trial: Trial, script: Script): Promise<void> {
    const block = readBlock(trial);
    const collected = new Collected(block);
    const later = (callback: () => void, ms: number) => this.jsPsych.pluginAPI.setTimeout(callback, ms);
    let { position, goal: yellow } = block;
    try {
      for (let number = block.firstTrial; number < block.nTrials; number += 1) {
        const { square, atMs } = plan({ ...block, script }, number, position);
        if (square !== null) yellow = square;
        const report: Report = {
          trial: number, position, goal: square, yellow, clicks: square === null ? [] : [[square, atMs]], by_hand: 0,
          elapsed_ms: block.deadlineMs, pauses: 0, attempt: 1,
          advised: null, advice: null, advice_seal: null, advice_shown_ms: null,
        };
        const answer = await untilDone(async (attempt) => {
          report.attempt = attempt;
          return await block.choose({ ...report });
        }, { later });
        const points_block = answer.points_block ?? collected.data.points + answer.reward;
        collected.add(report, { ...answer, points_block });
        position = answer.position ?? answer.arm;
        yellow = answer.goal ?? answer.arm;
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
