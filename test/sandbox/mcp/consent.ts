import type { Person } from '../../../sandbox/mcp/people.ts';

/** The parts of a sandbox that the flow needs. The sandbox may run in another process. */
export interface Linkable {
  url: string;
  mcp: { url: string; people: readonly Person[] };
}

export interface Choices {
  /** The email of the person who signs in. Default: the first of the sandbox's people. */
  email?: string;
  password?: string;
  /** The name of the workspace. Default: the workspace that is selected when the page opens. */
  workspace?: string;
  /** The scopes that stay selected. Default: all offered scopes. */
  scopes?: readonly string[];
  decision?: 'allow' | 'deny';
}

/**
 * Goes through the pages of an authorization URL as a browser does: signs in, chooses a workspace, consents. Resolves
 * to the final redirect URL, with the code or the error, without opening it. Rejects if a page shows an error.
 */
export async function consent(sandbox: Linkable, authorizationUrl: string | URL, choices: Choices = {}): Promise<URL> {
  const person = sandbox.mcp.people.find(({ email }) => email === choices.email) ?? sandbox.mcp.people[0];
  if (person === undefined) throw new Error('the sandbox has no people');
  const browser = new Browser();
  await browser.open(String(authorizationUrl));
  if (browser.left) return browser.left;
  const { email, password } = { ...person, ...choices };
  await browser.submit('sign-in', [
    ['email', email],
    ['password', password],
  ]);
  if (browser.left) return browser.left;
  await browser.submit('workspace', [['workspace_id', browser.radio(choices.workspace)]]);
  const offered = browser.ticked();
  await browser.submit('consent', [
    ...(choices.scopes ?? offered).map((scope): [string, string] => ['scope', scope]),
    ['decision', choices.decision ?? 'allow'],
  ]);
  if (!browser.left) throw new Error('the consent led nowhere');
  return browser.left;
}

/** A minimal browser: a page, its forms, and redirects. */
export class Browser {
  page = '';
  status = 0;
  /** The final redirect of the page. */
  left: URL | undefined;
  #url = '';

  async open(url: string): Promise<void> {
    await this.#request(url, {});
  }

  /** Submits the form of a step, with its hidden fields. Rejects if the next page has an alert. */
  async submit(step: string, fields: readonly (readonly [string, string])[]): Promise<void> {
    const form = this.page.split('<form').find((part) => part.includes(`name="step" value="${step}"`));
    if (form === undefined) throw new Error(`the page has no form for ${step}: ${this.page}`);
    const hidden = [...form.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)];
    const body = new URLSearchParams([
      ...hidden.map(([, name = '', value = '']) => [name, value] as [string, string]),
      ...fields.map(([name, value]) => [name, value] as [string, string]),
    ]);
    const action = /action="([^"]*)"/.exec(form)?.[1] ?? '';
    await this.#request(new URL(action, this.#url).href, { method: 'POST', body });
    const alert = /role="alert">([^<]*)/.exec(this.page)?.[1];
    if (alert !== undefined) throw new Error(alert);
  }

  /** The value of the radio button with this label, or of the selected one. */
  radio(label: string | undefined): string {
    const buttons = [...this.page.matchAll(/type="radio" name="\w+" value="([^"]*)" required( checked)?> ([^<]*)/g)];
    const found = buttons.find(([, , checked, text]) => (label === undefined ? checked : text === label));
    if (found?.[1] === undefined) throw new Error(`the page does not offer ${label}`);
    return found[1];
  }

  /** The values of the selected checkboxes. */
  ticked(): string[] {
    return [...this.page.matchAll(/type="checkbox" name="\w+" value="([^"]*)" checked/g)].map(
      ([, value = '']) => value,
    );
  }

  async #request(url: string, init: RequestInit): Promise<void> {
    const response = await fetch(url, { ...init, redirect: 'manual' });
    this.#url = url;
    this.status = response.status;
    this.page = await response.text();
    const location = response.headers.get('location');
    this.left = location === null ? undefined : new URL(location, url);
  }
}
