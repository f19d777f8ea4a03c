/** Advice on the current choice: asked for when its clock starts, drawn if it arrives in time, and reported with the choice. */

/** What the adviser says. */
export interface Advice {
  /** The suggested square; null for silence. */
  arm: number | null;
  reason: string;
  /** Whatever proves where the advice comes from; reported as it came. */
  seal?: string;
  /** Whether it was on the screen before: the choice has started over since, as after a reload. */
  seen?: boolean;
  /** Called once it is on the screen. */
  shown?: () => void;
}

export type Advise = (trial: number) => Advice | null | Promise<Advice | null>;

/** What is reported about advice on a choice. */
export interface AdviceReport {
  advised: number | null;
  /** Why a square was suggested or not; null if nobody was asked. */
  advice: string | null;
  advice_seal: string | null;
  /** When the suggestion was drawn, in milliseconds after the choice's clock started (0: before, if it was restarted); null if it was not. */
  advice_shown_ms: number | null;
}

export interface AdviserParts {
  /** null: there is no advice. */
  advise: Advise | null;
  /** The first choice that is advised, from 0. */
  adviceFrom: number;
  adviceWithinMs: number;
  /** Draws the suggestion; null removes it. */
  show: (square: number | null) => void;
  /** The time on the choice's clock. */
  elapsed: () => number;
  /** Whether the choice is still open and nothing has been clicked. */
  isOpen: () => boolean;
}

const NOTHING: AdviceReport = { advised: null, advice: null, advice_seal: null, advice_shown_ms: null };
const LATE = "late";

export class Adviser {
  private trial = -1;
  private said: Advice | null = null;
  private shownMs: number | null = null;
  /** Whether the suggestion was on the screen before this clock started. */
  private seen = false;

  constructor(private readonly parts: AdviserParts) {}

  /** The clock of a choice has started; after a pause, that of the same choice once more. */
  begin(trial: number): void {
    if (!this.isAdvised(trial)) return;
    this.seen = trial === this.trial && (this.seen || this.shownMs !== null);
    this.shownMs = null;
    if (trial === this.trial && this.said) {
      this.draw();
      return;
    }
    this.trial = trial;
    this.said = null;
    void this.ask(trial);
  }

  /** The choice is over or interrupted: nothing is suggested any more. */
  end(): void {
    this.parts.show(null);
  }

  /** What is to be reported with this choice. */
  report(trial: number): AdviceReport {
    const { said } = this;
    const shownMs = this.shownMs ?? (this.seen ? 0 : null);
    if (!this.isAdvised(trial)) return NOTHING;
    if (trial !== this.trial || !said) return { ...NOTHING, advice: LATE };
    const isLate = said.arm !== null && shownMs === null;
    return {
      advised: said.arm,
      advice: isLate ? LATE : said.reason,
      advice_seal: said.seal ?? null,
      advice_shown_ms: shownMs,
    };
  }

  private isAdvised(trial: number): boolean {
    return this.parts.advise !== null && trial >= this.parts.adviceFrom;
  }

  private async ask(trial: number): Promise<void> {
    try {
      const said = await this.parts.advise!(trial);
      if (trial !== this.trial) return;
      this.said = said;
      this.seen ||= said?.seen === true;
      this.draw();
    } catch {
      // Without an answer there is no advice; the choice does not depend on it.
    }
  }

  private draw(): void {
    const { said, parts, trial } = this;
    if (!said || said.arm === null || !parts.isOpen() || parts.elapsed() > parts.adviceWithinMs) return;
    parts.show(said.arm);
    // It counts as shown once the browser has drawn it.
    requestAnimationFrame(() => {
      if (trial === this.trial && parts.isOpen()) {
        this.shownMs = Math.round(parts.elapsed() * 10) / 10;
        said.shown?.();
      } else if (trial === this.trial) parts.show(null);
    });
  }
}
