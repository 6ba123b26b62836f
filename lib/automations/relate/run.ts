import { relationLines } from '../../commands/relation-lines.ts';
import { unservedCommand } from '../../config/links-accounts.ts';
import { NotDone, Refused, RetryAt } from '../../engine/record/interruption.ts';
import type { Job } from '../../engine/record/job.ts';
import { type Automation, defineAutomation } from '../../engine/run/automation.ts';
import type { Steps } from '../../engine/run/steps.ts';
import type { Outcome } from '../../engine/run/tell-person.ts';
import { heldBy } from '../../links/link-life.ts';
import type { DefectName } from '../../links/relations.ts';
import { idFromText } from '../../service/partner/operation.ts';
import type { Target } from '../../target.ts';
import { enumerated } from '../../text.ts';
import type { Context } from '../context.ts';
import { createTransfers } from '../issue-to-defect/issue-transfers.ts';
import { findTask, tasksOfKey } from '../log-time/find-task.ts';
import { type RelateInput, relateJobs } from './draft.ts';
import { relateDefect } from './relate-defect.ts';

/** How long a job waits for the defect of its issue, and how soon it looks again: about as long as it has waited. */
const WAITS_MS = 24 * 60 * 60_000;
const LOOK_AGAIN_MS = { soonest: 10_000, latest: 60 * 60_000 };

/** A number, a UUID or a key such as WEB-42: what needs no search. */
const ID = /^(\d+|[0-9a-f]{8}-[0-9a-f-]{27}|[a-z]{1,10}-\d+)$/i;

/** Links the defect of an issue, or one that a person named, to a task, a test case or a test step. */
export function relate(context: Context): Automation {
  const { config, links, relations, issues, collaborators, clock } = context;
  const { whereabouts } = createTransfers(context);

  return defineAutomation(relateJobs, async ({ defect, to }, job, steps) => {
    const mcp = 'id' in defect && config.connections[job.connection]?.mcp;
    const unserved = mcp ? unservedCommand('relate', mcp) : undefined;
    if (unserved !== undefined) throw new NotDone(unserved);
    const wanted = 'parent' in to ? await taskOfParent(to.parent, job, steps) : to;
    if (!wanted) return untold('the parent of the issue names no task');
    const defects = await defectsOf(defect, job);
    if (defects.length === 0) return untold('the issue has no defect');
    const target = await targetOf(wanted, steps);
    if ('removed' in wanted && wanted.removed) return tellRemoved(defects, target);
    const outcomes: Outcome[] = [];
    for (const one of defects) outcomes.push(await relateOne(one, target, 'id' in defect, job, steps));
    const told = outcomes.filter(({ isUntold }) => !isUntold);
    const text = (told.length > 0 ? told : outcomes).map((outcome) => outcome.text).join('; ');
    return { text, ...(told.length === 0 && { isUntold: true }) };
  });

  async function relateOne(
    defect: DefectName,
    target: Target,
    isCommand: boolean,
    job: Job,
    steps: Steps,
  ): Promise<Outcome> {
    const what = `defect ${defect.id} to ${inWords(target)}`;
    const related = await relateDefect(defect, target, { ...context, job, steps }).catch((error: unknown) => {
      throw error instanceof Refused ? refused(error, what) : error;
    });
    switch (related.became) {
      case 'linked':
        return { text: `linked ${what}` };
      case 'known': {
        const text = `nothing to do: the relay linked ${what} before, and sends nothing twice`;
        return { text, ...(!isCommand && { isUntold: true }) };
      }
      case 'left':
        return { text: `nothing done: ${related.by} links ${what}, and has not ended` };
    }
  }

  /** Unlinking is not offered (docs/partner-api.md#operations). */
  async function tellRemoved(defects: readonly DefectName[], target: Target): Promise<Outcome> {
    const linked: string[] = [];
    for (const defect of defects) {
      const isLinked = (await relations.of(defect)).some(
        ({ kind, id }) => kind === target.kind && String(id) === String(target.id),
      );
      if (isLinked) linked.push(`defect ${defect.id}`);
    }
    if (linked.length === 0) return untold(`no defect was linked to ${inWords(target)}`);
    throw new NotDone(
      `The line is gone, but ${enumerated(linked)} may still be linked to ${inWords(target)}: the service offers the relay no way to unlink. Remove the link there`,
    );
  }

  async function defectsOf(defect: RelateInput['defect'], job: Job): Promise<DefectName[]> {
    if ('id' in defect) return [{ connection: job.connection, id: idFromText(defect.id) }];
    const names = 'entity' in defect ? [] : defect.closed;
    const entities = 'entity' in defect ? [defect.entity] : await Promise.all(names.map((name) => links.named(name)));
    const found = await Promise.all(
      entities.map((entity) => (entity === undefined ? undefined : defectOf(entity, job))),
    );
    return found.filter((one) => one !== undefined);
  }

  /** @throws {RetryAt} while the defect is about to be made */
  async function defectOf(first: string, job: Job): Promise<DefectName | undefined> {
    const { entity } = await whereabouts(first, job);
    const link = await links.get(entity);
    const { claim, defect } = heldBy(link);
    if (defect && claim?.connection === job.connection) return { connection: claim.connection, id: defect.id };
    if (defect || (link.life === 'unclaimed' && !link.newest?.wanted)) return undefined;
    const waited = clock() - job.createdAt;
    if (waited > WAITS_MS) throw new NotDone('The issue has no defect after a day, so nothing was linked');
    const { soonest, latest } = LOOK_AGAIN_MS;
    throw new RetryAt(
      clock() + Math.min(Math.max(waited, soonest), latest),
      'the defect of the issue is not made yet',
      {
        releasesQueueGroup: true,
        waitsFor: 'job',
      },
    );
  }

  /** What the parent's first line `Task:` names, if its author may command: decision 0018. */
  async function taskOfParent(
    { repository, issueNumber }: { repository: string; issueNumber: number },
    { replyTo }: Job,
    steps: Steps,
  ) {
    const installationId = replyTo?.in === 'github' ? replyTo.installationId : undefined;
    const place = { repository, issueNumber, installationId };
    return steps.read('read the parent', 'GitHub issue', async () => {
      const parent = await issues.read(place);
      const task = relationLines(parent?.body ?? '').find(({ kind }) => kind === 'task');
      const isTheirs = task && parent?.user && (await collaborators.has(place, parent.user.login)) === true;
      return isTheirs ? task : null;
    });
  }
}

/** @throws {NotDone} if no task, or more than one, has that name */
async function targetOf({ kind, named }: { kind: Target['kind']; named: string }, steps: Steps): Promise<Target> {
  if (kind !== 'task' || ID.test(named)) return { kind, id: idFromText(named) };
  const found = await findTask({ task: named, day: 'today' }, tasksOfKey(steps));
  if ('task' in found) return { kind, id: found.task.id };
  const ids = found.offered.map(({ task }) => `${task.id}`);
  const offer = ids.length > 0 ? `. Did you mean one of these? ${ids.join(', ')}` : '';
  throw new NotDone(`${found.fault}${offer}. Nothing was linked`);
}

const inWords = ({ kind, id }: Target) => `${kind} ${id}`;

const untold = (why: string): Outcome => ({ text: `nothing to do: ${why}`, isUntold: true });

/** The meaning of the statuses for this operation: docs/partner-api.md#statuses. */
function refused(error: Refused, what: string): unknown {
  const { status } = error.refusal;
  if (status === 403) return error;
  const why =
    status === 404 ? 'there is no such defect or no such thing' : 'the service does not take one of these ids';
  return new NotDone(`Did not link ${what}: ${why}`);
}
