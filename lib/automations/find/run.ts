import { readRows } from '../../as-person/protocol/rows.ts';
import { fillTemplate } from '../../as-person/protocol/template.ts';
import { pageOf } from '../../config/pages.ts';
import { asNotDone, type Refused } from '../../engine/record/interruption.ts';
import type { Job } from '../../engine/record/job.ts';
import { type Automation, defineAutomation } from '../../engine/run/automation.ts';
import type { Outcome } from '../../engine/run/tell-person.ts';
import { saidIn } from '../../engine/run/tools/call.ts';
import { placeOf } from '../../platforms/slack/command-button.ts';
import { type FoundTask, foundBlocks } from '../../platforms/slack/found.ts';
import { searchProjects } from '../../service/partner/operations/projects.ts';
import { searchTasks, taskName } from '../../service/partner/operations/tasks.ts';
import { cutToLength } from '../../text.ts';
import type { Mine } from '../as-person.ts';
import type { Context } from '../context.ts';
import { isUsedIn } from '../slack-permissions.ts';
import { searchJobs } from './command.ts';

const SHOWN = 5;

/** Searches tasks and projects, and offers buttons to log time. */
export function find({ asPerson, config, knownTasks }: Context): Automation {
  const foundFor = (job: Job, text: string, tasks: readonly FoundTask[], projects: readonly FoundTask[] | null) => {
    const place = placeOf(job);
    const mayLog = !config.slack || isUsedIn(config.slack, 'log', place.channelId);
    const pages = tasks.flatMap(({ id }) => pageOf(config, job.connection, { kind: 'tasks', id }) ?? []);
    return foundBlocks(text, mayLog ? place : undefined, tasks, projects, pages);
  };

  return defineAutomation(searchJobs, async ({ text }, job, steps) => {
    const mine = await asPerson('find', job.asked?.by, job, steps);
    if (mine) return findAsPerson(mine, text, (tasks) => foundFor(job, text, tasks, []));
    const query = { q: text, page: 1, per_page: SHOWN };
    const tasks = await steps.call(
      'search tasks',
      searchTasks,
      query,
      (found) =>
        found
          .map(taskName)
          .filter((task) => task !== undefined)
          .slice(0, SHOWN),
      refused,
    );
    await knownTasks.learn(job.connection, tasks);
    const projects = await steps.call(
      'search projects',
      searchProjects,
      query,
      (found) => found.slice(0, SHOWN).map(({ project_id, name }) => ({ id: project_id, name: name ?? project_id })),
      // The tasks are found already.
      () => null,
    );
    const counted = `tasks found: ${tasks.length}, projects ${projects ? `found: ${projects.length}` : 'refused'}`;
    return { text: counted, blocks: foundFor(job, text, tasks, projects) };
  });
}

/** Searches with the mapped tool, and so only among what the person can see. */
async function findAsPerson(
  { uses, tools }: Mine<'find'>,
  text: string,
  blocksOf: (tasks: readonly FoundTask[]) => readonly object[],
): Promise<Outcome> {
  const { rows, id, text: name, ...use } = uses.own;
  const call = { ...use, arguments: fillTemplate(use.arguments, { text }) };
  const isList = rows !== undefined && id !== undefined && name !== undefined;
  const answer = await tools.read('search', call, (result) => ({
    found: isList ? readRows(result, { rows, id, text: name })?.slice(0, SHOWN).map(shortened) : undefined,
    said: saidIn(result),
  }));
  if (!answer.found) return { text: `found: ${answer.said}` };
  const found = answer.found.map((row) => ({ id: row.id, name: row.text }));
  return { text: `tasks found: ${found.length}`, blocks: blocksOf(found) };
}

function refused(refusal: Refused): never {
  throw asNotDone(refusal, 'this search');
}

/** An item of the journal holds 400 KB, and a button shows 75 characters. */
const shortened = <Row extends { text: string }>(row: Row): Row => ({ ...row, text: cutToLength(row.text, 255, '…') });
