import type { Automation } from '../jobs/automation.ts';
import { asNotDone, type Refused } from '../jobs/interruption.ts';
import { searchProjects } from '../partner/projects.ts';
import { searchTasks, taskName } from '../partner/tasks.ts';
import { foundBlocks } from '../slack/found.ts';

export const FIND = 'find';

/** What a job of this automation knows. */
export interface Search {
  text: string;
}

const SHOWN = 5;

/** Searches tasks and projects, and offers to log time. */
export const find: Automation = {
  name: FIND,
  async run(job, steps) {
    const { text } = job.input as unknown as Search;
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
  },
};

function refused(refusal: Refused): never {
  throw asNotDone(refusal, 'this search');
}
