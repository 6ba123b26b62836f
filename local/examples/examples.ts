import type { RelayConfig } from '../../lib/config/schema.ts';
import { exampleEvent, type WantedEvent } from './github-event.ts';

/** Events to try. Their ids of items and names of tasks are the sandbox's. */
export const exampleEvents: readonly { id: string; title: string; event: WantedEvent }[] = [
  { id: 'issue', title: 'A new issue with the label bug', event: { event: 'issues', labels: ['bug'] } },
  { id: 'done-comment', title: 'A comment that completes a checklist item', event: { body: '/done 101' } },
  {
    id: 'relate',
    title: 'A new issue with a line that links its defect to a task',
    event: { event: 'issues', labels: ['bug'], body: 'Task: Login with passkeys' },
  },
  { id: 'log-comment', title: 'A comment that logs time', event: { body: '/log 45m "Login with passkeys"' } },
  {
    id: 'merged',
    title: 'A merged pull request that completes checklist items',
    event: { merged: true, body: 'Completes checklist items 102 and 103' },
  },
  {
    id: 'checked',
    title: 'A pull request that names a task, which is checked',
    event: { event: 'pull_request', body: 'Task: d94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01' },
  },
];

/** Commands to try in Slack. */
export const exampleCommands: readonly { id: string; title: string; body: string }[] = [
  { id: 'log', title: 'Log time in Slack', body: '/pm log 2h "Login with passkeys" tests' },
  { id: 'find', title: 'Search tasks and projects in Slack', body: '/pm find checkout' },
  { id: 'defect', title: 'Open the form for a defect in Slack', body: '/pm defect' },
  { id: 'done', title: 'Complete checklist items in Slack', body: '/pm done 101' },
  { id: 'status', title: 'Ask for the state of your requests', body: '/pm status' },
  { id: 'help', title: 'List all commands', body: '/pm help' },
];

/** The event and body of an example, in the first configured repository. A person may change it before it is sent. */
export function bodyOf(wanted: WantedEvent, { github }: RelayConfig): { event: string; body: string } {
  const { event, payload } = exampleEvent({ ...wanted, repository: github.repositories[0]?.name });
  return { event, body: JSON.stringify(payload, null, 2) };
}
