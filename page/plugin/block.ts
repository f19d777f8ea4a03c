/** Reads and completes a block's jsPsych parameters: they become the parts of a game. */

import type { TrialType } from "jspsych";
import { choosesLocally, type Answer, type Choose, type Report } from "./choose";
import type { Advise } from "./game/adviser";
import type { Info } from "./info";
import { DEFAULT_LABELS, type Labels } from "./labels";
import { mayChoose, type Dynamic, type Shape } from "./rules";

export type Trial = TrialType<Info>;

/** A block with nothing left open. */
export interface Block {
  shape: Shape;
  dynamic: Dynamic;
  deadlineMs: number;
  nTrials: number;
  firstTrial: number;
  position: number;
  goal: number;
  lastReward: number | null;
  points: number;
  labels: Labels;
  language: string;
  /** Whether the first clock waits for a button press, as after a reload. */
  startPaused: boolean;
  pauseWhenHidden: boolean;
  /** How long the last reward stays on the screen. */
  afterLastMs: number;
  choose: Choose;
  /** null: there is no advice. */
  advise: Advise | null;
  adviceFrom: number;
  adviceWithinMs: number;
  event: (kind: string, value: number | null, trial: number) => void;
}

/** The data of a block: one column for each property of a choice. */
export interface BlockData {
  trial: number[];
  arm: number[];
  goal: number[];
  reward: number[];
  missed: boolean[];
  clicks: [number, number][][];
  elapsed_ms: number[];
  overrun_ms: number[];
  pauses: number[];
  attempts: number[];
  advised: (number | null)[];
  advice_shown_ms: (number | null)[];
  points: number;
  complete: boolean;
}

/** Reads the parameters; says which is wrong. */
export function readBlock(trial: Trial): Block {
  const shape = { width: trial.width as number, height: trial.height as number };
  const dynamic = trial.dynamic as Dynamic;
  if (!["standard", "neighbour", "travel"].includes(dynamic)) {
    throw new Error(`grid-bandit: expected dynamic "standard", "neighbour" or "travel", got "${dynamic}"`);
  }
  const nSquares = shape.width * shape.height;
  const start = (trial.start as number | null) ?? Math.floor(Math.random() * nSquares);
  const position = (trial.position as number | null) ?? start;
  const goal = (trial.goal as number | null) ?? position;
  for (const [name, square] of Object.entries({ position, goal })) {
    if (!mayChoose("standard", 0, square, shape)) {
      throw new Error(`grid-bandit: expected ${name} to be a square from 0 to ${nSquares - 1}, got ${square}`);
    }
  }
  const given = trial.choose as Choose | null;
  const heard = trial.on_event as Block["event"] | null;
  return {
    shape, dynamic, position, goal,
    deadlineMs: trial.deadline_ms as number,
    nTrials: trial.n_trials as number,
    firstTrial: trial.first_trial as number,
    lastReward: trial.last_reward as number | null,
    points: trial.points as number,
    labels: { ...DEFAULT_LABELS, ...(trial.labels as Partial<Labels>) },
    language: trial.language as string,
    startPaused: trial.start_paused as boolean,
    pauseWhenHidden: trial.pause_when_hidden as boolean,
    afterLastMs: trial.after_last_ms as number,
    choose: given ?? choosesLocally(trial.means as number[], trial.noise as number, dynamic, shape),
    advise: trial.advice_from === null ? null : (trial.advise as Advise | null),
    adviceFrom: (trial.advice_from as number | null) ?? 0,
    adviceWithinMs: trial.advice_within_ms as number,
    event: heard ?? (() => undefined),
  };
}

/** Collects the data of a block, choice by choice. */
export class Collected {
  readonly data: BlockData;

  constructor(private readonly block: Block) {
    this.data = {
      trial: [], arm: [], goal: [], reward: [], missed: [], clicks: [], elapsed_ms: [], overrun_ms: [], pauses: [],
      attempts: [], advised: [], advice_shown_ms: [], points: block.points, complete: block.firstTrial >= block.nTrials,
    };
  }

  add(report: Report, answer: Pick<Required<Answer>, "arm" | "reward" | "points_block">): void {
    const { data, block } = this;
    data.trial.push(report.trial);
    data.arm.push(answer.arm);
    data.goal.push(report.yellow);
    data.reward.push(answer.reward);
    data.missed.push(report.goal === null);
    data.clicks.push(report.clicks);
    data.elapsed_ms.push(report.elapsed_ms);
    data.overrun_ms.push(Math.round((report.elapsed_ms - block.deadlineMs) * 10) / 10);
    data.pauses.push(report.pauses);
    data.attempts.push(report.attempt);
    data.advised.push(report.advised);
    data.advice_shown_ms.push(report.advice_shown_ms);
    data.points = answer.points_block;
    data.complete = report.trial + 1 >= block.nTrials;
  }
}
