/** Epoch milliseconds. */
export type Clock = () => number;

export interface Stamps {
  /** Unique, even across restarts of the stand-in, because the relay remembers ids across restarts. */
  nextNumber(): number;
  /** A unique time in Slack's format: `1763640000.000100` */
  nextTs(): string;
}

export function createStamps(clock: Clock): Stamps {
  let lastNumber = 0;
  let lastMicroseconds = 0;
  return {
    nextNumber() {
      lastNumber = Math.max(clock(), lastNumber + 1);
      return lastNumber;
    },
    nextTs() {
      lastMicroseconds = Math.max(clock() * 1000, lastMicroseconds + 1);
      const seconds = Math.floor(lastMicroseconds / 1_000_000);
      return `${seconds}.${String(lastMicroseconds % 1_000_000).padStart(6, '0')}`;
    },
  };
}
