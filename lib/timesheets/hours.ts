const DAY_MINUTES = 24 * 60;

/**
 * A duration as a service may give it, in whole minutes: a number (1.5), a decimal string ("1.50", "1,5"), and of hours
 * also `H:MM` and `H:MM:SS`. How the service writes them is not shown. Hours with two decimals are off by up to 18
 * seconds; the whole minute is what was logged.
 *
 * @returns undefined for what is none of these, is negative, or is more than a day
 */
export function minutesOf(value: unknown, unit: 'hours' | 'minutes'): number | undefined {
  const minutes = (unit === 'hours' ? clockMinutes(value) : undefined) ?? decimal(value) * (unit === 'hours' ? 60 : 1);
  return minutes >= 0 && minutes <= DAY_MINUTES ? Math.round(minutes) : undefined;
}

function clockMinutes(value: unknown): number | undefined {
  const match = typeof value === 'string' && /^(\d{1,2}):([0-5]\d)(?::([0-5]\d))?$/.exec(value.trim());
  if (!match) return undefined;
  const [, hours, minutes, seconds = 0] = match;
  return Number(hours) * 60 + Number(minutes) + Number(seconds) / 60;
}

/** NaN where it is no number. */
function decimal(value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || !/^\d+([.,]\d+)?$/.test(value.trim())) return Number.NaN;
  return Number(value.trim().replace(',', '.'));
}
