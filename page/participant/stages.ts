/** What the server says is to be shown. */

import type { Dynamic } from "../plugin/rules";

export type Stage =
  | "consent" | "instructions" | "ready" | "play" | "debriefing"
  | "finished" | "declined" | "withdrawn" | "preview" | "expired";

export interface BlockState {
  number: number;
  n_blocks: number;
  kind: "training" | "task";
  number_of_kind: number;
  n_of_kind: number;
  dynamic: Dynamic;
  deadline_ms: number;
  n_trials: number;
  width: number;
  height: number;
  /** These are there at "play" only. */
  trial?: number;
  position?: number;
  goal?: number;
  last_reward?: number | null;
  points_block?: number;
}

export interface State {
  stage: Stage;
  epoch: number;
  consent_version?: string;
  html: Partial<Record<string, string>>;
  block: BlockState | null;
  points: number;
  payment: { currency: string; base: number; bonus: number; total: number } | null;
  completion: { code: string; redirect: string; submit_to: string } | null;
}

export interface ChoiceAnswer {
  trial: number;
  arm: number;
  position: number;
  goal: number;
  reward: number;
  points: number;
  points_block: number;
  n_left: number;
  state: State | null;
}

/** Stages that are part of jsPsych's timeline; after any other the study is over for this page. */
export const PLAYED: readonly Stage[] = ["consent", "instructions", "ready", "play", "debriefing"];
