import type { Sandbox } from '../sandbox/sandbox.ts';
import { type Choices, consent } from './sandbox/mcp/consent.ts';
import { type Asked, command, lastMessage, press, type SlackSide } from './slack-requests.ts';

export interface Page {
  status: number;
  headers: Headers;
  html: string;
}

/** A browser that links accounts: it keeps the relay's cookies and fills in the relay's form. */
export class LinkBrowser {
  /** By name. */
  cookies = new Map<string, string>();
  readonly #fetch: typeof fetch;

  /** @param reach fetches the relay's pages */
  constructor(reach: typeof fetch = fetch) {
    this.#fetch = reach;
  }

  get cookie(): string {
    return [...this.cookies].map((pair) => pair.join('=')).join('; ');
  }

  async open(url: string | URL, init: RequestInit = {}): Promise<Page> {
    const headers = this.cookie === '' ? {} : { cookie: this.cookie };
    const response = await this.#fetch(url, { ...init, headers, redirect: 'manual' });
    for (const set of response.headers.getSetCookie()) {
      const [name = '', value = ''] = set.split(';', 1)[0]?.split('=') ?? [];
      if (/Max-Age=0(;|$)/.test(set)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return { status: response.status, headers: response.headers, html: await response.text() };
  }

  /** Opens the URL of Slack's button, and presses the page's button. @returns the next page */
  async begin(url: string): Promise<Page> {
    const { html } = await this.open(url);
    const ticket = /name="ticket" value="([^"]+)"/.exec(html)?.[1];
    if (ticket === undefined) throw new Error(`the page has no form: ${html}`);
    return this.open(url.split('?')[0] ?? '', { method: 'POST', body: new URLSearchParams({ ticket }) });
  }

  /**
   * Goes from the button's URL through the service's pages. @returns the URL to which the service redirects the browser
   */
  async consent(url: string, sandbox: Sandbox, choices: Choices = {}): Promise<URL> {
    return consent(sandbox, serviceUrl(await this.begin(url)), choices);
  }
}

/** The service's URL, to which a page redirects. */
export function serviceUrl({ html }: Page): string {
  const url = /<a href="([^"]+)"/.exec(html)?.[1];
  if (url === undefined) throw new Error(`the page leads nowhere: ${html}`);
  return url.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}

/** The code that a page shows. */
export function codeOn({ html }: Page): string {
  const code = /link (\d{3}-\d{3})</.exec(html)?.[1];
  if (code === undefined) throw new Error(`the page shows no code: ${html}`);
  return code;
}

/** A person asks for a link, and presses the button. @returns the URL of the link */
export async function linkUrl(relay: SlackSide, asked: Asked = {}): Promise<string> {
  await press(relay, await command(relay, 'link', asked), 'Link your account', asked);
  return urlIn(relay);
}

/** The URL of the button in the last message. */
export function urlIn(relay: Pick<SlackSide, 'slack'>): string {
  const url = /"url":"([^"]+)"/.exec(JSON.stringify(lastMessage(relay).blocks))?.[1];
  if (url === undefined) throw new Error('the last message has no button with a URL');
  return url;
}

/** Links an account from the command to the end. @returns Slack's last message */
export async function linkAccount(
  relay: SlackSide & { sandbox: Sandbox },
  asked: Asked & { choices?: Choices } = {},
): Promise<string> {
  const browser = new LinkBrowser(relay.fetch);
  const callback = await browser.consent(await linkUrl(relay, asked), relay.sandbox, asked.choices);
  return (await command(relay, `link ${codeOn(await browser.open(callback))}`, asked)).text;
}
