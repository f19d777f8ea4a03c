/** Who this page and this browser are, without knowing who the person is. */

/** Studies of a laboratory share an origin, and each knows people by a key of its own. */
const STUDY = /\/s\/[^/]+\/$/.exec(location.pathname)?.[0] ?? "";
const KEY_NAME = `explorelab-key${STUDY}`;

/** Random bytes in hexadecimal. */
export function randomHex(bytes: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The key of this browser, by which people are recognised after a reload. If storage is blocked, it lasts as long as the tab or the page. */
export function browserKey(): string {
  for (const storage of ["localStorage", "sessionStorage"] as const) {
    try {
      const kept = window[storage].getItem(KEY_NAME);
      if (kept && /^[0-9a-f]{64}$/.test(kept)) return kept;
      const key = randomHex(32);
      window[storage].setItem(KEY_NAME, key);
      return key;
    } catch {
      // Blocked by the person's settings, or in a frame of another site: try the next one.
    }
  }
  return randomHex(32);
}

/** The key of a pilot, from the part of the address that browsers send to nobody: `#pilot=...`. */
export function pilotKey(address: string): string {
  return new URLSearchParams(new URL(address).hash.slice(1)).get("pilot") ?? "";
}

/**
 * The query parameters of the address; if a name is given twice, the last counts. Anything that no platform would send is
 * left out, and so is the request that the page play by itself, which is for pilots: others with such a link play by hand.
 */
export function queryOf(address: string, isPilot = false): Record<string, string> {
  const all = [...new URL(address).searchParams].filter(([name, value]) => {
    const simulates = name.trim().toLowerCase() === "simulate";
    return name.length <= 64 && value.length <= 2048 && (isPilot || !simulates);
  });
  return Object.fromEntries(all.slice(0, 32));
}
