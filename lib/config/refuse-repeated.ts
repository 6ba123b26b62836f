import type { RefinementCtx } from 'zod';

/** A name, and its path in the settings. */
export type NamedSetting = readonly [path: readonly (string | number)[], name: string];

/** Adds a fault for each name that is in the list before, in any letter case. */
export function refuseRepeated(named: readonly NamedSetting[], context: RefinementCtx): void {
  const seen = new Map<string, string>();
  for (const [path, name] of named) {
    const earlier = seen.get(name.toLowerCase());
    if (earlier === undefined) seen.set(name.toLowerCase(), path.join('.'));
    else context.addIssue({ code: 'custom', path: [...path], message: `'${name}' is already at ${earlier}` });
  }
}
