/** What the page knows and does, between the server and what is shown. */

import type { JsPsych } from "jspsych";
import type { BlockShown, Choosing, Leaving, MarksShown, PageShown, State } from "../api";
import type { Advice } from "../plugin/game/adviser";
import type { Answer, Game, Report } from "../plugin/grid-bandit";
import { Api, ServerError } from "./participant-api";
import { EventLog } from "./events";
import { whatHappened } from "./refusals";
import { PLAYED } from "./stages";
import { forgetDraft } from "./screens/pages/draft";
import { keepShown, shownBefore } from "./shown-advice";
import type { Texts } from "./texts";

/** How the study ended for this page, if the server's stage does not say. */
export type Ending = { kind: "taken-over" } | { kind: "error"; details: string } | null;

/** How often in a row the page may be out of step with the server before it gives up. */
const MOST_RECOVERIES = 3;

export class App {
  readonly log: EventLog;
  /** Set once the server has answered. */
  state!: State;
  texts!: Texts;
  /** Present from the first screen on. */
  jsPsych: JsPsych | null = null;
  ending: Ending = null;
  /** Whether this page has just begun the current block, rather than resumed it after a reload. */
  justBegun = false;
  private hasReadInstructions = false;
  private game: Game | null = null;
  private trial: number | null = null;
  private recoveries = 0;
  private ended = false;
  /** What follows the block in play, while its last reward is still on the screen. */
  private next: State | null = null;

  constructor(readonly api: Api, private readonly shown: (screen: string) => void) {
    this.log = new EventLog({
      send: (events, keepalive) => api.events(events, keepalive),
      ready: () => api.hasArrived,
      where: () => ({ block: this.state?.block?.number ?? null, trial: this.game ? this.trial : null }),
    });
  }

  get block(): BlockShown {
    if (!this.state.block) throw new Error(`no block at stage ${this.state.stage}`);
    return this.state.block;
  }

  get page(): PageShown {
    if (!this.state.page) throw new Error(`no page at stage ${this.state.stage}`);
    return this.state.page;
  }

  /** What is to be shown: the server's stage, but instructions that have been read lead to the first block. */
  get screen(): string {
    return this.state.stage === "instructions" && this.hasReadInstructions ? "ready" : this.state.stage;
  }

  get isOver(): boolean {
    return this.ended;
  }

  get isPlaying(): boolean {
    return this.game !== null && !this.ended;
  }

  instructionsWereRead(): void {
    this.hasReadInstructions = true;
  }

  screenIsShown(screen: string): void {
    this.shown(screen);
  }

  takeJustBegun(): boolean {
    const { justBegun } = this;
    this.justBegun = false;
    return justBegun;
  }

  /** Asks the server for the next state; if the page is out of step, follows the server. */
  async ask(question: () => Promise<State>): Promise<void> {
    try {
      this.state = await question();
      this.recoveries = 0;
    } catch (error) {
      await this.recover(error);
    }
  }

  /** Leaves a page with its answers; what became of them, or null if the page was out of step with the server. */
  async leavePage(report: Omit<Leaving, "epoch">): Promise<MarksShown | null> {
    try {
      const left = await this.api.page(report);
      this.state = left.state;
      this.recoveries = 0;
      return left.marks;
    } catch (error) {
      await this.recover(error);
      return null;
    }
  }

  /** Records a choice; the block retries if that makes sense. */
  async record(report: Report): Promise<Answer> {
    const { trial, goal, clicks, elapsed_ms, pauses, attempt, by_hand, advised, advice_seal, advice_shown_ms } = report;
    const advice = report.advice as Choosing["advice"];
    this.trial = trial;
    try {
      const answer = await this.api.choice({
        block: this.block.number, trial, goal, clicks, elapsed_ms, pauses, attempt, by_hand,
        // Without advice there is nothing to say about it.
        ...(advice ? { advised, advice, advice_seal, advice_shown_ms } : {}),
      });
      this.recoveries = 0;
      this.trial = trial + 1;
      this.next = answer.state;
      return answer;
    } catch (error) {
      if (!(error instanceof ServerError) || error.retry) throw error;
      await this.recover(error);
      throw error;
    }
  }

  /** What is suggested for a choice: if a page that was reloaded has shown it, that once more. */
  async advise(trial: number): Promise<Advice> {
    const [person, block] = [this.api.person, this.block.number];
    const before = shownBefore(person, block, trial);
    if (before) return { ...before, seen: true };
    const advice = await this.api.advice(block, trial);
    return { ...advice, shown: () => keepShown({ person, block, trial, advice }) };
  }

  blockBegins(game: Game): void {
    this.game = game;
    this.trial = this.block.trial ?? 0;
  }

  blockIsOver(): void {
    this.game = null;
    this.trial = null;
    this.state = this.next ?? this.state;
    this.next = null;
  }

  happened(kind: string, value: number | null, trial: number): void {
    this.trial = trial;
    this.log.add(kind, value);
  }

  pause(): void {
    this.game?.pause("dialog");
  }

  resume(): void {
    this.game?.resume("dialog");
  }

  /** Another tab may have taken over while the page was hidden: say so now, not after the next choice. */
  async seenAgain(): Promise<void> {
    if (this.ended || !PLAYED.includes(this.state?.stage)) return;
    try {
      await this.api.state();
    } catch (error) {
      if (error instanceof ServerError && error.word === "taken-over") this.fail(error);
    }
  }

  async withdraw(deleting: boolean): Promise<void> {
    try {
      this.end(await this.api.withdraw(deleting));
    } catch (error) {
      this.fail(error);
    }
  }

  /** Ends the timeline at once; what is shown then follows from the state and the ending. */
  private end(state: State | null, ending: Ending = null): void {
    if (this.ended) return;
    this.ended = true;
    this.ending = ending;
    this.next = null;
    if (state) this.state = state;
    this.game?.stop();
    forgetDraft();
    this.jsPsych?.abortExperiment();
  }

  private async recover(error: unknown): Promise<void> {
    const outOfStep = error instanceof ServerError && [403, 409, 422].includes(error.status) && error.word !== "taken-over";
    this.recoveries += 1;
    if (!outOfStep || this.recoveries > MOST_RECOVERIES) {
      this.fail(error);
      return;
    }
    this.log.add("refused", error.status);
    try {
      this.state = await this.api.state();
    } catch (second) {
      this.fail(second);
    }
  }

  /** Ends the study on this page and says why. */
  fail(error: unknown): void {
    if (error instanceof ServerError && error.word === "taken-over") this.end(null, { kind: "taken-over" });
    else this.end(null, { kind: "error", details: whatHappened(this.texts, error) });
  }
}
