import { commandLines } from '../commands/comment-lines.ts';
import { digest } from '../digest.ts';
import type { Automation } from '../jobs/automation.ts';
import { NotDone, RetryAt } from '../jobs/interruption.ts';
import type { Job, WrittenLine } from '../jobs/job.ts';
import type { Steps } from '../jobs/steps.ts';
import { hasActed } from './has-acted.ts';
import type { Tools } from './tools.ts';
import { verbsInComments } from './verbs.ts';

/**
 * GitHub may deliver a comment before its whole API has it. Only after this time does a missing comment count as
 * deleted.
 */
const NOT_THERE_YET_MS = 60_000;

export function writtenLine(id: number, line: string): WrittenLine {
  return { id, line: digest(line) };
}

/**
 * Runs the automation unless the command's comment was deleted or changed while its job waited. Each run reads the
 * comment first, until the job has changed something in the service. From then on the job runs to its end. Without
 * GitHub credentials, or if they may not read comments, the command counts as delivered.
 */
export function stillWritten(automation: Automation, { comments, journal, clock }: Tools): Automation {
  return {
    ...automation,
    async run(job, steps) {
      const written = job.asked?.comment;
      if (written) await check(job, written, steps);
      return automation.run(job, steps);
    },
  };

  async function check(job: Job, { id, line }: WrittenLine, steps: Steps): Promise<void> {
    if (job.replyTo?.in !== 'github') return;
    const thread = await comments.for(job.replyTo);
    if (!thread) return;
    const before = await journal(job.id);
    if (hasActed(before)) return;
    const looks = before.entries().filter(({ calls }) => calls === LOOK).length;
    const found = await steps.read(`read the comment ${looks + 1}`, LOOK, async () =>
      findLine(line, await thread.read(id)),
    );
    if (found === 'there' || found === 'may not be read') return;
    const isLateEnough = clock() >= job.createdAt + NOT_THERE_YET_MS;
    if (!isLateEnough) throw new RetryAt(job.createdAt + NOT_THERE_YET_MS, `the comment with the command is ${found}`);
    const what = found === 'gone' ? 'The comment was deleted' : 'The comment no longer has this command';
    throw new NotDone(`${what}, so nothing was done`);
  }
}

const LOOK = 'GitHub comment read';

/** @param text of the comment, as `IssueComments` reads it */
function findLine(digested: string, text: string | null | undefined): 'there' | 'gone' | 'changed' | 'may not be read' {
  if (text === undefined) return 'may not be read';
  if (text === null) return 'gone';
  return commandLines(text, verbsInComments).some((line) => digest(line) === digested) ? 'there' : 'changed';
}
