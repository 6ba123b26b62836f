import { type Answer, json } from './answer.ts';
import { type Arguments, SlackError } from './call-arguments.ts';
import { postMessage, updateMessage } from './chat.ts';
import { channelInfo, historyScope, openConversation, readHistory } from './conversations.ts';
import { authTest, listUserGroup, lookupByEmail, userInfo } from './users.ts';
import { openView, updateView } from './views.ts';
import type { Workspace } from './workspace.ts';

interface Method {
  /** The scope that the method's page names. */
  scope?(workspace: Workspace, args: Arguments): string;
  /** @throws {SlackError} */
  answer(workspace: Workspace, args: Arguments): Record<string, unknown>;
}

/** The methods of https://docs.slack.dev/reference/methods that the relay uses. */
const methods = {
  'auth.test': { answer: authTest },
  'chat.postMessage': { scope: () => 'chat:write', answer: postMessage },
  'chat.update': { scope: () => 'chat:write', answer: updateMessage },
  'conversations.history': { scope: historyScope, answer: readHistory },
  'conversations.info': { answer: channelInfo },
  'conversations.open': { scope: () => 'im:write', answer: openConversation },
  'usergroups.users.list': { scope: () => 'usergroups:read', answer: listUserGroup },
  'users.info': { scope: () => 'users:read', answer: userInfo },
  'users.lookupByEmail': { scope: () => 'users:read.email', answer: lookupByEmail },
  'views.open': { answer: openView },
  'views.update': { answer: updateView },
} satisfies Record<string, Method>;

export type MethodName = keyof typeof methods;

/**
 * Answers a call, whose arguments the relay sends as a form. Slack's errors have status 200, too.
 * https://docs.slack.dev/apis/web-api
 */
export function answerApiCall(
  workspace: Workspace,
  botToken: string,
  name: string,
  authorization: string | undefined,
  body: string,
): Answer {
  try {
    const method: Method | undefined = Object.hasOwn(methods, name) ? methods[name as MethodName] : undefined;
    if (!method) throw new SlackError('unknown_method');
    if (authorization === undefined) throw new SlackError('not_authed');
    if (authorization !== `Bearer ${botToken}`) throw new SlackError('invalid_auth');
    const args = Object.fromEntries(new URLSearchParams(body));
    const scope = method.scope?.(workspace, args);
    if (scope !== undefined && workspace.scopes?.has(scope) === false) throw new SlackError('missing_scope');
    return json(200, { ok: true, ...method.answer(workspace, args) });
  } catch (error) {
    if (!(error instanceof SlackError)) throw error;
    return json(200, { ok: false, error: error.error, ...inDetail(error.faults) });
  }
}

function inDetail(faults: readonly string[]): Record<string, unknown> {
  if (faults.length === 0) return {};
  return { errors: faults, response_metadata: { messages: faults.map((fault) => `[ERROR] ${fault}`) } };
}
