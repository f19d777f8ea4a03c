/** Collects the data of a block, choice by choice. */

import type { Block } from "../block";
import type { Outcome, Report } from "../choose";
import { nArms } from "../layout";

/** The data of a block: one column for each property of a choice. */
export interface BlockData {
  trial: number[];
  arm: number[];
  goal: number[];
  /** null where a server keeps it to itself. */
  reward: (number | null)[];
  missed: boolean[];
  clicks: [number, number][][];
  elapsed_ms: number[];
  /** null without a deadline. */
  overrun_ms: (number | null)[];
  pauses: number[];
  attempts: number[];
  advised: (number | null)[];
  advice_shown_ms: (number | null)[];
  /** The rewards of all arms; only where they are shown. */
  foregone?: ((number | null)[] | null)[];
  /** The arms on offer, null for all; only where some were not. */
  available?: (number[] | null)[];
  /** Only where the arms are no squares. */
  layout?: string;
  n_arms?: number;
  /** Of a graph. */
  edges?: [number, number][];
  /** true where edges lead one way only. */
  directed?: boolean;
  points: number | null;
  complete: boolean;
}

export class Collected {
  readonly data: BlockData;
  private readonly offers: (number[] | null)[] = [];

  constructor(private readonly block: Block) {
    const { layout } = block;
    this.data = {
      trial: [], arm: [], goal: [], reward: [], missed: [], clicks: [], elapsed_ms: [], overrun_ms: [], pauses: [],
      attempts: [], advised: [], advice_shown_ms: [], points: block.points, complete: block.firstTrial >= block.nTrials,
    };
    if (block.foregone) this.data.foregone = [];
    if (layout.kind !== "grid") Object.assign(this.data, { layout: layout.kind, n_arms: nArms(layout) });
    if (layout.kind === "graph") this.data.edges = layout.edges.map(([from, to]) => [from, to]);
    if (layout.kind === "graph" && layout.directed) this.data.directed = true;
  }

  add(report: Report, outcome: Outcome, available: readonly number[] | null): void {
    const { data, block } = this;
    data.trial.push(report.trial);
    data.arm.push(outcome.arm);
    data.goal.push(report.yellow);
    data.reward.push(outcome.reward);
    data.missed.push(report.goal === null);
    data.clicks.push(report.clicks);
    data.elapsed_ms.push(report.elapsed_ms);
    data.overrun_ms.push(block.deadlineMs === null ? null : Math.round((report.elapsed_ms - block.deadlineMs) * 10) / 10);
    data.pauses.push(report.pauses);
    data.attempts.push(report.attempt);
    data.advised.push(report.advised);
    data.advice_shown_ms.push(report.advice_shown_ms);
    data.foregone?.push(outcome.foregone && [...outcome.foregone]);
    this.offers.push(available && [...available]);
    if (available) data.available = this.offers;
    data.points = outcome.points_block;
    data.complete = report.trial + 1 >= block.nTrials;
  }
}
