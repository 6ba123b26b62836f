import { userName } from '../local/user-name.ts';
import type { Target } from './target.ts';

/** The name of the person at the terminal, for a job's history. */
export function operatorOf({ accessKeyId }: Target): string {
  const name = userName();
  // CloudTrail tells who used the key.
  return accessKeyId === undefined ? name : `${name} (AWS access key ${accessKeyId})`;
}
