import { digest } from '../../lib/digest.ts';
import { keys } from '../../lib/state/table/keys.ts';
import { TEAM_ID } from '../../local/slack/workspace.ts';
import { issueEvent } from '../issue-events.ts';
import { PROJECT } from '../relay.ts';
import { PLATFORM } from '../slack-requests.ts';
import { idOf, junit, upload, type WantedTest, workflowRun } from '../workflow-runs.ts';
import { commentPayload, mergedPayload, pullPayload, shaOf } from './github-payloads.ts';
import type { KillableRelay } from './killable-relay.ts';
import type { Commands, Incoming, Target } from './trial.ts';

/** An object in the service. */
export interface Made {
  id: string | number;
  /** The fields that may be wrong. */
  looks: string;
}

/** The tests' knowledge of an automation. A new automation needs a row. */
export interface Row extends Target {
  commands?: () => Commands;
  automation: string;
  what: string;
  /** No list shows it: after a lost answer, a person must look. */
  isUnlisted?: true;
  /** Prepares the trial's objects, and makes the relay forget what it learned in earlier trials. */
  prepare?(relay: KillableRelay, id: number): Promise<void> | void;
  /** The events from outside, in order. */
  incoming(id: number): readonly Incoming[];
  /** The trial's objects that the service has now. */
  made(relay: KillableRelay, id: number): readonly Made[] | Promise<readonly Made[]>;
  /** The final number of objects: for each job, or for all together. */
  makes: { ofEachJob: number } | { ofAll: number };
  /** How all objects must look in the end. */
  looks: string;
  /** Whether the relay read back the connection's first time entry. */
  readBack?(relay: KillableRelay): Promise<boolean>;
  /** How people read that it is done, if not in the words of the records. */
  tells?: RegExp;
  /** Set if a reply may come too late to be made. */
  mayGoWithoutReply?: true;
}

const REPOSITORY = 'Codertocat/Hello-World';
export const OTHER_REPOSITORY = 'Codertocat/Elsewhere';
/** The id of a transferred issue. */
const NEW_ID = 500_000;

const github = (event: string, ...payloads: object[]): Incoming[] =>
  payloads.map((payload) => ({ from: 'github', event, payload }));

/** The texts that people read: comments, without the escapes of Markdown, messages in Slack, and checks. */
export function saidIn({ github, slack }: KillableRelay, id: number): string[] {
  const places = [`${REPOSITORY}#${id}`, `${REPOSITORY}#${NEW_ID + id}`, `${OTHER_REPOSITORY}#${NEW_ID + id}`];
  const comments = github.comments.filter(({ issue }) => places.includes(issue));
  const messages = slack.messages.filter(({ userId }) => userId === slackUser(id));
  const checks = github.checkRuns.filter(
    ({ head_sha, external_id }) => head_sha === shaOf(id) || external_id === String(idOf(id)),
  );
  return [
    ...comments.map(({ body }) => body.replaceAll(/[\\\u200b]/g, '')),
    ...messages.map(({ text }) => text),
    ...checks.map(({ output }) => output.title),
  ];
}

/** An issue's defects, also after a transfer. */
const issueToDefect = {
  automation: 'issue-to-defect',
  operation: 'defects/create',
  made: ({ sandbox }, id) =>
    sandbox.data.defects
      .filter(({ description }) =>
        [`${REPOSITORY}/issues/${id}\n`, `${OTHER_REPOSITORY}/issues/${NEW_ID + id}\n`].some((url) =>
          description.includes(`https://github.com/${url}`),
        ),
      )
      .map(({ defect_id, title }) => ({ id: defect_id, looks: title })),
  makes: { ofAll: 1 },
} satisfies Partial<Row>;

export const opened: Row = {
  ...issueToDefect,
  what: 'an issue is opened',
  incoming: (id) => github('issues', issueEvent('opened', { id, title: 'opened' })),
  looks: 'opened',
};

export const edited: Row = {
  ...issueToDefect,
  what: 'an issue is opened, then edited',
  incoming: (id) =>
    github(
      'issues',
      issueEvent('opened', { id, title: 'opened' }),
      issueEvent('edited', { id, seconds: 1, title: 'edited' }),
    ),
  looks: 'edited',
};

export const transferred: Row = {
  ...issueToDefect,
  what: 'an issue is opened, then transferred',
  incoming: (id) => {
    const there = issueEvent('opened', { id: NEW_ID + id, seconds: 2, repository: OTHER_REPOSITORY, title: 'moved' });
    const here = issueEvent('opened', { id, title: 'opened' });
    return github(
      'issues',
      here,
      {
        ...issueEvent('transferred', { id, seconds: 1, title: 'opened' }),
        changes: { new_issue: there.issue, new_repository: there.repository },
      },
      { ...there, changes: { old_issue: here.issue, old_repository: here.repository } },
    );
  },
  looks: 'moved',
  // A host that takes over may no longer find the issue at the place of the comment.
  mayGoWithoutReply: true,
};

export const taskOfIssue: Row = {
  automation: 'issue-to-task',
  what: 'an issue with the label of tasks is opened',
  operation: 'tasks/create',
  isUnlisted: true,
  incoming: (id) => github('issues', issueEvent('opened', { id, labels: ['task'], title: 'a task' })),
  made: ({ sandbox }, id) =>
    sandbox.data.tasks
      .filter(({ description }) => description.endsWith(`/issues/${id}`))
      .map(({ task_id, title }) => ({ id: task_id, looks: title })),
  makes: { ofAll: 1 },
  looks: 'a task',
};

/** A person in Slack only for this trial, so that the relay must find their user in the service. */
export const slackUser = (id: number) => `U0TRIAL${id}`;
const EMAIL = 'mira.novak@example.com';

export function newInSlack({ slack }: KillableRelay, id: number): void {
  slack.users.set(slackUser(id), { id: slackUser(id), name: 'Mira Novak', email: EMAIL, tz: 'Europe/Berlin' });
}

export function command(id: number, text: string): Incoming[] {
  return [{ from: 'slack command', text, userId: slackUser(id), channelId: PLATFORM }];
}

/** @param inputs by name, which is also the name of the block */
function modal(id: number, callback_id: string, memory: object, inputs: readonly Record<string, object>[]): Incoming[] {
  const values = Object.fromEntries(inputs.map((input) => [Object.keys(input).join(), input]));
  const view = { id: `V0TRIAL${id}`, callback_id, private_metadata: JSON.stringify(memory), state: { values } };
  const sender = { team: { id: TEAM_ID }, user: { id: slackUser(id) } };
  return [{ from: 'slack modal', payload: { type: 'view_submission', ...sender, view } }];
}

export const TASK = { id: 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01', name: 'Release checkout 2.4' };
export const DATE = '2026-11-18';
/** The author of the example comment. */
export const COLLABORATOR = { github: 'Codertocat', email: EMAIL };

/**
 * Removes what the relay remembers for the next entry: the users of people, whether it read back the connection's first
 * entry, and what was logged on that day, which has no room for the entries of all trials.
 */
export async function forgetEntries(relay: KillableRelay): Promise<void> {
  const { table } = relay.stores;
  const first = (await firstEntries(relay)).map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) }));
  const users = (await table.partition(keys.users('main', '').pk)).map(({ pk, sk }) => ({
    pk: String(pk),
    sk: String(sk),
  }));
  const day = keys.timesheet('main', digest(EMAIL));
  const known = [...users, keys.person('github', COLLABORATOR.github, 'main'), day];
  for (const key of [...first, ...known]) await table.delete(key);
}

const firstEntries = ({ stores }: KillableRelay) => stores.table.partition(keys.firstTimeEntry('main', '').pk);

export const logTime = {
  automation: 'log-time',
  operation: 'timelogs/create',
  made: ({ sandbox: { data } }, id) =>
    data.timelogs
      .filter(({ note }) => note.startsWith(`trial ${id} `))
      .map(({ timelog_id, task_id, user_id, date, hours }) => {
        const email = data.users.find((user) => user.user_id === user_id)?.email;
        return { id: timelog_id, looks: `${hours} h, ${date}, ${email}, ${task_id}` };
      }),
  makes: { ofEachJob: 1 },
  looks: `1.5 h, ${DATE}, ${EMAIL}, ${TASK.id}`,
  readBack: async (relay) => (await firstEntries(relay)).some(({ verified }) => verified),
} satisfies Partial<Row>;

const logInComment = (id: number, issue: number) =>
  commentPayload(issue, `/log 1h30m ${TASK.id} ${DATE} trial ${id} in a comment`);

export const loggedInComment: Row = {
  ...logTime,
  what: 'a comment logs time',
  prepare: forgetEntries,
  incoming: (id) => github('issue_comment', logInComment(id, id)),
};

/** The second entry meets the first in every state in which a kill left it. */
export const loggedInTwoComments: Row = {
  ...logTime,
  what: 'two comments log time',
  prepare: forgetEntries,
  incoming: (id) => github('issue_comment', logInComment(id, id), logInComment(id, NEW_ID + id)),
};

export const loggedInSlack: Row = {
  ...logTime,
  what: 'a command in Slack logs time',
  async prepare(relay, id) {
    newInSlack(relay, id);
    await forgetEntries(relay);
  },
  incoming: (id) => command(id, `log 1h30m "${TASK.name}" ${DATE} trial ${id} in Slack`),
  tells: /Logged 1h30m on/,
};

/** Without a response_url, the relay reports the outcome in a direct message. */
export const loggedInModal: Row = {
  ...loggedInSlack,
  what: 'a modal in Slack logs time',
  incoming: (id) =>
    modal(id, 'log-time', { connection: 'main', task: TASK.id }, [
      { duration: { value: '1h30m' } },
      { date: { selected_date: DATE } },
      { note: { value: `trial ${id} in a modal` } },
    ]),
};

export const createDefect = {
  automation: 'create-defect',
  operation: 'defects/create',
  prepare: newInSlack,
  made: ({ sandbox }, id) =>
    sandbox.data.defects
      .filter(({ title }) => title === `trial ${id}`)
      .map(({ defect_id, project_id, type }) => ({ id: defect_id, looks: `${type} in ${project_id}` })),
  makes: { ofEachJob: 1 },
  looks: `Bug in ${PROJECT}`,
} satisfies Partial<Row>;

export const defectInSlack: Row = {
  ...createDefect,
  what: 'a command in Slack creates a defect',
  incoming: (id) => command(id, `defect trial ${id}`),
};

export const defectInModal: Row = {
  ...createDefect,
  what: 'a modal in Slack creates a defect',
  incoming: (id) =>
    modal(id, 'defect', { channelId: PLATFORM }, [
      { project: { selected_option: { value: PROJECT } } },
      { title: { value: `trial ${id}` } },
      { type: { selected_option: { value: 'Bug' } } },
    ]),
};

export const taskInSlack: Row = {
  ...createDefect,
  automation: 'create-task',
  what: 'a command in Slack creates a task',
  operation: 'tasks/create',
  isUnlisted: true,
  incoming: (id) => command(id, `task trial ${id}`),
  made: ({ sandbox }, id) =>
    sandbox.data.tasks
      .filter(({ title }) => title === `trial ${id}`)
      .map(({ task_id, description }) => ({ id: task_id, looks: description.replace(/@.*/, '') })),
  looks: 'Created in Slack by ',
};

const checklistItems = (id: number) => [100_000 + 2 * id, 100_001 + 2 * id];

/** One of the two items is already complete, so a toggle would reopen it. */
const completeChecklistItem = {
  automation: 'complete-checklist-item',
  operation: 'work-items/checklist/items/complete',
  repeatable: true,
  prepare: ({ sandbox }: KillableRelay, id: number) => {
    for (const [index, item_id] of checklistItems(id).entries()) {
      const name = `trial ${id}, ${index}`;
      const item = { item_id, group_id: 11, name, is_completed: index === 1, completed_by: null, completed_at: null };
      sandbox.data.checklistItems.push(item);
    }
  },
  made: ({ sandbox }, id) =>
    sandbox.data.checklistItems
      .filter(({ item_id }) => checklistItems(id).includes(item_id))
      .map(({ item_id, is_completed }) => ({ id: item_id, looks: is_completed ? 'completed' : 'open' })),
  makes: { ofEachJob: 2 },
  looks: 'completed',
} satisfies Partial<Row>;

export const doneInComment: Row = {
  ...completeChecklistItem,
  what: 'a comment completes checklist items',
  incoming: (id) => github('issue_comment', commentPayload(id, `/done ${checklistItems(id).join(' ')}`)),
};

export const merged: Row = {
  ...completeChecklistItem,
  what: 'a merged pull request completes checklist items',
  incoming: (id) =>
    github('pull_request', mergedPayload(id, `Completes checklist items ${checklistItems(id).join(' and ')}.`)),
};

const defectOf = (id: number) => `trial-${id}`;

/** The defect of an issue with the same number exists. */
const relate = {
  automation: 'relate',
  operation: 'defects/link',
  isUnlisted: true,
  async prepare(relay: KillableRelay, id: number) {
    newInSlack(relay, id);
    const [example] = relay.sandbox.data.defects;
    if (!example) throw new Error('the sandbox has no defect');
    relay.sandbox.data.defects.push({ ...example, defect_id: defectOf(id), task_id: null });
    const claim = { by: 'a trial', connection: 'main', marker: `trial ${id}` };
    const name = `${REPOSITORY}#${id}`;
    const { table } = relay.stores;
    const link = { life: 'made', claim, defect: { id: defectOf(id), applied: {}, updates: 0 } };
    await table.put({ ...keys.link(`issue-trial-${id}`), ...link });
    await table.put({ ...keys.linkName(name), entity: `issue-trial-${id}` });
  },
  made: ({ sandbox }, id) =>
    sandbox.data.defects
      .filter(({ defect_id, task_id }) => defect_id === defectOf(id) && task_id)
      .map(({ defect_id, task_id }) => ({ id: defect_id, looks: String(task_id) })),
  makes: { ofAll: 1 },
  looks: TASK.id,
} satisfies Partial<Row>;

export const relatedInSlack: Row = {
  ...relate,
  what: 'a command in Slack links a defect to a task',
  incoming: (id) => command(id, `relate ${defectOf(id)} task ${TASK.id}`),
};

export const relatedByPullRequest: Row = {
  ...relate,
  what: 'a merged pull request links the defect of the issue that it closes',
  incoming: (id) => github('pull_request', mergedPayload(id, `Closes #${id}\n\nTask: ${TASK.name}`)),
};

const checkedTask = (id: number) => `d94e6b20-1f73-4a5c-b8e2-${String(id).padStart(12, '0')}`;
const checkedPull = (id: number) => pullPayload(id, `Task: ${checkedTask(id)}`);

export const checked: Row = {
  automation: 'check-pull-request',
  what: 'a pull request is checked',
  operation: 'tasks/detail',
  repeatable: true,
  prepare({ sandbox: { data }, github }, id) {
    const [task] = data.tasks;
    if (task) data.tasks.push({ ...task, task_id: checkedTask(id) });
    github.pulls.set(`${REPOSITORY}#${id}`, checkedPull(id).pull_request);
  },
  incoming: (id) => github('pull_request', checkedPull(id)),
  made: ({ github }, id) =>
    github.checkRuns
      .filter(({ head_sha }) => head_sha === shaOf(id))
      .map((run) => ({ id: run.id, looks: String(run.conclusion) })),
  makes: { ofEachJob: 1 },
  looks: 'success',
};

/** The settings for test results. */
export const TESTS = {
  workflows: ['ci.yml'],
  artifacts: ['junit'],
  status: { passed: 'passed', failed: 'failed' },
  defects: { projectId: PROJECT },
};

/** A failed run of the trial, with one test. */
const redRun = {
  incoming: (id) => github('workflow_run', workflowRun({ number: id, conclusion: 'failure' })),
  makes: { ofAll: 1 },
} satisfies Partial<Row>;

const failed = (relay: KillableRelay, id: number, test: WantedTest) =>
  upload(relay.github, id, junit({ ...test, result: 'failure' }));

export const testsFailed: Row = {
  ...redRun,
  automation: 'tests-to-scenarios',
  what: 'a workflow run has test results',
  operation: 'test-scenarios/update',
  repeatable: true,
  prepare(relay, id) {
    const [scenario] = relay.sandbox.data.testScenarios;
    if (scenario) relay.sandbox.data.testScenarios.push({ ...scenario, scenario_id: `trial-${id}` });
    return failed(relay, id, { scenario: `trial-${id}` });
  },
  made: ({ sandbox }, id) =>
    sandbox.data.testScenarios
      .filter(({ scenario_id }) => scenario_id === `trial-${id}`)
      .map(({ scenario_id, status }) => ({ id: scenario_id, looks: status })),
  looks: 'failed',
};

/** The run before failed, too. */
export const testsFailedTwice: Row = {
  ...redRun,
  automation: 'failing-tests-to-defect',
  what: 'a test fails in a second run',
  operation: 'defects/create',
  // No list shows the links of a defect, which its job makes last.
  isUnlisted: true,
  async prepare(relay, id) {
    const test_case_id = `trial-${id}`;
    relay.sandbox.data.testCases.push({ test_case_id, project_id: PROJECT, name: test_case_id });
    const run = { id: 1, number: 1, url: 'https://github.com/before' };
    const failing = { [`test case ${test_case_id}`]: { first: run, last: run, runs: 1 } };
    await relay.stores.table.put({ ...keys.failingCases(REPOSITORY, 'ci.yml', 'main'), place: '0', failing, turn: 1 });
    await failed(relay, id, { name: `trial ${id}.`, case: test_case_id });
  },
  made: ({ sandbox }, id) =>
    sandbox.data.defects
      .filter(({ title }) => title.endsWith(`checkout.trial ${id}.`))
      .map(({ defect_id, test_case_id }) => ({ id: defect_id, looks: String(test_case_id?.replace(String(id), '')) })),
  looks: 'trial-',
};

/** For the tests that every automation must pass. */
export const rows: readonly Row[] = [
  ...[opened, edited, transferred, taskOfIssue],
  ...[loggedInComment, loggedInTwoComments, loggedInSlack, loggedInModal],
  ...[defectInSlack, defectInModal, taskInSlack],
  ...[doneInComment, merged, relatedInSlack, relatedByPullRequest],
  ...[checked, testsFailed, testsFailedTwice],
];
