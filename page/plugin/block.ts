/** Reads and completes a block's jsPsych parameters: they become the parts of a game. */

import type { TrialType } from "jspsych";
import { choosesLocally, type Choose } from "./choose";
import type { Advise } from "./game/adviser";
import type { Info } from "./info";
import { isArm, nArms, readLayout, type GivenLayout, type Layout } from "./layout";
import type { Dynamic } from "./rules";
import { AS_POINTS, type Rewards } from "./words/amounts";
import { DEFAULT_LABELS, type Labels } from "./words/labels";

export type Trial = TrialType<Info>;

/** A block with nothing left open. */
export interface Block {
  layout: Layout;
  dynamic: Dynamic;
  /** null: a click is the choice, at once. */
  deadlineMs: number | null;
  /** Without a deadline: how long an outcome is looked at before the next choice. */
  outcomeMs: number;
  nTrials: number;
  firstTrial: number;
  position: number;
  goal: number;
  lastReward: number | null;
  points: number;
  rewards: Rewards;
  /** Whether the rewards of the other arms are shown too. */
  foregone: boolean;
  /** The arms on offer at first; null for all. */
  available: readonly number[] | null;
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

/** Reads the parameters; says which is wrong. */
export function readBlock(trial: Trial): Block {
  const layout = readLayout(trial.layout as GivenLayout | null, trial.width as number, trial.height as number);
  const dynamic = readDynamic(trial);
  const start = (trial.start as number | null) ?? Math.floor(Math.random() * nArms(layout));
  const position = (trial.position as number | null) ?? start;
  const goal = (trial.goal as number | null) ?? position;
  for (const [name, arm] of Object.entries({ position, goal })) checkArm(name, arm, layout);
  const firstTrial = trial.first_trial as number;
  const offers = readOffers(trial, layout);
  const foregone = trial.foregone as boolean;
  const given = trial.choose as Choose | null;
  const heard = trial.on_event as Block["event"] | null;
  return {
    layout, dynamic, position, goal, firstTrial, foregone,
    deadlineMs: trial.deadline_ms as number | null,
    outcomeMs: trial.outcome_ms as number,
    nTrials: trial.n_trials as number,
    lastReward: trial.last_reward as number | null,
    points: (trial.points as number | null) ?? 0,
    rewards: readRewards(trial),
    available: offers[firstTrial] ?? null,
    labels: { ...DEFAULT_LABELS, ...(trial.labels as Partial<Labels>) },
    language: trial.language as string,
    startPaused: trial.start_paused as boolean,
    pauseWhenHidden: trial.pause_when_hidden as boolean,
    afterLastMs: trial.after_last_ms as number,
    choose: given ?? choosesLocally({ means: trial.means as number[], noise: trial.noise as number, dynamic, layout, foregone, offers }),
    advise: trial.advice_from === null ? null : (trial.advise as Advise | null),
    adviceFrom: (trial.advice_from as number | null) ?? 0,
    adviceWithinMs: trial.advice_within_ms as number,
    event: heard ?? (() => undefined),
  };
}

function readDynamic(trial: Trial): Dynamic {
  const dynamic = trial.dynamic as Dynamic;
  if (!["standard", "neighbour", "travel"].includes(dynamic)) {
    throw new Error(`grid-bandit: expected dynamic "standard", "neighbour" or "travel", got "${dynamic}"`);
  }
  return dynamic;
}

function readRewards(trial: Trial): Rewards {
  const rewards = { ...AS_POINTS, ...(trial.rewards as Partial<Rewards> | null) };
  if (!["points", "money", "hidden"].includes(rewards.kind)) {
    throw new Error(`grid-bandit: expected rewards.kind "points", "money" or "hidden", got "${rewards.kind}"`);
  }
  if (rewards.kind === "money" && !rewards.currency) {
    throw new Error('grid-bandit: expected rewards.currency, such as "EUR", where rewards are money, got none');
  }
  return rewards;
}

/** The arms on offer by trial: those of every choice or, from a server, those of the first, which tells the others as it answers. */
function readOffers(trial: Trial, layout: Layout): readonly (readonly number[] | null)[] {
  const offers = [...((trial.offers as (number[] | null)[] | null) ?? [])];
  const available = trial.available as number[] | null;
  if (available) offers[trial.first_trial as number] = available;
  for (const offer of offers) {
    if (offer?.length === 0) throw new Error("grid-bandit: expected at least one arm on offer at every choice (or null: all), got none");
    for (const arm of offer ?? []) checkArm("an arm on offer", arm, layout);
  }
  return offers;
}

function checkArm(name: string, arm: number, layout: Layout): void {
  const what = layout.kind === "grid" ? "a square" : "an arm";
  if (!isArm(arm, layout)) throw new Error(`grid-bandit: expected ${name} to be ${what} from 0 to ${nArms(layout) - 1}, got ${arm}`);
}
