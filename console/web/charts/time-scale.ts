import type { Period } from '../../contract.ts';

/** Where a moment is between the beginning and the end of a job, from 0 to 1. */
export interface TimeScale {
  at(moment: number): number;
  /** The moment at a place: what {@link at} is given. */
  moment(part: number): number;
  /** True if long periods are drawn shorter than they were. */
  isShortened: boolean;
}

/** A period that would be narrower than this cannot be seen. */
const LEAST_PART = 0.012;

/**
 * Periods follow one another without gaps, so each can have a width of its own: of its length. If the shortest could not be
 * seen then, it is of the cube root of its length.
 */
export function timeScale(periods: readonly Period[], until: number): TimeScale {
  const lengths = periods.map(({ from, to = until }) => Math.max(0, to - from));
  const whole = lengths.reduce((sum, length) => sum + length, 0);
  const isShortened = lengths.some((length) => length > 0 && length / whole < LEAST_PART);
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
