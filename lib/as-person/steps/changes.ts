import type { ToolCall } from '../../config/template.ts';
import { saidIn, type ToolAnswer } from '../../config/tool-answer.ts';
import { NeedsOperator, NotDone, PerhapsDone, StepFailed } from '../../engine/record/interruption.ts';
import type { StepEntry } from '../../engine/record/journal.ts';
import { ofEarlierTable } from '../../engine/record/replaced-table.ts';
import { type ActingRun, type AsPerson, changeBy } from '../../engine/run/acting.ts';
import { type Mark, sendOnce } from '../../send-once.ts';
import { AccountNeeded, CallRejected, OutcomeUnknown } from '../grants/errors.ts';
import type { Grant, Holder } from '../grants/grant.ts';
import type { ToolAccess } from './access.ts';

/**
 * The result of a call that changes something.
 * - `done`: the tool did it
 * - `failed`: the tool says that it did not, and why
 * - `unknown`: the call was sent, and may have been carried out
 */
type Made<Kept> =
  | { became: 'done'; kept: Kept }
  | { became: 'failed'; said: string }
  | { became: 'unknown'; why: string };

/** A tool call that changes something, as one step of a job. */
interface Change<Kept> {
  holder: Holder;
  step: string;
  call: ToolCall;
  keep: (answer: ToolAnswer) => Kept;
  /** The statement that the person may have to check, such as `this was logged`. */
  unclear: string;
  /**
   * Searches for the result of a call whose answer was lost. Uses the grant with which the call was sent, because
   * another account may see other things.
   * @param step the beginning of the step names
   */
  find?: ((read: AsPerson['read'], step: string) => Promise<Kept | undefined>) | undefined;
}

/**
 * When to search for a possible result, counted from the send. The last search comes after twice the service's longest
 * answer time.
 */
const LOOKS_AFTER_MS = [2_000, 15_000, 60_000];

/**
 * True if a call cannot be sent again, although an earlier send may have been carried out: another grant must not send
 * it.
 */
const endsSending = (error: unknown): error is Error =>
  error instanceof AccountNeeded || error instanceof CallRejected || error instanceof NotDone;

/** Makes a change at most once, unless the tool declares that it may be repeated. */
export function createToolChanges(run: ActingRun, access: ToolAccess) {
  const { journal, once, privacy, clock, replacedTable, happenedAt, isPublic, isLastAttempt, bug } = run;

  async function lookFor<Kept>({ holder, step, find }: Change<Kept>, why: string): Promise<Made<Kept>> {
    const { startedAt = clock(), sent } = journal.entry(step) ?? {};
    if (!find) return { became: 'unknown', why };
    // A grant's id is never empty, so '' allows no grant.
    const only = sent?.grantId ?? '';
    const read: AsPerson['read'] = (look, call, keep) => access.read(holder, look, call, keep, only);
    try {
      for (const [index, afterMs] of LOOKS_AFTER_MS.entries()) {
        const why = 'the service did not answer, and Partner Relay checks whether this was done';
        await access.pauses.until(startedAt + afterMs, why, 'answer');
        const kept = await find(read, `${step}: look ${index + 1}`);
        if (kept !== undefined) return { became: 'done', kept };
      }
    } catch (error) {
      const isOver = error instanceof NotDone || (error instanceof StepFailed && isLastAttempt);
      if (isOver) return { became: 'unknown', why: `${why}. ${error.message}` };
      // The next run only looks again.
      if (error instanceof StepFailed) throw new StepFailed(error.message, { waitsFor: 'answer', cause: error });
      throw error;
    }
    return { became: 'unknown', why: `${why}; it is not there yet, but may still come` };
  }

  /** After the table was lost or restored, sends nothing that may already have been sent before. */
  async function ensureOfThisTable(tool: string): Promise<void> {
    const earlier = await ofEarlierTable(replacedTable, happenedAt, `the tool ${tool}`);
    if (!earlier) return;
    const todo = 'only the person can look: discard the job, and have the person ask again if it is not there';
    throw new NeedsOperator(`${earlier.unknown}; ${todo}`);
  }

  /**
   * Sends the call. Before it leaves, the journal records that it may have left, and with which grant.
   * @param before how an earlier run sent it, if that send is open
   * @throws {OutcomeUnknown} if it may have been carried out and must not be sent again
   * @throws {GrantError | Interruption}
   */
  async function send<Kept>(change: Change<Kept>, before: StepEntry['sent']): Promise<Made<Kept>> {
    const { holder, step, call, keep } = change;
    let sent = before;
    const startedAt = clock();
    const { tool, args } = await access.checked(holder, call);
    const isRepeatable = tool.hints.idempotent;
    if (!before && !isRepeatable) await ensureOfThisTable(call.tool);
    const mark: Mark<Grant> = {
      async write({ grantId }) {
        access.pauses.ensureTimeForCall();
        if (before && before.grantId !== grantId)
          throw new OutcomeUnknown('the service did not answer, and the account has been linked again since');
        if (sent?.grantId === grantId) return;
        sent = { grantId, isRepeatable };
        await once.write({ step, calls: changeBy(call), status: 'begun', startedAt: clock(), sent });
      },
      // The call may be sent again, even with another grant.
      async erase(error) {
        const note = privacy.noteOf(error);
        await once.write({ step, calls: changeBy(call), status: 'failed', startedAt, finishedAt: clock(), note });
      },
    };
    const { tools } = await access.mcp();
    const ended = await sendOnce(mark, before !== undefined, async (leaving): Promise<Made<Kept>> => {
      const history = isRepeatable ? 'repeatable' : 'sent once';
      const result = await tools.call(holder, history, call.tool, args, leaving);
      // A refusal says nothing about the earlier send.
      if (result.isError && before) throw new OutcomeUnknown('the tool answered with an error');
      return result.isError ? { became: 'failed', said: saidIn(result) } : { became: 'done', kept: keep(result) };
    });
    if (ended.became === 'accepted') return ended.result;
    const { error } = ended;
    if (ended.became === 'not carried out' || sent?.isRepeatable || error instanceof OutcomeUnknown) throw error;
    bug(error);
    throw new OutcomeUnknown('Partner Relay could not read the answer', { cause: error });
  }

  async function make<Kept>(change: Change<Kept>): Promise<Made<Kept>> {
    const { step, call } = change;
    const known = journal.entry(step);
    const before = known?.status === 'done' ? undefined : known?.sent;
    if ((known?.status === 'begun' || before) && !before?.isRepeatable) {
      const { note = 'Partner Relay was interrupted while it waited for the answer' } = known ?? {};
      const made = await lookFor(change, note);
      return once.run(step, changeBy(call), async () => made, privacy);
    }
    let lost: Error | undefined;
    try {
      const attempt = () =>
        send(change, before).catch((error) => {
          if (error instanceof OutcomeUnknown || (before && endsSending(error))) lost = error;
          throw error;
        });
      return await once.run(step, changeBy(call), () => access.interrupting(attempt), privacy);
    } catch (error) {
      if (!lost) throw error;
      const entry = journal.entry(step);
      // Stores the reason, so that a later run of the job gives the same one.
      if (entry?.status === 'begun') await once.write({ ...entry, note: privacy.noteOf(lost) });
      const made = await lookFor(change, lost.message);
      return once.run(step, changeBy(call), async () => made, privacy);
    }
  }

  /** @throws {NotDone} unless the change is done */
  return async <Kept>(change: Change<Kept>): Promise<Kept> => {
    const made = await make(change);
    if (made.became === 'done') return made.kept;
    if (made.became === 'failed') {
      throw new NotDone(isPublic ? 'The service refuses this' : `The service says: ${made.said}`);
    }
    const why = isPublic ? '' : ` (${made.why})`;
    throw new PerhapsDone(
      `Before you ask again, look in the service whether ${change.unclear}: its answer was not clear${why}`,
    );
  };
}
