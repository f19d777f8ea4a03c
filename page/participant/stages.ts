/** Stages that are part of jsPsych's timeline; after any other the study is over for this page. */

import type { Stage } from "../api";

export const PLAYED: readonly Stage[] = ["consent", "instructions", "ready", "play", "at_page", "debriefing"];
