import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { BudgetUnavailable } from '../../service/budget/budget-store.ts';
import { HttpError, type RawRequest } from '../../state/http/function-url.ts';
import { TryLater } from '../grants/errors.ts';
import { McpError, McpUnanswered } from '../protocol/errors.ts';
import { InstanceFault, OAuthRefusal, OAuthUnavailable } from '../protocol/oauth/oauth-errors.ts';
import { faultPage } from './pages.ts';

/** Answers errors with a page for the person, and a log line for the operator. */
export function pageErrors(
  log: Pick<Console, 'warn' | 'error'>,
  contact: string,
): MiddlewareObj<RawRequest, APIGatewayProxyStructuredResultV2> {
  return {
    onError: (request) => {
      const { error } = request;
      const { status, title, text } = explain(error, contact);
      if (status === 500)
        log.error({ message: 'linking an account failed', error: String(error), stack: error?.stack });
      else log.warn({ message: 'an account was not linked', status, reason: String(error?.message) });
      request.response = faultPage(status, title, text);
    },
  };
}

function explain(error: unknown, contact: string) {
  if (error instanceof HttpError) return { status: error.status, title: 'This did not work', text: error.message };
  if (error instanceof OAuthRefusal && error.error === 'access_denied') {
    const said = error.said === null ? '' : ` The service says: ${error.said}`;
    const todo = 'An administrator has to enable MCP for the workspace, and you have to allow the access.';
    return { status: 403, title: 'The service did not allow this', text: `Nothing was linked. ${todo}${said}` };
  }
  const isPassing =
    error instanceof OAuthUnavailable ||
    error instanceof McpUnanswered ||
    error instanceof TryLater ||
    error instanceof BudgetUnavailable;
  if (isPassing) {
    const text = 'Nothing was linked. Wait a minute, then ask for a new link in Slack.';
    return { status: 503, title: 'The service is not answering', text };
  }
  if (error instanceof InstanceFault || error instanceof OAuthRefusal || error instanceof McpError) {
    const text = `Nothing was linked. Ask for a new link in Slack. If this happens again, tell ${contact}: ${error.message}`;
    return { status: 502, title: 'The service gave an unexpected answer', text };
  }
  return { status: 500, title: 'Something went wrong', text: `Nothing was linked. Tell ${contact}.` };
}
