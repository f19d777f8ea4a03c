/** Choosing by mouse, finger and key: one arm can be reached by Tab, keys move on from it, Enter or Space chooses. */

import type { Chosen } from "./field";

export interface CursorParts {
  /** What has the arms in it. */
  arms: HTMLElement;
  cells: readonly HTMLElement[];
  /** The class of an arm's element. */
  cellClass: string;
  chosen: Chosen;
  /** Where a key leads from an arm; null if it is not one of ours. */
  target: (key: string, from: number, control: boolean) => number | null;
  /** The arm that a key chooses at once; null for none. */
  direct?: (key: string) => number | null;
}

export class Cursor {
  private at = 0;

  constructor(private readonly parts: CursorParts) {
    parts.arms.addEventListener("click", (event) => this.clicked(event));
    parts.arms.addEventListener("keydown", (event) => this.pressed(event));
  }

  move(arm: number, focus: boolean): void {
    const { cells } = this.parts;
    cells[this.at]!.tabIndex = -1;
    this.at = arm;
    const cell = cells[arm]!;
    cell.tabIndex = 0;
    if (focus) cell.focus({ preventScroll: true });
  }

  private clicked(event: MouseEvent): void {
    // A mouse pressed in one arm and released in another clicks on their common parent; the arm it ends on is meant.
    const { cells, cellClass, chosen } = this.parts;
    const under = document.elementFromPoint?.(event.clientX, event.clientY);
    const cell = (event.target as Element).closest<HTMLElement>(`.${cellClass}`) ?? under?.closest<HTMLElement>(`.${cellClass}`);
    if (!cell) return;
    const arm = cells.indexOf(cell);
    this.move(arm, false);
    chosen(arm, event.isTrusted, event.detail);
  }

  private pressed(event: KeyboardEvent): void {
    if (event.altKey || event.metaKey) return;
    const { cells, target, direct, chosen } = this.parts;
    // A screen reader may have put the focus on another arm than the keys did.
    const focused = cells.indexOf(event.target as HTMLElement);
    if (focused >= 0 && focused !== this.at) this.move(focused, false);
    const named = event.ctrlKey ? null : direct?.(event.key) ?? null;
    if (event.key === "Enter" || event.key === " " || named !== null) {
      event.preventDefault();
      // A key that is held down repeats; only the first press is a choice.
      if (event.repeat) return;
      if (named !== null) this.move(named, true);
      chosen(this.at, event.isTrusted, 1);
      return;
    }
    const to = target(event.key, this.at, event.ctrlKey);
    if (to === null) return;
    event.preventDefault();
    this.move(to, true);
  }
}
