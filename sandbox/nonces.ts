import type { Store } from './store.ts';

/** When the service remembers a nonce, which is not shown. `after <check>`: once the request has passed that check. */
export const nonceMoments = ['on arrival', 'after nonce', 'after signature', 'after validation', 'after work'] as const;

export type NonceMoment = (typeof nonceMoments)[number];

const memoryMs = 10 * 60_000;

/** Remembers nonces for 10 minutes, per API key (assumed), by the real clock, even while a fault skews it. */
export class Nonces {
  readonly #store: Store;
  readonly #clock: () => number;
  readonly #inWork = new Set<string>();

  constructor(store: Store, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
  }

  isUsed(nonce: string): boolean {
    const at = this.#store.nonces.get(nonce);
    // Inclusive, like the timestamp window: a timestamp 5 minutes ahead is still valid 10 minutes later.
    return this.#inWork.has(nonce) || (at !== undefined && this.#clock() - at <= memoryMs);
  }

  /** Keeps the time of the first use until it expires. */
  remember(nonce: string): void {
    if (this.isUsed(nonce) && !this.#inWork.has(nonce)) return;
    const now = this.#clock();
    for (const [old, at] of this.#store.nonces) {
      if (now - at <= memoryMs) break;
      this.#store.nonces.delete(old);
    }
    this.#store.rememberNonce(nonce, now);
  }

  /** Reserves a nonce while its first request is still being processed, so that no other request can use it. */
  hold(nonce: string): void {
    this.#inWork.add(nonce);
  }

  release(nonce: string): void {
    this.#inWork.delete(nonce);
  }
}
