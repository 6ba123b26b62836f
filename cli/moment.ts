import { InvalidArgumentError } from 'commander';
import * as z from 'zod';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../lib/dates.ts';

/** What {@link readMoment} accepts, for the help of an option. */
export const MOMENTS =
  '90m, 2h or 3d (that long ago), today, yesterday, a date, or a time such as 2026-11-20T16:30, local unless it names its zone';

const DAYS = ['today', 'yesterday'];

const UNITS_MS: Readonly<Record<string, number>> = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

const day = z.iso.date();
/** With or without seconds. */
const time = z.union([z.iso.datetime({ offset: true, local: true }), z.iso.datetime({ offset: true, precision: -1 })]);

/**
 * Reads a time from the command line. Without a zone, it is in this machine's zone, as are all times that the terminal
 * shows. A date means its midnight.
 *
 * @throws {InvalidArgumentError} for any other text
 */
export function readMoment(text: string): Date {
  const [, number, unit = ''] = /^(\d+)([mhd])(?: ago)?$/.exec(text) ?? [];
  const unitMs = UNITS_MS[unit];
  if (unitMs !== undefined) return new Date(Date.now() - Number(number) * unitMs);
  if (DAYS.includes(text)) {
    const midnight = new Date();
    midnight.setHours(-24 * DAYS.indexOf(text), 0, 0, 0);
    return midnight;
  }
  if (day.safeParse(text).success) return new Date(`${text}T00:00`);
  if (time.safeParse(text).success) return new Date(text);
  throw new InvalidArgumentError(
    'expected 90m, 2h or 3d, today, yesterday, 2026-11-20, or a time such as 2026-11-20T16:30 or 2026-11-20T16:30+01:00.',
  );
}
