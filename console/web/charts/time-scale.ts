import type { Period } from '../../contract.ts';

/** Maps the moments of a job to places from 0 (its beginning) to 1 (its end). */
export interface TimeScale {
  at(moment: number): number;
  /** The moment at a place, the inverse of {@link at}. */
  moment(part: number): number;
  /** Whether long periods are drawn shorter than their time. */
  isShortened: boolean;
}

/** A narrower period could not be seen. */
const LEAST_PART = 0.012;
/** The periods of a shorter job are drawn as they are. */
const LEAST_SHORTENED_MS = 10_000;

/**
 * Draws each period as wide as it is long. If the shortest would then be too narrow, the widths are cube roots of the
 * lengths. The periods have no gaps, so they can be scaled one by one.
 */
export function timeScale(periods: readonly Period[], until: number): TimeScale {
  const lengths = periods.map(({ from, to = until }) => Math.max(0, to - from));
  const whole = lengths.reduce((sum, length) => sum + length, 0);
  const isShortened =
    whole >= LEAST_SHORTENED_MS && lengths.some((length) => length > 0 && length / whole < LEAST_PART);
  const weight = (length: number) => (isShortened ? Math.cbrt(length) : length);
  let total = 0;
  const parts = periods.map(({ from, to = until }) => {
    const begins = total;
    total += weight(Math.max(0, to - from));
    return { from, to: Math.max(from, to), begins, ends: total };
  });
  return {
    isShortened,
    at(moment) {
      const part = parts.find(({ to }) => moment <= to) ?? parts.at(-1);
      if (!part || total === 0) return 0;
      const passed = part.to === part.from ? 0 : (moment - part.from) / (part.to - part.from);
      return (part.begins + Math.min(1, Math.max(0, passed)) * (part.ends - part.begins)) / total;
    },
    moment(place) {
      const part = parts.find(({ ends }) => place * total <= ends) ?? parts.at(-1);
      if (!part || part.ends === part.begins) return part?.from ?? until;
      return part.from + ((place * total - part.begins) / (part.ends - part.begins)) * (part.to - part.from);
    },
  };
}
