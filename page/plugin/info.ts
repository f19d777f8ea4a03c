/** The plugin's description for jsPsych: its parameters and its data. */

import { ParameterType } from "jspsych";
import { version } from "../package.json";

export const info = {
  name: "grid-bandit",
  version,
  parameters: {
    /** Columns. */
    width: { type: ParameterType.INT, default: 10 },
    /** Rows. */
    height: { type: ParameterType.INT, default: 10 },
    /** {kind: "grid" | "buttons" | "line" | "graph", arms, places, edges, directed}, see layout.ts; null: a grid of `width` and `height`. */
    layout: { type: ParameterType.OBJECT, default: null },
    /** "standard": any arm. "neighbour": the arm of the blue dot or one next to it. "travel": any arm is a goal, and the dot walks there. */
    dynamic: { type: ParameterType.STRING, default: "standard" },
    /** Time for each choice; null: a click is the choice, at once. */
    deadline_ms: { type: ParameterType.INT, default: 6000 },
    /** Without a deadline: how long an outcome is looked at before the next choice. */
    outcome_ms: { type: ParameterType.INT, default: 1000 },
    /** Choices in the block. */
    n_trials: { type: ParameterType.INT, default: 10 },
    /** How rewards are shown: {kind: "points"}, {kind: "money", currency: "EUR", per_point: 0.01} or {kind: "hidden"}; null: as points. */
    rewards: { type: ParameterType.OBJECT, default: null },
    /** Whether the rewards of the arms that were not chosen are shown too. */
    foregone: { type: ParameterType.BOOL, default: false },
    /** The arms on offer at the first choice, such as [0, 2]; null: all. */
    available: { type: ParameterType.OBJECT, default: null },
    /** The arms on offer at each choice (null: all), if there is no `choose`, which tells them as it answers. */
    offers: { type: ParameterType.OBJECT, default: null },
    /** The arm (of a grid: column * height + row) where both dots start; null: a random one. */
    start: { type: ParameterType.INT, default: null },
    /** The first choice, from 0; above 0 when resuming an interrupted block. */
    first_trial: { type: ParameterType.INT, default: 0 },
    /** Where the blue dot starts; null: at `start`. */
    position: { type: ParameterType.INT, default: null },
    /** Where the yellow dot starts; null: with the blue one. */
    goal: { type: ParameterType.INT, default: null },
    /** The reward shown at first; null: a blank box. */
    last_reward: { type: ParameterType.FLOAT, default: null },
    /** Points of this block so far. */
    points: { type: ParameterType.FLOAT, default: 0 },
    /** Texts that replace the English ones; see words/labels.ts for their names. */
    labels: { type: ParameterType.OBJECT, default: {} },
    /** The language for writing numbers, such as "de" or "en-GB"; "": the browser's. */
    language: { type: ParameterType.STRING, default: "" },
    /** Records a choice: function(report) -> {arm, reward, position?, goal?, points_block?, foregone?, available?}, or a promise of it; null: `means` and `noise`. */
    choose: { type: ParameterType.FUNCTION, default: null },
    /** The mean reward of every arm, by number, if there is no `choose`. */
    means: { type: ParameterType.FLOAT, array: true, default: [] },
    /** A whole number from -noise to noise, all equally likely, is added to the mean. */
    noise: { type: ParameterType.INT, default: 5 },
    /** Whether the block pauses while the page is hidden. */
    pause_when_hidden: { type: ParameterType.BOOL, default: true },
    /** Whether the first clock waits for a button press. */
    start_paused: { type: ParameterType.BOOL, default: false },
    /** How long the last reward stays on the screen. */
    after_last_ms: { type: ParameterType.INT, default: 1200 },
    /** Suggests an arm: function(trial) -> {arm, reason} (arm null: nothing), null, or a promise of it; null: no advice. */
    advise: { type: ParameterType.FUNCTION, default: null },
    /** The first choice that is advised, from 0; null: none. */
    advice_from: { type: ParameterType.INT, default: 0 },
    /** A suggestion that arrives later on the choice's clock is not shown. */
    advice_within_ms: { type: ParameterType.INT, default: 300 },
    /** Called when something happens: function(kind, value, trial), kind "pause", "resume", "retry" or "unavailable". */
    on_event: { type: ParameterType.FUNCTION, default: null },
    /** Called with the block when it begins: an object with pause(reason), resume(reason) and stop(). */
    on_begin: { type: ParameterType.FUNCTION, default: null },
  },
  data: {
    /** The trial number of each choice, from 0. */
    trial: { type: ParameterType.INT, array: true },
    /** The arms that were sampled. */
    arm: { type: ParameterType.INT, array: true },
    /** Where the yellow dot was when time was up. */
    goal: { type: ParameterType.INT, array: true },
    /** null where it was not told. */
    reward: { type: ParameterType.FLOAT, array: true },
    /** Whether nobody clicked. */
    missed: { type: ParameterType.BOOL, array: true },
    /** Every click of every choice: [[arm, ms], ...]. */
    clicks: { type: ParameterType.COMPLEX, array: true },
    /** The clock when the choice was recorded. */
    elapsed_ms: { type: ParameterType.FLOAT, array: true },
    /** How long after the deadline that was; null without a deadline. */
    overrun_ms: { type: ParameterType.FLOAT, array: true },
    /** How often the choice was restarted after a pause. */
    pauses: { type: ParameterType.INT, array: true },
    /** How many attempts it took to report the choice. */
    attempts: { type: ParameterType.INT, array: true },
    /** The arms that were suggested; null where none was. */
    advised: { type: ParameterType.INT, array: true },
    /** When a suggestion was drawn, by the choice's clock; null where it was not. */
    advice_shown_ms: { type: ParameterType.FLOAT, array: true },
    /** The rewards of all arms at each choice; only where they were shown. */
    foregone: { type: ParameterType.COMPLEX, array: true },
    /** The arms on offer at each choice, null for all; only where some were not. */
    available: { type: ParameterType.COMPLEX, array: true },
    /** "buttons", "line" or "graph"; only where the arms are no squares, like the next ones. */
    layout: { type: ParameterType.STRING },
    n_arms: { type: ParameterType.INT },
    /** Of a graph: the pairs of arms that are joined. */
    edges: { type: ParameterType.COMPLEX, array: true },
    /** Of a graph: true if edges lead from the first arm to the second only. */
    directed: { type: ParameterType.BOOL },
    /** Points of the block at the end. */
    points: { type: ParameterType.FLOAT },
    /** Whether all choices were made and recorded. */
    complete: { type: ParameterType.BOOL },
  },
  citations: {
    apa: "Reverdy, P. B., Srivastava, V., & Leonard, N. E. (2014). Modeling human decision making in generalized Gaussian multiarmed bandits. Proceedings of the IEEE, 102(4), 544-571.",
    bibtex:
      "@article{reverdy2014modeling, author = {Reverdy, Paul B. and Srivastava, Vaibhav and Leonard, Naomi Ehrich}, title = {Modeling Human Decision Making in Generalized {Gaussian} Multiarmed Bandits}, journal = {Proceedings of the IEEE}, volume = {102}, number = {4}, pages = {544--571}, year = {2014}}",
  },
} as const;

export type Info = typeof info;
