import { SealBroken } from '../../seal.ts';
import { messageOf } from '../../text.ts';
import { NeedsOperator, NotDone } from './interruption.ts';

/** How what concerns a person alone is kept from everybody else. */
export interface Sealing {
  seal(text: string, associated: readonly string[]): Promise<Uint8Array>;
  /** @throws {SealBroken} */
  unseal(sealed: Uint8Array, associated: readonly string[]): Promise<string>;
  /** An error without the service's own words, which may be about the person; undefined if it never has any. */
  wordsOf(error: unknown): string | undefined;
}

/** What the records of a job say in place of words that only the person who asked may read. */
export const DONE_AS_PERSON = 'done';
export const NOT_DONE_AS_PERSON = 'not done; the person who asked was told why';

/**
 * Keeps what a tool said from everyone but the person who asked. The journal holds it sealed, for the case that the relay
 * stops before the person was told; logs, metrics and the console never have it.
 */
export type Privacy = ReturnType<typeof createPrivacy>;

/** @param ensureSignedByIntake throws for a job that intake did not make as it is: what was sealed could go to another person */
export function createPrivacy(jobId: string, sealing: Sealing, ensureSignedByIntake?: () => Promise<void>) {
  const associated = (step: string) => ['journal', jobId, step];
  let used = false;
  return {
    seal(step: string, kept: unknown): Promise<Uint8Array> {
      used = true;
      return sealing.seal(JSON.stringify({ kept }), associated(step));
    },
    /**
     * @throws {NeedsOperator} if the relay did not seal it, the key that it was sealed with is gone, or what becomes of it
     * was changed in the table
     */
    async open(step: string, sealed: Uint8Array | undefined): Promise<unknown> {
      used = true;
      await ensureSignedByIntake?.();
      if (!sealed) throw new NeedsOperator(`the journal has the step ${step} in a form that the relay does not write`);
      try {
        return JSON.parse(await sealing.unseal(sealed, associated(step))).kept;
      } catch (error) {
        if (!(error instanceof SealBroken)) throw error;
        throw new NeedsOperator(`the step ${step} was changed in the journal, or the key that sealed it is gone`);
      }
    },
    /** An error in words for the records. */
    noteOf(error: unknown): string {
      used = true;
      if (error instanceof NotDone) return NOT_DONE_AS_PERSON;
      const { cause } = error instanceof Error ? error : {};
      return sealing.wordsOf(error) ?? sealing.wordsOf(cause) ?? messageOf(error);
    },
    /** Whether it kept something in this run. The journal's own word for that could be changed in the table. */
    wasUsed: () => used,
  };
}
