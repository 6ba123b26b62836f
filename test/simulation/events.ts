import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { functionUrlEvent } from '../../local/http-front.ts';
import { TEAM_ID } from '../../local/slack/workspace.ts';
import { githubDelivery, type Posted, SIGNING_SECRET, slackRequest, WEBHOOK_SECRET } from '../requests.ts';

export { TEAM_ID };

/** The repository and the channel of a connection. */
export const repositoryOf = (connection: string): string => `simulation/${connection}`;
export const channelOf = (connection: string): string => `C0${connection.toUpperCase()}`;

/** An issue as GitHub shows it. */
export function issueOf(repository: string, number: number, updatedAt: number, labels = ['bug']) {
  return {
    id: number,
    number,
    title: `Issue ${number}`,
    body: 'It does not work.',
    html_url: `https://github.com/${repository}/issues/${number}`,
    user: { login: 'octocat' },
    state: 'open',
    created_at: '2026-01-05T09:00:00Z',
    updated_at: new Date(updatedAt).toISOString().replace(/\.\d+/, ''),
    labels: labels.map((name) => ({ name })),
  };
}

/** The sender of an event. A forger does not know the secret of the webhook's signatures. */
export type Sender = 'member' | 'stranger' | 'forger';

/** GitHub's event of a new issue with the label `bug`. Each number is another issue. */
export function openedIssue(
  connection: string,
  number: number,
  now: number,
  { labels = ['bug'], from = 'member' }: { labels?: string[]; from?: Sender },
): APIGatewayProxyEventV2 {
  const issue = issueOf(repositoryOf(connection), number, now, labels);
  const payload = {
    action: labels.length > 0 ? 'opened' : 'edited',
    issue: { ...issue, ...(from === 'stranger' && { author_association: 'NONE' }) },
    repository: { full_name: repositoryOf(connection) },
    ...(from === 'stranger' && { sender: { login: issue.user.login } }),
  };
  const secret = from === 'forger' ? 'a guess' : WEBHOOK_SECRET;
  return arriving(githubDelivery('issues', payload, { id: `delivery-${number}`, secret }));
}

/** A person's command in Slack, with the values that make it unique. */
export interface DoneCommand {
  userId: string;
  items: readonly number[];
  triggerId: string;
  responseUrl: string;
  isForged?: boolean;
}

/** A person types `/pm done 101 102`. */
export function doneCommand(connection: string, command: DoneCommand, now: number): APIGatewayProxyEventV2 {
  const form = {
    command: '/pm',
    text: `done ${command.items.join(' ')}`,
    team_id: TEAM_ID,
    user_id: command.userId,
    user_name: 'mira',
    channel_id: channelOf(connection),
    trigger_id: command.triggerId,
    response_url: command.responseUrl,
  };
  return arriving(slackRequest(form, now, command.isForged ? 'a guess' : SIGNING_SECRET));
}

const arriving = ({ headers, body }: Posted): APIGatewayProxyEventV2 =>
  functionUrlEvent({ method: 'POST', headers, url: '/' }, '/', body);
