import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../lib/text.ts';
import { hooksOf } from './enter-secrets.ts';
import { type KeptSecrets, readKeptSecrets, secretsFile } from './kept-secrets.ts';
import type { LocalStack } from './stack.ts';
import { STATE_FOLDER } from './state.ts';
import { watchFolders } from './watch-folders.ts';

/**
 * Makes the relay use the secret of a webhook when a person enters it.
 * @param use starts the functions again, because they remember secrets
 * @param tell is called with a sentence about each change
 */
export function watchHookSecrets(
  { secrets, secretPrefix }: LocalStack,
  first: KeptSecrets,
  use: () => Promise<void>,
  tell: (message: string) => void,
): { close(): void } {
  let known = hooksOf(first);
  const check = async () => {
    const now = hooksOf(readKeptSecrets());
    if (isDeepStrictEqual(now, known)) return;
    known = now;
    secrets.put(`${secretPrefix}hooks`, now);
    await use();
    tell('Webhook secrets changed; the relay has read them again.');
  };
  const failed = (error: unknown) => tell(`changed secrets are not used: ${messageOf(error)}`);
  const files = watchFolders(
    (path) => path === secretsFile(),
    () => check().catch(failed),
    failed,
  );
  files.add(STATE_FOLDER);
  return files;
}
