import * as z from 'zod';
import { nearMiss } from '../near-miss.ts';
import { textLike } from './kinds.ts';

/** The name of a connection or a team. */
export const slug = textLike(/^[a-z0-9][a-z0-9-]{0,30}$/, 'expected lowercase letters, digits and hyphens')
  // Table items are keyed by this name.
  .refine((name) => !(name in {}), 'expected another name, because every object of JavaScript has this one');

/**
 * A text that must match a text elsewhere, such as a label. A space around it would be hard to see, and would match
 * nothing.
 */
export const exactText = z
  .string()
  .min(1)
  .refine((text) => text.trim() === text, 'expected a text without spaces around it');

export const slackChannel = textLike(/^[CG][A-Z0-9]+$/, 'expected the id of a channel, such as C0123ABCD');

export const timeZone = z.string().refine(isTimeZone, { error: ({ input }) => zoneFault(String(input)) });

function zoneFault(name: string): string {
  const meant = nearMiss(name, Intl.supportedValuesOf('timeZone'));
  return meant === undefined
    ? 'expected a name such as Europe/Berlin'
    : `there is no time zone '${name}'; did you mean '${meant}'?`;
}

/** True if this Node version knows a zone with that name. */
export function isTimeZone(name: string): boolean {
  // Intl also accepts offsets, but they have no daylight saving time.
  if (/^[+-]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

/** A name, with its path in the settings. */
export type NamedSetting = readonly [path: readonly (string | number)[], name: string];

/** Adds a fault for each name that occurs earlier in the list, in any letter case. */
export function refuseRepeated(named: readonly NamedSetting[], context: z.RefinementCtx): void {
  const seen = new Map<string, string>();
  for (const [path, name] of named) {
    const earlier = seen.get(name.toLowerCase());
    if (earlier === undefined) seen.set(name.toLowerCase(), path.join('.'));
    else context.addIssue({ code: 'custom', path: [...path], message: `'${name}' is already at ${earlier}` });
  }
}
