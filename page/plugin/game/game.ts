/** One block, choice by choice: the clock, the dots, the saving, the pauses. Knows nothing about jsPsych. */

import type { Block } from "../block";
import { Adviser } from "./adviser";
import { Board } from "./board";
import type { Answer, Report } from "../choose";
import { Clock } from "./clock";
import { mayChoose } from "../rules";
import { untilDone } from "../retry";

export interface GameParts extends Block {
  later: (callback: () => void, ms: number) => unknown;
  recorded: (report: Report, answer: Required<Answer>) => void;
  /** The clock of a choice has started. */
  started: (trial: number, position: number) => void;
  /** The block is over; with the error if a choice cannot be recorded at all. */
  over: (error: unknown) => void;
}

type Phase = "waiting" | "choosing" | "saving" | "over";

/** Why the block is paused. "press": until the person presses the button. */
export type PauseReason = "hidden" | "press" | "dialog";

const SAVING_NOTE_AFTER_MS = 400;
const HINT_MS = 2500;
/** A report with more clicks than this is refused by servers; further ones replace the last. */
const MOST_CLICKS = 200;

export class Game {
  readonly board: Board;
  private readonly clock: Clock;
  private readonly adviser: Adviser;
  private readonly pausedBy = new Set<PauseReason>();
  private phase: Phase = "waiting";
  private trial: number;
  private blue: number;
  private yellow: number;
  /** Where the yellow dot was when this choice began. */
  private yellowAtFirst: number;
  private reward: number | null;
  private points: number;
  private clicks: [number, number][] = [];
  private byHand = 0;
  private pauses = 0;

  constructor(private readonly parts: GameParts) {
    this.trial = parts.firstTrial;
    this.blue = parts.position;
    this.yellow = this.yellowAtFirst = parts.goal;
    this.reward = parts.lastReward;
    this.points = parts.points;
    this.board = new Board({
      ...parts,
      chosen: (square, byHand) => this.click(square, byHand),
      resumed: () => this.resume("press"),
    });
    this.clock = new Clock({ later: parts.later, show: (left) => this.board.showTime(left) });
    this.adviser = new Adviser({
      ...parts,
      show: (square) => this.board.showAdvice(square),
      elapsed: () => this.clock.elapsed(),
      isOpen: () => this.phase === "choosing" && this.clicks.length === 0,
    });
  }

  /** Shows the block in this element and starts its first clock. */
  begin(into: HTMLElement): void {
    into.append(this.board.root);
    this.board.squares.moveCursor(this.blue, true);
    document.addEventListener("visibilitychange", this.visibilityChanged);
    this.board.show(this.view());
    if (this.parts.startPaused) this.pause("press");
    if (this.parts.pauseWhenHidden && document.hidden) this.pause("hidden");
    this.startChoice();
  }

  /** Ends the block from outside: nothing more is recorded or shown. */
  stop(): void {
    this.phase = "over";
    this.clock.stop();
    document.removeEventListener("visibilitychange", this.visibilityChanged);
  }

  /** Pauses until `resume` with the same reason; a choice whose clock is running is discarded. */
  pause(reason: PauseReason): void {
    if (this.phase === "over" || this.pausedBy.has(reason)) return;
    const first = this.pausedBy.size === 0;
    this.pausedBy.add(reason);
    if (reason === "hidden") this.pausedBy.add("press");
    if (first) {
      this.pauses += 1;
      this.parts.event("pause", null, this.trial);
      if (this.phase === "choosing") this.throwAway();
    }
    this.board.showPause(this.pausedBy.has("press"));
  }

  /** Removes one reason to pause; after the last one the choice starts over with its full time. */
  resume(reason: PauseReason): void {
    if (!this.pausedBy.delete(reason) || this.phase === "over") return;
    this.board.showPause(this.pausedBy.has("press"));
    if (this.pausedBy.size > 0) return;
    this.parts.event("resume", null, this.trial);
    if (reason === "press") this.board.squares.moveCursor(this.blue, true);
    this.startChoice();
  }

  private readonly visibilityChanged = (): void => {
    // jsPsych may have ended the trial from outside; then this block is no longer on the page.
    if (!this.board.root.isConnected) this.stop();
    else if (!this.parts.pauseWhenHidden) return;
    else if (document.hidden) this.pause("hidden");
    else this.resume("hidden");
  };

  private startChoice(): void {
    if (this.phase !== "waiting" || this.pausedBy.size > 0) {
      if (this.phase === "waiting") this.board.showPhase("paused");
      return;
    }
    this.phase = "choosing";
    this.board.showPhase("choosing");
    this.clicks = [];
    this.byHand = 0;
    this.clock.start(this.parts.deadlineMs, (elapsed) => void this.timeIsUp(elapsed));
    this.adviser.begin(this.trial);
    this.parts.started(this.trial, this.blue);
  }

  private throwAway(): void {
    this.clock.stop();
    this.adviser.end();
    this.board.showTime(1);
    this.clicks = [];
    this.yellow = this.yellowAtFirst;
    this.phase = "waiting";
    this.board.showDots(this.blue, this.yellow);
    this.board.showPhase("paused");
  }

  private click(square: number, byHand: boolean): void {
    if (this.phase !== "choosing") return;
    const { dynamic, shape, deadlineMs, labels } = this.parts;
    const elapsed = this.clock.elapsed();
    // Time is up, but the timer has not fired yet.
    if (elapsed >= deadlineMs) return;
    if (!mayChoose(dynamic, this.blue, square, shape)) {
      this.hint(labels.hint_unavailable);
      this.parts.event("unavailable", square, this.trial);
      return;
    }
    if (this.clicks.length === MOST_CLICKS) this.clicks.pop();
    this.clicks.push([square, rounded(elapsed)]);
    if (byHand) this.byHand += 1;
    this.yellow = square;
    this.board.showDots(this.blue, square);
    this.board.sayAt(labels.said_next, square);
  }

  private hint(text: string): void {
    this.board.showNote(text, "hint");
    this.board.say(text);
    const { trial } = this;
    this.parts.later(() => {
      if (this.trial === trial && this.phase === "choosing") this.board.showRule();
    }, HINT_MS);
  }

  private async timeIsUp(elapsed: number): Promise<void> {
    this.phase = "saving";
    this.board.showPhase("saving");
    const report: Report = {
      trial: this.trial,
      position: this.blue,
      goal: this.clicks.at(-1)?.[0] ?? null,
      yellow: this.yellow,
      clicks: this.clicks,
      by_hand: Math.min(this.byHand, this.clicks.length),
      elapsed_ms: rounded(elapsed),
      pauses: this.pauses,
      attempt: 1,
      ...this.adviser.report(this.trial),
    };
    this.adviser.end();
    this.noteSaving(report.trial);
    try {
      const answer = await untilDone(async (attempt) => {
        report.attempt = attempt;
        return await this.parts.choose({ ...report });
      }, { later: this.parts.later, failed: (attempt) => this.noteTrouble(attempt) });
      if (this.isSaving()) this.record(report, answer);
    } catch (error) {
      if (!this.isSaving()) return;
      this.stop();
      this.parts.over(error);
    }
  }

  /** Asked after waiting, when the block may have been stopped in between. */
  private isSaving(): boolean {
    return this.phase === "saving";
  }

  private noteSaving(trial: number): void {
    this.parts.later(() => {
      if (this.isSaving() && this.trial === trial) this.board.showNote(this.parts.labels.saving, "saving");
    }, SAVING_NOTE_AFTER_MS);
  }

  private noteTrouble(attempt: number): void {
    this.parts.event("retry", attempt, this.trial);
    const text = this.parts.labels.connection_lost;
    this.board.showNote(text, "trouble");
    if (attempt === 1) this.board.say(text);
  }

  private record(report: Report, answer: Answer): void {
    const { arm, reward } = answer;
    const position = answer.position ?? arm;
    const goal = answer.goal ?? arm;
    const points = answer.points_block ?? this.points + reward;
    this.parts.recorded(report, { arm, reward, position, goal, points_block: points });
    this.blue = position;
    this.yellow = this.yellowAtFirst = goal;
    this.reward = reward;
    this.points = points;
    // A pause that began while the choice was being saved belongs to the next one.
    this.pauses = this.pausedBy.size > 0 ? 1 : 0;
    this.clicks = [];
    const last = this.trial + 1 >= this.parts.nTrials;
    if (!last) this.trial += 1;
    this.board.show(this.view());
    this.board.flashReward();
    this.board.showRule();
    this.board.sayAt(this.parts.labels.said_reward, position, { reward });
    this.phase = "waiting";
    if (last) this.end();
    else this.startChoice();
  }

  private end(): void {
    this.stop();
    this.board.showPhase("over");
    this.board.showPause(false);
    this.parts.later(() => this.parts.over(null), this.parts.afterLastMs);
  }

  private view() {
    const { trial, blue, yellow, reward, points } = this;
    return { trial, nTrials: this.parts.nTrials, blue, yellow, reward, points };
  }
}

/** Tenths of a millisecond: no browser's clock is finer. */
function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
