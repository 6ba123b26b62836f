import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { HOUR_MS, MINUTE_MS } from '../../dates.ts';
import type { Budget } from '../../service/budget/budget.ts';
import { HttpError, type RawRequest } from '../../state/http/function-url.ts';
import { expiry } from '../../state/table/expiry.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import type { McpEndpoint } from '../grants/mcp-endpoint.ts';
import { linkCookie, noLinkCookie, ticketOf } from './browser-cookie.ts';
import type { Asker, OpenedRequests } from './grant-requests.ts';
import { codePage, leavePage, startPage } from './pages.ts';

interface ReceiveBrowserOptions {
  links: OpenedRequests;
  /** Counts a person's sign-in. @returns when the person may begin the next one, if they have begun too many */
  takeShare: (asker: Asker) => Promise<number | undefined>;
  /** @throws {SecretError | BaseUrlError} */
  mcp: (connection: string) => Promise<Pick<McpEndpoint, 'endpoint' | 'budgetName' | 'link'>>;
  budget: Pick<Budget, 'flush'>;
  /** Such as `/pm`. */
  command: string;
  log: Pick<Console, 'info'>;
}

type HtmlPage = APIGatewayProxyStructuredResultV2;

/**
 * Answers the browser of a person who links an account: first with a page that asks who they are, then with the way to
 * the service, and, after the service has sent the browser back, with the code for Slack.
 *
 * @throws {HttpError} if the URL belongs to no link, or to one that has ended
 */
export async function receiveBrowser(request: RawRequest, options: ReceiveBrowserOptions): Promise<HtmlPage> {
  const { method, path } = request.requestContext.http;
  const query = new URLSearchParams(request.rawQueryString);
  const { page, connection } = /\/(?<page>start|callback\/(?<connection>[a-z0-9-]+))$/.exec(path)?.groups ?? {};
  if (page === 'start' && method === 'GET') return ask(query.get('ticket') ?? '', options);
  if (page === 'start' && method === 'POST') return begin(request, options);
  if (connection !== undefined && method === 'GET') return finish({ ...request, connection }, query, options);
  throw new HttpError(404, 'This page does not exist.');
}

async function ask(ticket: string, { links, mcp }: ReceiveBrowserOptions): Promise<HtmlPage> {
  const asked = await links.asked(ticket);
  if (!asked) throw usedUp();
  const { endpoint } = await mcp(asked.connection);
  return startPage({ name: asked.name, host: new URL(endpoint).host, ticket });
}

async function begin(request: RawRequest, { links, takeShare, mcp, budget }: ReceiveBrowserOptions): Promise<HtmlPage> {
  const ticket = new URLSearchParams(Buffer.from(request.bytes).toString('utf8')).get('ticket') ?? '';
  const asked = await links.asked(ticket);
  if (!asked) throw usedUp();
  if (!isOwnForm(request, new URL(asked.redirectUri).origin)) {
    throw new HttpError(403, 'This request came from another page. Open the link in Slack again.');
  }
  // Counted before the service is called, so that the limit holds even if one URL is sent many times at once.
  const waitMs = await takeShare(asked);
  if (waitMs !== undefined) throw shareUsedUp(waitMs);
  const { link, budgetName } = await mcp(asked.connection);
  const { url, pending } = await link
    .begin(asked.redirectUri, { also: asked.scopes })
    .finally(() => budget.flush(budgetName));
  // Last, so that the URL stays valid if the service did not answer.
  const cookie = await links.open(ticket, pending);
  if (cookie === undefined) throw usedUp();
  return {
    ...leavePage(url, new URL(url).host),
    cookies: [linkCookie(asked.redirectUri, pending.authorization.state, cookie)],
  };
}

/**
 * Returns true for a form of the start page. Only that page may send the browser on, because it shows who requested the
 * link. Browsers send Sec-Fetch-Site to HTTPS sites and to this machine. An Origin may be `null` because of the
 * referrer policy. https://www.w3.org/TR/fetch-metadata/
 */
function isOwnForm({ headers }: RawRequest, ownOrigin: string): boolean {
  const { origin, 'sec-fetch-site': site } = headers;
  if (site !== undefined) return site === 'same-origin';
  return origin === undefined || origin === 'null' || origin === ownOrigin;
}

/**
 * @param at the connection of the redirect URI; the service of another connection must not send its code here (RFC
 *   9700, 4.4)
 */
async function finish(
  { cookies = [], connection: at }: Pick<RawRequest, 'cookies'> & { connection: string },
  callback: URLSearchParams,
  { links, mcp, command, log }: ReceiveBrowserOptions,
): Promise<HtmlPage> {
  const state = callback.get('state') ?? '';
  const sent = ticketOf(cookies, state);
  const opened = sent && (await links.opened(sent.ticket));
  // Checked before anything is used up: another page could send the browser here with its own callback.
  const isIt = opened?.pending.authorization.state === state && opened.connection === at;
  if (!sent || !isIt || !sent.isFor(opened.redirectUri)) {
    throw new HttpError(
      400,
      `This sign-in was started in another browser, or is already finished. Nothing was linked. ${AGAIN}`,
    );
  }
  const { ticket } = sent;
  const { pending, connection, redirectUri, holder, name } = opened;
  const { link } = await mcp(connection);
  if (!(await links.take(ticket))) throw usedUp();
  const code = await links.finish(ticket, await link.finish(pending, callback));
  if (code === undefined) throw usedUp();
  log.info({ message: 'an account waits for its code', connection, person: holder.id });
  return { ...codePage({ code, name, command }), cookies: [noLinkCookie(redirectUri, state)] };
}

const shareUsedUp = (waitMs: number) =>
  new HttpError(
    429,
    `You have begun ${MOST_BEGUN} sign-ins within this hour. Try again in ${Math.ceil(waitMs / MINUTE_MS)} min.`,
  );

const AGAIN = 'Ask for a new link in Slack.';

const usedUp = () => new HttpError(410, `This link has been used, or has expired. ${AGAIN}`);

/**
 * How many sign-ins a person may begin within an hour. Each takes requests from the budget that all people of an
 * instance share. A person who retries after a failure needs two or three.
 */
const MOST_BEGUN = 5;

/** Counts the start of a sign-in. @returns when the person may begin the next one; undefined if they may now */
export async function takeOfShare(
  { holder }: Pick<Asker, 'holder'>,
  table: Table,
  clock: () => number,
): Promise<number | undefined> {
  const now = clock();
  const hour = Math.floor(now / HOUR_MS);
  const counted = await table.update(
    keys.linkShare(holder.in, holder.id, String(hour)),
    {
      expression: 'ADD #begun :one SET #expiresAt = :expiresAt',
      values: { one: 1, expiresAt: expiry(now, 2 * HOUR_MS) },
    },
    { expression: 'attribute_not_exists(#begun) OR #begun < :most', values: { most: MOST_BEGUN } },
  );
  return counted ? undefined : (hour + 1) * HOUR_MS - now;
}
