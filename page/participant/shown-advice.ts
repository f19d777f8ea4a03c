/** The suggestion that was last on the screen, kept over a reload: what a person has seen is reported, whatever the next page gets. */

import type { Advised } from "../api";

const NAME = "explorelab-advice";

interface Kept { person: string; block: number; trial: number; advice: Advised }

/** Where it is kept: with the key of the browser if possible, or else as long as the tab. */
function storages(): Storage[] {
  return (["localStorage", "sessionStorage"] as const).flatMap((name) => {
    try {
      return [window[name]];
    } catch {
      return []; // blocked by the person's settings, or in a frame of another site
    }
  });
}

/** Keeps what is on the screen. */
export function keepShown(kept: Kept): void {
  for (const storage of storages()) {
    try {
      storage.setItem(NAME, JSON.stringify(kept));
      return;
    } catch {
      // Full or blocked: try the next one.
    }
  }
}

/** What was on the screen before for this choice of this person; null if nothing was. */
export function shownBefore(person: string, block: number, trial: number): Advised | null {
  for (const storage of storages()) {
    try {
      const kept = JSON.parse(storage.getItem(NAME) ?? "null") as Kept | null;
      if (kept && kept.person === person && kept.block === block && kept.trial === trial) return kept.advice;
    } catch {
      // Somebody else's text is none of ours.
    }
  }
  return null;
}
