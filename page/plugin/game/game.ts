/** One block, choice by choice: the clock, the dots, the saving, the pauses. Knows nothing about jsPsych. */

import type { Block } from "../block";
import { Adviser } from "./adviser";
import { Board } from "./board";
import type { Answer, Outcome, Report } from "../choose";
import { Clock } from "./clock";
import type { RobotsTurn } from "../robot";
import { mayChoose } from "../rules";
import { untilDone } from "../retry";
import { Standing } from "./standing";

export interface GameParts extends Block {
  later: (callback: () => void, ms: number) => unknown;
  /** A choice is recorded; `available` were the arms on offer. */
  recorded: (report: Report, outcome: Outcome, available: readonly number[] | null) => void;
  /** The clock of a choice has started. */
  started: (turn: RobotsTurn) => void;
  /** The block is over; with the error if a choice cannot be recorded at all. */
  over: (error: unknown) => void;
}

type Phase = "waiting" | "choosing" | "saving" | "looking" | "over";

/** Why the block is paused. "press": until the person presses the button. */
export type PauseReason = "hidden" | "press" | "dialog";

const SAVING_NOTE_AFTER_MS = 400;
const HINT_MS = 2500;
/** A report with more clicks than this is refused by servers; further ones replace the last. */
const MOST_CLICKS = 200;
/** A second click this soon after a choice opened belongs to one before, as of a double click. */
const DOUBLE_CLICK_MS = 500;

export class Game {
  readonly board: Board;
  private readonly clock: Clock;
  private readonly adviser: Adviser;
  private readonly at: Standing;
  private readonly pausedBy = new Set<PauseReason>();
  private phase: Phase = "waiting";
  private clicks: [number, number][] = [];
  private byHand = 0;
  private pauses = 0;

  constructor(private readonly parts: GameParts) {
    this.at = new Standing(parts);
    this.board = new Board({
      ...parts,
      chosen: (arm, byHand, clicks) => this.click(arm, byHand, clicks),
      resumed: () => this.resume("press"),
    });
    this.clock = new Clock({ later: parts.later, show: (left) => this.board.showTime(left) });
    this.adviser = new Adviser({
      ...parts,
      show: (arm) => this.board.showAdvice(arm),
      elapsed: () => this.clock.elapsed(),
      isOpen: () => this.phase === "choosing" && this.clicks.length === 0,
    });
  }

  /** Shows the block in this element and starts its first clock. */
  begin(into: HTMLElement): void {
    // It may have been stopped while its pictures were loaded.
    if (this.phase === "over") return;
    into.append(this.board.root);
    this.board.field.moveCursor(this.at.blue, true);
    document.addEventListener("visibilitychange", this.visibilityChanged);
    this.board.show(this.at.view());
    this.board.showRule();
    this.board.say(this.board.saidOpen());
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
      this.parts.event("pause", null, this.at.trial);
      if (this.phase === "choosing") this.throwAway();
    }
    this.board.showPause(this.pausedBy.has("press"));
  }

  /** Removes one reason to pause; after the last one the choice starts over with its full time. */
  resume(reason: PauseReason): void {
    if (!this.pausedBy.delete(reason) || this.phase === "over") return;
    this.board.showPause(this.pausedBy.has("press"));
    if (this.pausedBy.size > 0) return;
    this.parts.event("resume", null, this.at.trial);
    if (reason === "press") this.board.field.moveCursor(this.at.blue, true);
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
    // Its pictures may still be loading; `begin` comes back here.
    if (!this.board.root.isConnected) return;
    if (this.phase !== "waiting" || this.pausedBy.size > 0) {
      if (this.phase === "waiting") this.board.showPhase("paused");
      return;
    }
    this.phase = "choosing";
    this.board.showPhase("choosing");
    this.clicks = [];
    this.byHand = 0;
    this.clock.start(this.parts.deadlineMs, (elapsed) => void this.take(elapsed));
    this.adviser.begin(this.at.trial);
    this.parts.started({ trial: this.at.trial, position: this.at.blue, available: this.at.available });
  }

  private throwAway(): void {
    this.clock.stop();
    this.adviser.end();
    this.board.showTime(1);
    this.clicks = [];
    this.at.throwAway();
    this.phase = "waiting";
    this.showDots();
    this.board.showPhase("paused");
  }

  private click(arm: number, byHand: boolean, clicks: number): void {
    if (this.phase !== "choosing") return;
    const { dynamic, layout, deadlineMs } = this.parts;
    const elapsed = this.clock.elapsed();
    // Time is up, but the timer has not fired yet.
    if (deadlineMs !== null && elapsed >= deadlineMs) return;
    if (!mayChoose(dynamic, this.at.blue, arm, layout, this.at.available)) {
      this.hint(this.board.whyNot(arm));
      this.parts.event("unavailable", arm, this.at.trial);
      return;
    }
    if (deadlineMs === null && (!this.clock.isRunning || (clicks > 1 && elapsed < DOUBLE_CLICK_MS))) return;
    if (this.clicks.length === MOST_CLICKS) this.clicks.pop();
    this.clicks.push([arm, rounded(elapsed)]);
    if (byHand) this.byHand += 1;
    this.at.click(arm);
    this.showDots();
    if (deadlineMs === null) {
      this.clock.stop();
      void this.take(elapsed);
    } else this.board.say(this.board.speech.next(arm));
  }

  private showDots(): void {
    const { blue, yellow } = this.at.view();
    this.board.showDots(blue, yellow);
  }

  private hint(text: string): void {
    this.board.showNote(text, "hint");
    this.board.say(text);
    const { trial } = this.at;
    this.parts.later(() => {
      if (this.at.trial === trial && this.phase === "choosing") this.board.showRule();
    }, HINT_MS);
  }

  /** Time is up or, without a deadline, an arm was clicked: the choice is recorded. */
  private async take(elapsed: number): Promise<void> {
    this.phase = "saving";
    this.board.showPhase("saving");
    const report: Report = {
      trial: this.at.trial,
      position: this.at.blue,
      goal: this.clicks.at(-1)?.[0] ?? null,
      yellow: this.at.yellow,
      clicks: this.clicks,
      by_hand: Math.min(this.byHand, this.clicks.length),
      elapsed_ms: rounded(elapsed),
      pauses: this.pauses,
      attempt: 1,
      ...this.adviser.report(this.at.trial),
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
      if (this.isSaving() && this.at.trial === trial) this.board.showNote(this.parts.labels.saving, "saving");
    }, SAVING_NOTE_AFTER_MS);
  }

  private noteTrouble(attempt: number): void {
    this.parts.event("retry", attempt, this.at.trial);
    const text = this.parts.labels.connection_lost;
    this.board.showNote(text, "trouble");
    if (attempt === 1) this.board.say(text);
  }

  private record(report: Report, answer: Answer): void {
    const offered = this.at.available;
    const outcome = this.at.record(answer);
    this.parts.recorded(report, outcome, offered);
    // A pause that began while the choice was being saved belongs to the next one.
    this.pauses = this.pausedBy.size > 0 ? 1 : 0;
    this.clicks = [];
    const said = this.board.speech.outcome(outcome.position, outcome.reward, outcome.foregone);
    if (this.parts.deadlineMs === null) this.look(outcome, said);
    else this.next(outcome, said);
  }

  /** With a deadline the next clock starts at once. */
  private next({ available }: Outcome, said: string): void {
    const { isLast } = this.at;
    if (!isLast) this.at.open(available);
    this.board.show(this.at.view());
    if (said) this.board.flashReward();
    this.board.showRule();
    const open = isLast ? "" : this.board.saidOpen();
    if (said || open) this.board.say(`${said} ${open}`.trim());
    this.phase = "waiting";
    if (isLast) this.end();
    else this.startChoice();
  }

  /** Without one the outcome is looked at for a while; meanwhile nothing can be chosen, as by a double click. */
  private look(outcome: Outcome, said: string): void {
    const { trial, isLast } = this.at;
    this.phase = "looking";
    this.board.show(this.at.view());
    this.board.showPhase("looking");
    this.board.flashReward();
    this.board.showRule();
    this.board.say(said);
    if (isLast) this.end();
    else this.parts.later(() => {
      if (this.phase === "looking" && this.at.trial === trial) this.next(outcome, "");
    }, this.parts.outcomeMs);
  }

  private end(): void {
    this.stop();
    this.board.showPhase("over");
    this.board.showPause(false);
    this.parts.later(() => this.parts.over(null), this.parts.afterLastMs);
  }
}

/** Tenths of a millisecond: no browser's clock is finer. */
function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
