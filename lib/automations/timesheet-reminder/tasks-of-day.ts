import type { Team } from '../../config/timesheets.ts';
import { heldBy } from '../../links/link-life.ts';
import { comparableAddress } from '../../text.ts';
import { closedWorkOf } from '../../timesheets/closed-work.ts';
import type { Context } from '../context.ts';

/** A task, and what the person finished that belongs to it. */
interface TaskOfDay {
  id: string;
  /** `merged acme/web#12 and 2 more` */
  did: string;
}

const MOST_TASKS = 10;

/**
 * The tasks that a person may have worked on that day: those linked to the defects of the issues that they closed,
 * themselves or by a merged pull request. Only what this relay saw counts.
 */
export async function tasksOfDay(
  { email, date, team: { connection, timeZone } }: { email: string; date: string; team: Team },
  { config, table, links, relations }: Context,
): Promise<TaskOfDay[]> {
  const logins = config.people
    .filter((one) => comparableAddress(one.email) === comparableAddress(email))
    .map(({ github }) => github);
  const works = await Promise.all(logins.map((login) => (login === undefined ? [] : closedWorkOf(login, { table }))));
  const day = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeZone });
  const found = new Map<string, Set<string>>();
  for (const { did, issues, at } of works.flat()) {
    if (day.format(at) !== date) continue;
    for (const issue of issues)
      for (const task of await tasksOf(issue)) found.set(task, (found.get(task) ?? new Set()).add(did));
  }
  return [...found].slice(0, MOST_TASKS).map(([id, did]) => ({ id, did: inShort([...did]) }));

  async function tasksOf(issue: string): Promise<string[]> {
    const entity = await links.named(issue);
    const { claim, defect } = entity === undefined ? {} : heldBy(await links.look(entity));
    if (!defect || claim?.connection !== connection) return [];
    const targets = await relations.of({ connection, id: defect.id });
    return targets.flatMap(({ kind, id }) => (kind === 'task' ? [String(id)] : []));
  }
}

const inShort = ([first = '', ...others]: readonly string[]) =>
  others.length === 0 ? first : `${first} and ${others.length} more`;
