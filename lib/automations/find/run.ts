import { comparableName, idIn } from '../../commands/words.ts';
import { pageOf } from '../../config/pages.ts';
import { callOf } from '../../config/template.ts';
import { readRows, saidIn } from '../../config/tool-answer.ts';
import { ifRefused, Refused } from '../../engine/record/interruption.ts';
import type { JobSteps } from '../../engine/run/job-steps.ts';
import { placeOf } from '../../platforms/slack/command-button.ts';
import { type FoundTask, foundBlocks } from '../../platforms/slack/found.ts';
import { searchProjects } from '../../service/partner/operations/projects.ts';
import { searchTasks, taskName } from '../../service/partner/operations/tasks.ts';
import { counted, cutToLength } from '../../text.ts';
import type { Mine } from '../as-person.ts';
import { nearTasks, TASK_ID, tasksOfKey } from '../log-time/find-task.ts';
import { defineRun, type RunContext } from '../our-automation.ts';
import { isUsedIn } from '../slack-permissions.ts';
import { searchJobs } from './command.ts';

const SHOWN = 5;

interface Found {
  tasks: readonly FoundTask[];
  /** Null if the key may not read projects. */
  projects: readonly FoundTask[] | null;
  /** Similar tasks, if the search finds nothing. */
  near?: readonly FoundTask[];
  /** The counts for the records. */
  sum: string;
}

/** Searches tasks and projects, and offers buttons to log time. */
export const run = defineRun(searchJobs, async ({ text }, steps, context) => {
  const { job, config, asPerson } = context;
  const mine = await asPerson('find', job.asked?.by, job, steps);
  const found = await (mine ? asThem(mine, text) : withKey(text, steps, context));
  if ('said' in found) return { text: `found: ${found.said}` };
  const { tasks, projects, near, sum } = found;
  const place = placeOf(job);
  const mayLog = !config.slack || isUsedIn(config.slack, 'log', place.channelId);
  const pages = tasks.flatMap(({ id }) => pageOf(config, job.connection, { kind: 'tasks', id }) ?? []);
  return { text: sum, blocks: foundBlocks(text, mayLog ? place : undefined, tasks, projects, pages, near) };
});

async function withKey(text: string, steps: JobSteps, { job, knownTasks }: RunContext): Promise<Found> {
  const query = { q: text, per_page: SHOWN };
  const { kept: listed } = await steps
    .list('search tasks', searchTasks, query, taskName, ({ id }) => id, 1)
    .catch(ifRefused('this search'));
  const matching = listed.slice(0, SHOWN);
  const id = idIn(text) ?? '';
  // The service's search may ignore ids, so a text without a match is looked up as an id.
  const byId = matching.length === 0 && TASK_ID.test(id) ? await taskOf(id, steps) : null;
  const tasks = byId ? [byId] : matching;
  await knownTasks.learn(job.connection, tasks);
  const named = ({ project_id, name }: { project_id: string; name?: string | null | undefined }) => ({
    id: project_id,
    name: name ?? project_id,
  });
  // If the service refuses to search projects, the tasks are still shown.
  const projects = await steps
    .list('search projects', searchProjects, query, named, ({ id }) => id, 1)
    .then(({ kept }) => kept.slice(0, SHOWN), nullIfRefused);
  const isFound = tasks.length > 0 || projects?.length !== 0;
  const near = isFound ? [] : await similarTasks(text, steps, await knownTasks.get(job.connection));
  const ofProjects = projects ? counted(projects.length, 'project') : 'the key may not search projects';
  return { tasks, projects, near, sum: `found ${counted(tasks.length, 'task')}, ${ofProjects}` };
}

/** Searches what the person can see. */
async function asThem({ uses, tools }: Mine<'find'>, text: string): Promise<Found | { said: string }> {
  const { found, said } = await tools.read('search', callOf(uses.own, { text }), (answer) => ({
    found: readRows(answer, uses.own)?.slice(0, SHOWN).map(shortened),
    said: saidIn(answer),
  }));
  if (!found) return { said };
  const tasks = found.map(({ id, text: name }) => ({ id, name }));
  return { tasks, projects: [], sum: `found ${counted(tasks.length, 'task')}` };
}

/** Returns the task with this id; null if there is none, or if the key may not read tasks. */
function taskOf(id: string, steps: JobSteps): Promise<FoundTask | null> {
  return tasksOfKey(steps).byId(id).catch(nullIfRefused);
}

function nullIfRefused(error: unknown): null {
  if (error instanceof Refused) return null;
  throw error;
}

/** Finds tasks that share a word with the text, allowing typos, or that contain the text with other spaces. */
async function similarTasks(text: string, steps: JobSteps, known: readonly FoundTask[]): Promise<readonly FoundTask[]> {
  const joined = (name: string) => comparableName(name).replaceAll(' ', '');
  const near = await nearTasks(
    text,
    tasksOfKey(steps, async () => known),
  );
  const isNew = ({ id }: FoundTask) => near.every((task) => String(task.id) !== String(id));
  const spaced = known.filter((task) => isNew(task) && joined(task.name).includes(joined(text)));
  return [...near, ...spaced].slice(0, SHOWN);
}

/** Shortens a text: a journal item holds 400 KB, and a button shows 75 characters. */
const shortened = <Row extends { text: string }>(row: Row): Row => ({ ...row, text: cutToLength(row.text, 255, '…') });
