/** Where an arrow key leads among arms that lie anywhere on the screen. */

import type { Point } from "../../layout";

const DIRECTIONS: Record<string, Point> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
/** How much a way aside counts more than one straight on. */
const ASIDE = 2;

/** The nearest arm in the direction of an arrow; the arm itself if there is none, null if the key is no arrow. */
export function inDirection(key: string, from: number, points: readonly Point[]): number | null {
  const direction = DIRECTIONS[key];
  if (!direction) return null;
  const [dx, dy] = direction;
  const [x, y] = points[from]!;
  let [best, least] = [from, Infinity];
  points.forEach(([otherX, otherY], arm) => {
    const along = (otherX - x) * dx + (otherY - y) * dy;
    const aside = Math.abs((otherX - x) * dy) + Math.abs((otherY - y) * dx);
    const way = along + ASIDE * aside;
    if (along > 1e-6 && way < least) [best, least] = [arm, way];
  });
  return best;
}

/** The arm before or after this one, in the order of their numbers, or the first or last; null if the key says neither. */
export function inOrder(key: string, from: number, nArms: number, backwards = false): number | null {
  const step = backwards ? -1 : 1;
  const to = {
    ArrowLeft: from - step, ArrowUp: from - 1, PageUp: from - 1,
    ArrowRight: from + step, ArrowDown: from + 1, PageDown: from + 1,
    Home: 0, End: nArms - 1,
  }[key];
  return to === undefined ? null : Math.min(nArms - 1, Math.max(0, to));
}

/** The arm that a digit names, where there are as few arms as digits: 1 is the first, 0 the tenth. */
export function ofDigit(key: string, nArms: number): number | null {
  if (nArms > 10 || !/^\d$/.test(key)) return null;
  const arm = (Number(key) + 9) % 10;
  return arm < nArms ? arm : null;
}
