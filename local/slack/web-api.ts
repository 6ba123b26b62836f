import type { IncomingMessage } from 'node:http';
import { type Answer, json } from './answer.ts';
import { readApiCall } from './api-call.ts';
import { methodOf } from './methods.ts';
import { SlackError } from './slack-error.ts';
import type { Workspace } from './workspace.ts';

/** Slack answers errors with status 200 too. https://docs.slack.dev/apis/web-api */
export function answerApiCall(
  workspace: Workspace,
  botToken: string,
  name: string,
  request: Pick<IncomingMessage, 'url' | 'headers'>,
  body: string,
): Answer {
  try {
    return json(200, { ok: true, ...carryOut(workspace, botToken, name, request, body) });
  } catch (error) {
    if (!(error instanceof SlackError)) throw error;
    return json(200, { ok: false, error: error.error, ...inDetail(error.faults) });
  }
}

function carryOut(
  workspace: Workspace,
  botToken: string,
  name: string,
  request: Pick<IncomingMessage, 'url' | 'headers'>,
  body: string,
): Record<string, unknown> {
  const method = methodOf(name);
  if (!method) throw new SlackError('unknown_method');
  const { args, token, warning } = readApiCall(request, body, method.takesJson);
  if (token === undefined) throw new SlackError('not_authed');
  if (token !== botToken) throw new SlackError('invalid_auth');
  const scope = method.scope?.(workspace, args);
  if (scope !== undefined && workspace.scopes?.has(scope) === false) throw new SlackError('missing_scope');
  const answer = method.answer(workspace, args);
  return warning ? withWarning(answer, warning) : answer;
}

function withWarning(answer: Record<string, unknown>, warning: string): Record<string, unknown> {
  const metadata = answer.response_metadata as object | undefined;
  return { ...answer, warning, response_metadata: { ...metadata, warnings: [warning] } };
}

function inDetail(faults: readonly string[]): Record<string, unknown> {
  if (faults.length === 0) return {};
  return { errors: faults, response_metadata: { messages: faults.map((fault) => `[ERROR] ${fault}`) } };
}
