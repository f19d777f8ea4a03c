/** The clock of one choice: shows how much time is left and says when it is up, as punctually as the browser can. */

export interface ClockParts {
  /** setTimeout, or jsPsych's, which is cleared when the trial ends. */
  later: (callback: () => void, ms: number) => unknown;
  /** Shows the part of the time that is left, 1 to 0. */
  show: (left: number) => void;
}

/** A timer may be late by an eighth of its time (Firefox joins timers to sleep longer): each goes only part of the way. */
const PART = 0.85;
/** From here on one short timer goes all the way. */
const AIM_BEFORE_MS = 12;
/** A page that is not drawn (below the fold of another site's frame) gets no frames; then a timer starts the clock. */
const WITHOUT_FRAMES_MS = 60;
/** How many steps the time bar has if the person wants less motion. */
const STEPS = 10;

export class Clock {
  private startedAt: number | null = null;
  /** Counts starts and stops, so that callbacks of an earlier clock know that they are obsolete. */
  private round = 0;

  constructor(private readonly parts: ClockParts) {}

  /** Starts with the next frame, when earlier changes become visible; `up` is called once with the elapsed time, or never without a deadline. */
  start(deadlineMs: number | null, up: (elapsedMs: number) => void): void {
    const round = ++this.round;
    this.startedAt = null;
    this.parts.show(1);
    const begin = () => {
      if (round !== this.round || this.startedAt !== null) return;
      this.startedAt = performance.now();
      if (deadlineMs === null) return;
      this.wait(round, deadlineMs, up);
      this.draw(round, deadlineMs);
    };
    requestAnimationFrame(begin);
    this.parts.later(begin, WITHOUT_FRAMES_MS);
  }

  /** Stops; a restarted clock has its full time. */
  stop(): void {
    this.round += 1;
    this.startedAt = null;
  }

  /** Milliseconds since the start; 0 before. */
  elapsed(): number {
    return this.startedAt === null ? 0 : performance.now() - this.startedAt;
  }

  /** Whether it has started. */
  get isRunning(): boolean {
    return this.startedAt !== null;
  }

  private wait(round: number, deadlineMs: number, up: (elapsedMs: number) => void): void {
    const check = () => {
      if (round !== this.round) return;
      const elapsed = this.elapsed();
      const left = deadlineMs - elapsed;
      if (left <= 0) {
        this.stop();
        this.parts.show(0);
        up(elapsed);
      } else {
        this.parts.later(check, left > AIM_BEFORE_MS ? left * PART : Math.ceil(left));
      }
    };
    check();
  }

  private draw(round: number, deadlineMs: number): void {
    const lessMotion = globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches ?? false;
    const frame = () => {
      if (round !== this.round) return;
      const left = Math.max(0, 1 - this.elapsed() / deadlineMs);
      this.parts.show(lessMotion ? Math.ceil(left * STEPS) / STEPS : left);
      requestAnimationFrame(frame);
    };
    frame();
  }
}
