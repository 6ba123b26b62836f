/** Epoch milliseconds. */
export type Clock = () => number;

export type Stamps = ReturnType<typeof createStamps>;

export function createStamps(clock: Clock) {
  let lastNumber = 0;
  let lastMicroseconds = 0;
  return {
    /** Unique, even across restarts of the stand-in, because the relay remembers ids across restarts. */
    nextNumber(): number {
      lastNumber = Math.max(clock(), lastNumber + 1);
      return lastNumber;
    },
    /** A unique time in Slack's format: `1763640000.000100` */
    nextTs(): string {
      lastMicroseconds = Math.max(clock() * 1000, lastMicroseconds + 1);
      const seconds = Math.floor(lastMicroseconds / 1_000_000);
      return `${seconds}.${String(lastMicroseconds % 1_000_000).padStart(6, '0')}`;
    },
  };
}
