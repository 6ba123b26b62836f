import * as z from 'zod';
import { isShownCollaborator } from '../../lib/platforms/github/association.ts';
import { type GithubDelivery, readDelivery } from '../../lib/platforms/github/delivery.ts';
import type { HttpHandler } from '../http-front.ts';
import type { GithubKnowledge } from './stand-in.ts';

const by = {
  user: z.object({ login: z.string(), id: z.int().optional() }).nullable(),
  author_association: z.string().nullish(),
};
const issue = z.looseObject({ ...by, number: z.int(), updated_at: z.string(), state: z.string().nullish() });
const times = { created_at: z.string(), updated_at: z.string() };
const comment = z.looseObject({ ...by, ...times, id: z.int(), body: z.string() });
const told = z.object({
  action: z.string(),
  repository: z.object({ full_name: z.string() }),
  issue: issue.optional(),
  comment: comment.optional(),
  pull_request: z.looseObject({ ...by, number: z.int(), state: z.string().nullish() }).optional(),
});

/** Gives the stand-in GitHub's knowledge from the deliveries that the handler accepts. */
export function remembering(handler: HttpHandler, known: GithubKnowledge): HttpHandler {
  return async (request) => {
    const answer = await handler(request);
    if (answer.statusCode === 200 || answer.statusCode === 202) {
      const bytes = Buffer.from(request.body ?? '', request.isBase64Encoded ? 'base64' : 'utf8');
      remember(known, readDelivery(bytes, request.headers));
    }
    return answer;
  };
}

function remember({ issues, pulls, written, roles }: GithubKnowledge, { event, payload }: GithubDelivery): void {
  const { data } = told.safeParse(payload);
  if (!data) return;
  const { action, repository, issue, comment, pull_request } = data;
  for (const { user, author_association } of [issue, comment, pull_request].filter((one) => one !== undefined)) {
    if (user && isShownCollaborator(user, author_association)) roles.set(user.login, 'write');
  }
  if (pull_request) pulls.set(`${repository.full_name}#${pull_request.number}`, pull_request);
  if (comment) written.set(comment.id, action === 'deleted' ? null : comment);
  if (!issue) return;
  const name = `${repository.full_name}#${issue.number}`;
  if (event === 'issues' && ['deleted', 'transferred'].includes(action)) {
    issues.delete(name);
    return;
  }
  const before = issues.get(name);
  const isOld = before && Date.parse(before.updated_at) > Date.parse(issue.updated_at);
  if (!isOld) issues.set(name, issue);
}
