import * as z from 'zod/mini';
import { asTyped, unquoted } from '../commands/words.ts';
import { type Automation, defineAutomation, defineJobs } from '../jobs/automation.ts';
import { asNotDone, type Refused } from '../jobs/interruption.ts';
import { searchProjects } from '../partner/projects.ts';
import { searchTasks, taskName } from '../partner/tasks.ts';
import { foundBlocks } from '../slack/found.ts';
import { eventOf, type Verb } from './verb.ts';

const searchJobs = defineJobs('find', z.object({ text: z.string() }));

export interface FindCommand {
  verb: 'find';
  text: string;
}

export const findVerb: Verb<FindCommand> = {
  verb: 'find',
  usage: 'find <text>',
  does: 'searches tasks and projects',
  examples: ['find checkout'],
  read(typed) {
    const text = unquoted(typed);
    return text === '' ? { missing: 'a text to search for' } : { command: { verb: 'find', text } };
  },
  print: ({ text }) => `find ${asTyped(text)}`,
  permission: 'find',
  asksBeforeRepeating: false,
  job(command, origin) {
    const event = eventOf('find', findVerb.print(command), origin);
    // A search has its own group, so it does not wait for the person's earlier commands.
    return searchJobs.draft({ ...event, group: `${origin.entity}-find`, input: { text: command.text } });
  },
};

const SHOWN = 5;

/** Searches tasks and projects, and offers buttons to log time. */
export function find(): Automation {
  return defineAutomation(searchJobs, async ({ text }, job, steps) => {
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
    const projects = await steps.call(
      'search projects',
      searchProjects,
      query,
      (found) => found.slice(0, SHOWN).map(({ project_id, name }) => ({ id: project_id, name: name ?? project_id })),
      refused,
    );
    const counted = `tasks found: ${tasks.length}, projects found: ${projects.length}`;
    return { text: counted, blocks: foundBlocks(text, job.connection, tasks, projects) };
  });
}

function refused(refusal: Refused): never {
  throw asNotDone(refusal, 'this search');
}
