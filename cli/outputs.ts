import type { Stack } from '@aws-sdk/client-cloudformation';
import type { Wrote } from '../lib/state/table/versions.ts';

export type Outputs = ReadonlyMap<string | undefined, string | undefined>;

/** The outputs of a stage's stack, by name. */
export const outputsOf = (stack: Stack | undefined): Outputs =>
  new Map(stack?.Outputs?.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]));

/** The deployed version; undefined for a stack from before 0.1.0. */
export function wroteOf(outputs: Outputs): Wrote | undefined {
  const version = outputs.get('Version');
  return version === undefined ? undefined : { version, form: Number(outputs.get('Form')) };
}
