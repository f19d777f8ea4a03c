/** Loads the pictures of arms before a block begins, so that no clock runs while some cannot be seen. */

import type { Layout } from "../layout";

/** Whoever has not got a picture by then has a connection on which waiting does not help. */
const PATIENCE_MS = 5000;

/** The addresses of all pictures. */
export function picturesOf(layout: Layout): string[] {
  return layout.kind === "grid" ? [] : [...new Set(layout.arms.map(({ picture }) => picture).filter(Boolean))];
}

/** Calls back once all are there or cannot be had, or at once where there are none. */
export function whenLoaded(pictures: readonly string[], done: () => void, later: (callback: () => void, ms: number) => unknown): void {
  let left = pictures.length;
  const one = () => {
    left -= 1;
    if (left === 0) done();
  };
  if (left === 0) {
    done();
    return;
  }
  for (const address of pictures) {
    const picture = new Image();
    picture.onload = picture.onerror = one;
    picture.src = address;
  }
  later(() => {
    if (left <= 0) return;
    left = 0;
    done();
  }, PATIENCE_MS);
}
