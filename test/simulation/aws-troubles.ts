import { ThrottlingException } from '@aws-sdk/client-dynamodb';
import { type Carry, losingAnswers } from '../../local/world/aws.ts';

/** The value of lib/aws-limits.ts. */
const ATTEMPTS = 3;

/**
 * The table throttles every request; or nothing can be decrypted with the customer's key; or requests get no answer,
 * and every other one is not carried out either.
 */
export type AwsTrouble = 'throttled' | 'denied' | 'silent';

/** How long the SDK waits for a silent AWS, including all tries (lib/aws-limits.ts). */
export const SILENCE_MS = 9_000;

/** The SDK's error after that. */
export const silence = () =>
  Object.assign(new Error('AWS does not answer'), { name: 'TimeoutError', $metadata: { attempts: ATTEMPTS } });

/** An error that the table, the queues and the secrets have in common, though in different words. */
class KmsDenied extends Error {
  override readonly name = 'AccessDeniedException';
  override readonly message = 'Access to the KMS key is denied';
}

interface Troubles {
  trouble: () => AwsTrouble | undefined;
  /** One of this many conditional writes and messages loses its answer. */
  losesOneIn: number;
  travel: Carry;
  /** Lets the time of a silence pass. */
  sleep: (ms: number) => Promise<void>;
  /** Called for a request to the table (`GetItem`) with the number of times it was throttled. */
  throttled: (operation: string, times: number) => void;
}

/** Carries requests to an AWS that sometimes has troubles. */
export function inTrouble({ trouble, losesOneIn, travel, sleep, throttled }: Troubles): Carry {
  let silent = 0;
  const carryOut: Carry = (answer, command) =>
    travel(() => {
      if (trouble() === 'denied') throw new KmsDenied();
      if (trouble() !== 'throttled' || !('TableName' in command.input)) return answer();
      throttled(command.constructor.name.replace(/Command$/, ''), ATTEMPTS);
      throw new ThrottlingException({ message: 'Throughput exceeds the maximum', $metadata: {} });
    }, command);
  const losing = losingAnswers(losesOneIn, carryOut);
  return async (answer, command) => {
    if (trouble() !== 'silent') return losing(answer, command);
    if (silent++ % 2 === 0) await carryOut(answer, command).catch(() => {});
    await sleep(SILENCE_MS);
    throw silence();
  };
}
