import type { Arguments } from './api-call.ts';
import { postMessage, updateMessage } from './chat.ts';
import { channelInfo, historyScope, openConversation, readHistory } from './conversations.ts';
import { authTest, listUserGroup, lookupByEmail, userInfo } from './users.ts';
import { openView, updateView } from './views.ts';
import type { Workspace } from './workspace.ts';

interface Method {
  /**
   * True if it accepts JSON bodies. Reading methods are documented with queries and forms, and some ignore JSON: "This
   * method does not currently accept application/json", https://api.slack.com/methods/usergroups.users.list. Newer
   * pages also list JSON for some, but a form is still right.
   */
  takesJson: boolean;
  /** The scope on the method's page. */
  scope?(workspace: Workspace, args: Arguments): string;
  /** @throws {SlackError} */
  answer(workspace: Workspace, args: Arguments): Record<string, unknown>;
}

/** The methods of https://docs.slack.dev/reference/methods that the relay uses. */
const methods = {
  'auth.test': { takesJson: true, answer: authTest },
  'chat.postMessage': { takesJson: true, scope: () => 'chat:write', answer: postMessage },
  'chat.update': { takesJson: true, scope: () => 'chat:write', answer: updateMessage },
  'conversations.history': { takesJson: false, scope: historyScope, answer: readHistory },
  'conversations.info': { takesJson: false, answer: channelInfo },
  'conversations.open': { takesJson: true, scope: () => 'im:write', answer: openConversation },
  'usergroups.users.list': { takesJson: false, scope: () => 'usergroups:read', answer: listUserGroup },
  'users.info': { takesJson: false, scope: () => 'users:read', answer: userInfo },
  'users.lookupByEmail': { takesJson: false, scope: () => 'users:read.email', answer: lookupByEmail },
  'views.open': { takesJson: true, answer: openView },
  'views.update': { takesJson: true, answer: updateView },
} satisfies Record<string, Method>;

export type MethodName = keyof typeof methods;

export function methodOf(name: string): Method | undefined {
  return Object.hasOwn(methods, name) ? methods[name as MethodName] : undefined;
}
