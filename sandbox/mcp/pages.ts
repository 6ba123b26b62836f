import { createHash } from 'node:crypto';
import type { Answer } from '../answer.ts';
import type { Person } from './people.ts';
import type { OAuthClient, Workspace } from './records.ts';
import { grantable } from './scopes.ts';

/** What every form of an authorization contains. */
export interface Form {
  /** The target of the form: the path of /oauth/authorize. */
  action: string;
  /** The id of the authorization. */
  request: string;
  /** Where the browser goes afterwards, which the content policy must allow. */
  redirectUri: string;
}

const style = `body{font:1.1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:2rem auto;padding:0 1rem}
label{display:block;margin:.5rem 0}input[type=email],input[type=password]{display:block;font:inherit;width:100%}
button{font:inherit;margin:.5rem .5rem .5rem 0;padding:.3rem 1rem}fieldset{margin:1rem 0}`;
const styleHash = createHash('sha256').update(style).digest('base64');

export function signInPage(form: Form, people: readonly Person[], complaint?: string): Answer {
  const accounts = people.map(({ user_id, email }) => button('user_id', user_id, email)).join('\n');
  return page(
    complaint === undefined ? 200 : 422,
    'Sign in',
    `${complaint === undefined ? '' : `<p role="alert">${escaped(complaint)}</p>`}
${start(form, 'sign-in')}
<label>Email <input type="email" name="email" autocomplete="username" required></label>
<label>Password <input type="password" name="password" autocomplete="current-password" required></label>
<button>Sign in</button>
</form>
<h2>Sign in with Google</h2>
<p>This sandbox imitates Google: choose an account.</p>
${start(form, 'google')}
${accounts}
</form>`,
    form,
  );
}

export function workspacePage(form: Form, email: string, workspaces: readonly Workspace[]): Answer {
  const choices = workspaces.map(
    ({ workspace_id, name }, index) =>
      `<label><input type="radio" name="workspace_id" value="${escaped(workspace_id)}" required${index === 0 ? ' checked' : ''}> ${escaped(name)}</label>`,
  );
  return page(
    200,
    'Choose a workspace',
    `${signedIn(email)}
${start(form, 'workspace')}
<fieldset><legend>Workspaces that allow assistants</legend>
${choices.join('\n')}
</fieldset>
<button>Continue</button>
</form>`,
    form,
  );
}

export function consentPage(
  form: Form,
  email: string,
  client: OAuthClient,
  workspace: Workspace,
  scopes: readonly string[],
): Answer {
  const choices = scopes.map(
    (scope) =>
      `<label><input type="checkbox" name="scope" value="${scope}" checked> ${grantable.get(scope) ?? ''} <code>${scope}</code></label>`,
  );
  return page(
    200,
    'Allow access',
    `${signedIn(email)}
<p><strong>${escaped(client.client_name || 'An application without a name')}</strong> wants to act as you in
<strong>${escaped(workspace.name)}</strong>. It will send you back to <code>${escaped(new URL(form.redirectUri).host)}</code>.</p>
${start(form, 'consent')}
<input type="hidden" name="workspace_id" value="${escaped(workspace.workspace_id)}">
<fieldset><legend>It may</legend>
${choices.join('\n')}
</fieldset>
${button('decision', 'allow', 'Allow')}
${button('decision', 'deny', 'Deny')}
</form>`,
    form,
  );
}

/** The page for an authorization that cannot return to the client. */
export function errorPage(status: number, reason: string): Answer {
  return { ...page(status, 'This does not work', `<p role="alert">${escaped(reason)}</p>`), reason };
}

const signedIn = (email: string) => `<p>You are signed in as ${escaped(email)}.</p>`;

function start({ action, request }: Form, step: string): string {
  return `<form method="post" action="${escaped(action)}">
<input type="hidden" name="request" value="${escaped(request)}">
<input type="hidden" name="step" value="${step}">`;
}

function button(name: string, value: string, label: string): string {
  return `<button name="${name}" value="${escaped(value)}">${escaped(label)}</button>`;
}

function page(status: number, title: string, content: string, form?: Form): Answer {
  // Browsers apply form-action to redirects, too, so it must include the final target.
  const formAction = form ? `'self' ${new URL(form.redirectUri).origin}` : "'none'";
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; form-action ${formAction}; frame-ancestors 'none'; base-uri 'none'`,
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    },
    body: `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${style}</style></head>
<body><main>
<h1>${title}</h1>
${content}
</main></body>
</html>
`,
    reason: null,
  };
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
