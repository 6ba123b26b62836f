import { userName } from '../local/user-name.ts';
import type { Target } from './target.ts';

/** The name of the person at the terminal, for the history of a job. */
export function operatorOf({ accessKeyId }: Target): string {
  const name = userName();
  // CloudTrail knows who used the key.
  return accessKeyId === undefined ? name : `${name} (AWS access key ${accessKeyId})`;
}
