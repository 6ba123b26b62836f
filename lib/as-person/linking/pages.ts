import { createHash } from 'node:crypto';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { STEP_MS } from './grant-requests.ts';

const STYLE = `body{font:1.1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:2rem auto;padding:0 1rem}
button{font:inherit;padding:.4rem 1rem}.code{font-size:2rem;letter-spacing:.1em}`;
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Allows only the page's own style, and forms that are sent back to it. Forbids frames, caches and referrers. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
};

const MINUTES = STEP_MS / 60_000;

/** Creates a page with a heading. @param html text from outside must be escaped in it */
function page(status: number, title: string, html: string, head = ''): APIGatewayProxyStructuredResultV2 {
  const body = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title>${head}
<style>${STYLE}</style></head>
<body><main>
<h1>${escaped(title)}</h1>
${html}
</main></body>
</html>
`;
  return { statusCode: status, headers: { ...HEADERS }, body };
}

/** The page that asks the visitor to confirm who they are. Programs that only preview a URL do not send a form. */
export function startPage(asked: { name: string; host: string; ticket: string }): APIGatewayProxyStructuredResultV2 {
  return page(
    200,
    'Link your account',
    `<p><strong>${escaped(asked.name)}</strong> asked in Slack to act with an account of <strong>${escaped(asked.host)}</strong>.</p>
<p>Continue only if this is you and you have just asked for it. If another person sent you this link, close the page.</p>
<form method="post">
<input type="hidden" name="ticket" value="${escaped(asked.ticket)}">
<button>Sign in at ${escaped(asked.host)}</button>
</form>`,
  );
}

/**
 * Sends the browser to the service. A redirect would not work: browsers also apply `form-action` to a redirect after a
 * form, and the service can have any address.
 */
export function leavePage(url: string, host: string): APIGatewayProxyStructuredResultV2 {
  return page(
    200,
    'Sign in',
    `<p><a href="${escaped(url)}">Continue to ${escaped(host)}</a></p>`,
    `<meta http-equiv="refresh" content="0; url=${escaped(url)}">`,
  );
}

/** @param command such as `/pm` */
export function codePage(link: { code: string; name: string; command: string }): APIGatewayProxyStructuredResultV2 {
  const { code, name, command } = link;
  return page(
    200,
    'One more step',
    `<p>Type this in Slack, as <strong>${escaped(name)}</strong>, within ${MINUTES} minutes:</p>
<p class="code"><code>${escaped(command)} link ${code}</code></p>
<p>Nothing is linked before that. Do not share the code. If another person sent you the link, close this page: with the code, that person could act in your name.</p>`,
  );
}

/** @param text the fault, and what to do */
export function faultPage(status: number, title: string, text: string): APIGatewayProxyStructuredResultV2 {
  return page(status, title, `<p role="alert">${escaped(text)}</p>`);
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
