import * as z from 'zod';
import { parsedJson } from '../../lib/text.ts';
import { type Answer, json } from './answer.ts';
import type { RespondsTo } from './response-urls.ts';
import type { SlackMessage, StandInView, Workspace } from './workspace.ts';

const newResponseUrl = z.object({ userId: z.string(), channelId: z.string() });

/** What `GET /messages` lists. */
export type ListedMessage = SlackMessage | (StandInView & { kind: 'view' });

/**
 * Endpoints for the command line: `GET /messages` returns all messages, in order of time. `GET /people` returns the
 * members of the workspace. `POST /response-url` with `{ userId, channelId }` returns what Slack would send with a
 * command.
 */
export function answerControl(
  route: string,
  body: string,
  workspace: Workspace,
  makeResponseUrl: (about: RespondsTo) => string,
): Answer {
  switch (route) {
    case 'GET /messages':
      return json(200, sentInOrder(workspace));
    case 'GET /people':
      return json(200, [...workspace.users.values()]);
    case 'POST /response-url': {
      const read = newResponseUrl.safeParse(parsedJson(body));
      if (!read.success) return json(400, { error: 'expected { "userId", "channelId" }' });
      const { userId, channelId } = read.data;
      const fault = userFault(userId, workspace);
      if (fault !== undefined) return json(404, { error: fault });
      const responseUrl = makeResponseUrl({ userId, channelId });
      return json(200, {
        responseUrl,
        triggerId: workspace.triggers.make(userId),
        teamId: workspace.installation.teamId,
      });
    }
    default:
      return json(404, {
        error: 'not found; available: /api/, /response/, GET /messages, GET /people and POST /response-url',
      });
  }
}

function sentInOrder({ messages, views }: Workspace): ListedMessage[] {
  return [...messages, ...views.map((view) => ({ ...view, kind: 'view' as const }))].toSorted((a, b) => a.at - b.at);
}

/** Says that there is no such user, and who there is. */
export function userFault(userId: string, { users }: Pick<Workspace, 'users'>): string | undefined {
  if (users.has(userId)) return undefined;
  const known = [...users.values()].map(({ id, name }) => `${id} (${name})`);
  return `Slack has no user ${userId}; there are ${known.join(', ')}`;
}
