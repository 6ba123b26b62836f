import { SealBroken } from '../../seal.ts';
import { messageOf } from '../../text.ts';
import { NeedsOperator, NotDone } from './interruption.ts';

/** Seals what only one person may read. */
export interface Sealing {
  seal(text: string, associated: readonly string[]): Promise<Uint8Array>;
  /** @throws {SealBroken} */
  unseal(sealed: Uint8Array, associated: readonly string[]): Promise<string>;
  /**
   * Returns an error without the service's own words, which may be about the person; undefined if the error never
   * contains any.
   */
  wordsOf(error: unknown): string | undefined;
}

/** The text in the records of a job in place of words that only the person who asked may read. */
export const DONE_AS_PERSON = 'done';
export const NOT_DONE_AS_PERSON = 'not done; the answer to this request said why';
export const PERHAPS_DONE_AS_PERSON = 'it is unknown whether this was done; look in the service before you ask again';

/**
 * Hides what a tool returned from everyone but the person who asked. The journal keeps it sealed, in case the worker
 * stops before it tells the person. Logs, metrics and the console never contain it.
 */
export type Privacy = ReturnType<typeof createPrivacy>;

/**
 * @param ensureSignedByIntake throws for a job that intake did not make as it is: it could show the sealed text to
 * another person
 */
export function createPrivacy(jobId: string, sealing: Sealing, ensureSignedByIntake?: () => Promise<void>) {
  const associated = (step: string) => ['journal', jobId, step];
  let used = false;
  return {
    seal(step: string, kept: unknown): Promise<Uint8Array> {
      used = true;
      return sealing.seal(JSON.stringify({ kept }), associated(step));
    },
    /**
     * @throws {NeedsOperator} if the relay did not seal the text, its key is gone, or someone changed the job in the
     * table
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
    /** Returns an error in words that the records may contain. */
    noteOf(error: unknown): string {
      used = true;
      if (error instanceof NotDone) return NOT_DONE_AS_PERSON;
      const { cause } = error instanceof Error ? error : {};
      return sealing.wordsOf(error) ?? sealing.wordsOf(cause) ?? messageOf(error);
    },
    /** True if this run kept something private. Not read from the journal, because the table can be changed. */
    wasUsed: () => used,
  };
}
