/** A log of what happens beside the choices: hidden tabs, lost focus, lost connections, pauses. Sent now and then. */

import type { Happened } from "../api";
import { ServerError } from "./participant-api";

const EVERY_MS = 5000;
const MOST_PER_REQUEST = 100;

export interface LogParts {
  /** Stores events; false from `ready` means that it cannot yet. */
  send: (events: Happened[], keepalive: boolean) => Promise<unknown>;
  ready: () => boolean;
  /** The block and trial that are going on. */
  where: () => { block: number | null; trial: number | null };
}

export class EventLog {
  private waiting: Happened[] = [];
  private number = 0;
  private sending = false;

  constructor(private readonly parts: LogParts) {}

  /** Logs window and document events, and sends them every few seconds. */
  listen(): void {
    document.addEventListener("visibilitychange", () => this.add(document.hidden ? "hidden" : "visible"));
    for (const kind of ["focus", "blur", "online", "offline"]) window.addEventListener(kind, () => this.add(kind));
    window.addEventListener("pagehide", () => {
      this.add("pagehide");
      void this.flush(true);
    });
    setInterval(() => void this.flush(false), EVERY_MS);
  }

  add(kind: string, value: number | null = null): void {
    const page_ms = Math.round(performance.now() * 10) / 10;
    this.waiting.push({ number: this.number++, kind, ...this.parts.where(), page_ms, value });
  }

  /** Sends what waits; events have numbers, so that one sent twice is stored once. */
  async flush(leaving: boolean): Promise<void> {
    if (!this.parts.ready() || this.waiting.length === 0 || (this.sending && !leaving)) return;
    const batch = this.waiting.slice(0, MOST_PER_REQUEST);
    this.sending = true;
    try {
      await this.parts.send(batch, leaving);
      this.drop(batch);
    } catch (error) {
      // Events that the server refuses for good are dropped; those that did not arrive are sent again.
      if (error instanceof ServerError && !error.retry) this.drop(batch);
    } finally {
      this.sending = false;
    }
  }

  private drop(batch: Happened[]): void {
    const sent = new Set(batch);
    this.waiting = this.waiting.filter((event) => !sent.has(event));
  }
}
