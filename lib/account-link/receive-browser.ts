import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Budget } from '../budget/budget.ts';
import type { Assistant } from '../grants/assistant.ts';
import { HttpError, type RawRequest } from '../http/function-url.ts';
import { cookieTickets, linkCookie, noLinkCookie } from './browser-cookie.ts';
import type { OpenedLink, OpenedLinks } from './opened-links.ts';
import { codePage, leavePage, startPage } from './pages.ts';

export interface ReceiveBrowserOptions {
  links: OpenedLinks;
  /** @throws {SecretError | BaseUrlError} */
  assistant: (connection: string) => Promise<Pick<Assistant, 'endpoint' | 'budgetName' | 'link'>>;
  budget: Pick<Budget, 'flush'>;
  /** `/pm` */
  command: string;
  log: Pick<Console, 'info'>;
}

type Page = APIGatewayProxyStructuredResultV2;

/**
 * Answers a browser with which a person links an account: a page that asks whether it is them, the way to the service,
 * and, once the service has sent them back, the code that they give in Slack.
 *
 * @throws {HttpError} for what is no link, or no more
 */
export async function receiveBrowser(request: RawRequest, options: ReceiveBrowserOptions): Promise<Page> {
  const { method, path } = request.requestContext.http;
  const query = new URLSearchParams(request.rawQueryString);
  switch (`${method} ${/\/(\w+)$/.exec(path)?.[1]}`) {
    case 'GET start':
      return ask(query.get('ticket') ?? '', options);
    case 'POST start':
      return begin(request, options);
    case 'GET callback':
      return finish(request.cookies ?? [], query, options);
    default:
      throw new HttpError(404, 'There is nothing here.');
  }
}

async function ask(ticket: string, { links, assistant }: ReceiveBrowserOptions): Promise<Page> {
  const asked = await links.asked(ticket);
  if (!asked) throw usedUp();
  const { endpoint } = await assistant(asked.connection);
  return startPage({ name: asked.name, host: new URL(endpoint).host, ticket });
}

async function begin(request: RawRequest, { links, assistant, budget }: ReceiveBrowserOptions): Promise<Page> {
  const ticket = new URLSearchParams(Buffer.from(request.bytes).toString('utf8')).get('ticket') ?? '';
  const asked = await links.asked(ticket);
  if (!asked) throw usedUp();
  if (!isOwnForm(request, new URL(asked.redirectUri).origin)) {
    throw new HttpError(403, 'This request came from another page. Open the link in Slack again.');
  }
  const { link, budgetName } = await assistant(asked.connection);
  const { url, pending } = await link.begin(asked.redirectUri, asked.scopes).finally(() => budget.flush(budgetName));
  // Last, so that the URL stays good where the service did not answer.
  const cookie = await links.open(ticket, pending);
  if (cookie === undefined) throw usedUp();
  return { ...leavePage(url, new URL(url).host), cookies: [linkCookie(asked.redirectUri, cookie)] };
}

/**
 * Only the start page may send the browser on: it says who asked. Browsers send Sec-Fetch-Site to HTTPS and to this
 * machine; an Origin may be `null` because of the referrer policy. https://www.w3.org/TR/fetch-metadata/
 */
function isOwnForm({ headers }: RawRequest, ownOrigin: string): boolean {
  const { origin, 'sec-fetch-site': site } = headers;
  if (site !== undefined) return site === 'same-origin';
  return origin === undefined || origin === 'null' || origin === ownOrigin;
}

async function finish(
  cookies: readonly string[],
  callback: URLSearchParams,
  { links, assistant, command, log }: ReceiveBrowserOptions,
): Promise<Page> {
  // Before anything is used up: another page could send the browser here with a callback of its own.
  const found = await ofBrowser(cookies, callback.get('state'), links);
  if (!found) {
    throw new HttpError(
      400,
      `This sign-in began in another browser, or was finished before. Nothing is linked by it. ${AGAIN}`,
    );
  }
  const { ticket, pending, connection, redirectUri, holder, name } = found;
  const { link } = await assistant(connection);
  if (!(await links.take(ticket))) throw usedUp();
  const code = await links.finish(ticket, await link.finish(pending, callback));
  if (code === undefined) throw usedUp();
  log.info({ message: 'an account waits for its code', connection, person: holder.id });
  return { ...codePage({ code, name, command }), cookies: [noLinkCookie(redirectUri, ticket)] };
}

/** The link that this browser opened, among those that it has under way, by the state of the callback. */
async function ofBrowser(
  cookies: readonly string[],
  state: string | null,
  links: OpenedLinks,
): Promise<(OpenedLink & { ticket: string }) | undefined> {
  for (const { ticket, isFor } of cookieTickets(cookies)) {
    const opened = await links.opened(ticket);
    const isIt = opened?.pending.authorization.state === state && isFor(opened.redirectUri);
    if (opened && isIt) return { ...opened, ticket };
  }
  return undefined;
}

const AGAIN = 'Go back to Slack and ask for another link.';

const usedUp = () => new HttpError(410, `This link was used before, or is over. ${AGAIN}`);
