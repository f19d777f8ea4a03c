/** Where a block stands: the next choice, the dots, the last outcome, and what is shown of them. */

import type { Block } from "../block";
import { completed, type Answer, type Outcome } from "../choose";
import type { Foregone } from "../words/speech";
import type { View } from "./board";

export class Standing {
  trial: number;
  blue: number;
  yellow: number;
  /** The arms on offer; null for all. */
  available: readonly number[] | null;
  /** Whether an arm has been clicked that is not recorded yet. */
  isClicked = false;
  /** From where the choice on the screen was or is made. */
  private from: number;
  private reward: number | null;
  private points: number | null;
  /** Where the yellow dot was when this choice began. */
  private yellowAtFirst: number;
  /** The rewards written on the arms. */
  private written: Foregone = null;
  /** Whether the blue dot says where somebody is, and not only where it was put before the first choice. */
  private isPlaced: boolean;

  constructor(private readonly block: Block) {
    this.trial = block.firstTrial;
    this.blue = this.from = block.position;
    this.yellow = this.yellowAtFirst = block.goal;
    this.available = block.available;
    this.reward = block.lastReward;
    this.points = block.points;
    this.isPlaced = block.deadlineMs !== null || block.dynamic !== "standard" || block.firstTrial > 0;
  }

  get isLast(): boolean {
    return this.trial + 1 >= this.block.nTrials;
  }

  click(arm: number): void {
    this.yellow = arm;
    this.isClicked = true;
  }

  /** The choice starts over. */
  throwAway(): void {
    this.yellow = this.yellowAtFirst;
    this.isClicked = false;
  }

  /** A choice is recorded. */
  record(answer: Answer): Outcome {
    const outcome = completed(answer, this.points);
    this.blue = outcome.position;
    // Without a deadline the arms look as they did while the outcome is looked at.
    if (this.block.deadlineMs !== null) this.from = this.blue;
    this.yellow = this.yellowAtFirst = outcome.goal;
    this.isClicked = false;
    this.isPlaced = true;
    this.reward = outcome.reward;
    this.points = outcome.points_block;
    this.written = this.writtenOf(outcome);
    return outcome;
  }

  /** The next choice opens. */
  open(available: readonly number[] | null): void {
    this.trial += 1;
    this.from = this.blue;
    this.available = available;
    // With a deadline the next clock starts at once, and what is written stays until it is up.
    if (this.block.deadlineMs === null) this.written = null;
  }

  view(): View {
    const { trial, available, reward, written } = this;
    const points = this.block.rewards.kind === "hidden" ? null : this.points;
    return { trial, nTrials: this.block.nTrials, ...this.dots(), position: this.from, available, reward, points, written };
  }

  /** Without a deadline the yellow dot is on what was just clicked, or on a goal that is not reached yet. */
  private dots(): Pick<View, "blue" | "yellow"> {
    const { deadlineMs, dynamic } = this.block;
    const waits = deadlineMs !== null || this.isClicked || (dynamic === "travel" && this.yellow !== this.blue);
    return { blue: this.isPlaced ? this.blue : null, yellow: waits ? this.yellow : null };
  }

  /** All rewards where they are shown; otherwise that of the arm, where it has room for it. */
  private writtenOf({ arm, reward, foregone }: Outcome): Foregone {
    const { layout, rewards } = this.block;
    if (rewards.kind === "hidden") return null;
    if (this.block.foregone && foregone) return foregone;
    if (layout.kind === "grid" || reward === null) return null;
    return layout.arms.map((_, each) => (each === arm ? reward : null));
  }
}
