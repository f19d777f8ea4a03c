/** Doing something that may fail for a while (a server, a connection) until it works. */

/** Milliseconds before the second, third, ... attempt; the last one is used from there on. */
export const DELAYS_MS = [500, 1000, 2000, 4000, 5000] as const;

/** An error that says whether another attempt makes sense, and how long to wait at least. */
export interface Retriable {
  retry?: boolean;
  retryAfterMs?: number;
}

export interface RetryParts {
  later: (callback: () => void, ms: number) => unknown;
  /** Called after each failed attempt that will be followed by another. */
  failed?: (attempt: number, error: unknown) => void;
}

/** Calls `attempt(1)`, `attempt(2)`, ... until one succeeds; an error with `retry: false` ends it. */
export async function untilDone<T>(attempt: (number: number) => Promise<T>, parts: RetryParts): Promise<T> {
  for (let number = 1; ; number += 1) {
    try {
      return await attempt(number);
    } catch (error) {
      const { retry, retryAfterMs } = (error ?? {}) as Retriable;
      if (retry === false) throw error;
      parts.failed?.(number, error);
      await sleep(Math.max(delayAfter(number), retryAfterMs ?? 0), parts.later);
    }
  }
}

/** How long to wait after this failed attempt. */
export function delayAfter(attempt: number): number {
  return DELAYS_MS[Math.min(attempt, DELAYS_MS.length) - 1]!;
}

function sleep(ms: number, later: RetryParts["later"]): Promise<void> {
  return new Promise((resolve) => {
    later(resolve, ms);
  });
}
