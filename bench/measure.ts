/** The median; for an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const below = sorted[Math.floor((sorted.length - 1) / 2)];
  const above = sorted[Math.ceil((sorted.length - 1) / 2)];
  if (below === undefined || above === undefined) throw new Error('there is no median of nothing');
  return (below + above) / 2;
}

/** Medians of many rounds. */
export interface ComparedRates {
  /** Calls per second. */
  here: number;
  peer: number;
  /** The median of the ratios of the rounds. A slow phase of the machine affects both sides of a round. */
  ratio: number;
}

const ROUNDS = 40;
const ROUND_MS = 100;
const WARM_UP_MS = 1_000;
/** Calls between two readings of the clock, so that the readings do not count. */
const BATCH = 50;

/** Runs both in turns, A B A B and so on, and compares how often per second each can be called. */
export function compareRates(here: () => unknown, peer: () => unknown): ComparedRates {
  for (const side of [here, peer]) callsPerSecond(side, WARM_UP_MS);
  const rounds = Array.from({ length: ROUNDS }, () => {
    const rate = callsPerSecond(here, ROUND_MS);
    const peerRate = callsPerSecond(peer, ROUND_MS);
    return { rate, peerRate, ratio: rate / peerRate };
  });
  return {
    here: median(rounds.map(({ rate }) => rate)),
    peer: median(rounds.map(({ peerRate }) => peerRate)),
    ratio: median(rounds.map(({ ratio }) => ratio)),
  };
}

function callsPerSecond(call: () => unknown, forMs: number): number {
  const start = performance.now();
  let calls = 0;
  let elapsedMs = 0;
  while (elapsedMs < forMs) {
    for (let i = 0; i < BATCH; i++) call();
    calls += BATCH;
    elapsedMs = performance.now() - start;
  }
  return (calls / elapsedMs) * 1_000;
}
