import type { RelayConfig } from '../../lib/config/schema.ts';
import { exampleEvent, type WantedEvent } from './github-event.ts';

/** Something to try, as a line of the command line and as a request. */
export type TryExample = {
  id: string;
  title: string;
  /** What `relay` takes: `send issues`. */
  command: string;
} & ({ event: WantedEvent } | { slackCommand: string });

/**
 * The examples of `partner-relay send --help` and of the console. The ids of items and the names of tasks are those of the
 * sandbox.
 */
export const tryExamples: readonly TryExample[] = [
  {
    id: 'issue',
    title: 'A new issue with the label bug',
    command: 'send issues --label bug',
    event: { event: 'issues', labels: ['bug'] },
  },
  {
    id: 'done-comment',
    title: 'A comment that completes a checklist item',
    command: "send --body '/done 101'",
    event: { body: '/done 101' },
  },
  {
    id: 'relate',
    title: 'A new issue with a line that links its defect to a task',
    command: "send issues --label bug --body 'Task: Login with passkeys'",
    event: { event: 'issues', labels: ['bug'], body: 'Task: Login with passkeys' },
  },
  {
    id: 'log-comment',
    title: 'A comment that logs time',
    command: 'send --body \'/log 45m "Login with passkeys"\'',
    event: { body: '/log 45m "Login with passkeys"' },
  },
  {
    id: 'merged',
    title: 'A merged pull request that completes checklist items',
    command: "send --merged --body 'Completes checklist items 102 and 103'",
    event: { merged: true, body: 'Completes checklist items 102 and 103' },
  },
  {
    id: 'checked',
    title: 'A pull request that names a task, which is checked',
    command: "send pull_request --body 'Task: d94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01'",
    event: { event: 'pull_request', body: 'Task: d94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01' },
  },
  {
    id: 'log',
    title: 'Log time in Slack',
    command: 'send slack \'/pm log 1h30m "Login with passkeys" wrote tests\'',
    slackCommand: '/pm log 1h30m "Login with passkeys" wrote tests',
  },
  {
    id: 'find',
    title: 'Search tasks and projects in Slack',
    command: "send slack '/pm find checkout'",
    slackCommand: '/pm find checkout',
  },
  {
    id: 'defect',
    title: 'Open the form for a defect in Slack',
    command: "send slack '/pm defect'",
    slackCommand: '/pm defect',
  },
];

/** The event and the body of an example, which a person may change before it is sent, in the first repository. */
export function bodyOf(wanted: WantedEvent, { github }: RelayConfig): { event: string; body: string } {
  const { event, payload } = exampleEvent({ ...wanted, repository: github.repositories[0]?.name });
  return { event, body: JSON.stringify(payload, null, 2) };
}
