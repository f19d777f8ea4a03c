/** What someone has filled in and not yet sent, kept in this tab over a reload. */

import type { Answer } from "./questions";

const NAME = "explorelab-draft";

interface Kept { person: string; page: string; answers: Record<string, Answer> }

export function keepDraft(kept: Kept): void {
  try {
    sessionStorage.setItem(NAME, JSON.stringify(kept));
  } catch {
    // Blocked or full: then it lasts as long as the page.
  }
}

/** What was filled in before on this page by this person. */
export function draftOf(person: string, page: string): Record<string, Answer> {
  try {
    const kept = JSON.parse(sessionStorage.getItem(NAME) ?? "null") as Kept | null;
    if (kept && kept.person === person && kept.page === page) return kept.answers;
  } catch {
    // Somebody else's text is none of ours.
  }
  return {};
}

export function forgetDraft(): void {
  try {
    sessionStorage.removeItem(NAME);
  } catch {
    // Nothing was kept.
  }
}
