import { slackWebhookUrlOf, type WebhookUrls } from './target.ts';

/** The path of each sender's webhook, on one machine and behind one entrance on AWS. */
const PATHS = { GitHub: '/github', Slack: '/slack' } as const;

export type Sender = keyof typeof PATHS;

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Returns the URL of a webhook for GitHub or Slack.
 *
 * @param base the relay's public base address, to which the path is added; by default the stage's address
 * @throws {Error} if the address cannot be reached from outside, or already contains the path
 */
export async function publicWebhookUrl(
  sender: Sender,
  base: string | undefined,
  open: () => Promise<WebhookUrls>,
): Promise<string> {
  if (base !== undefined) return webhookUrlBelow(base, sender);
  const target = await open();
  const url = sender === 'GitHub' ? target.githubWebhookUrl : slackWebhookUrlOf(target);
  if (isLoopback(url)) {
    throw new Error(
      `the relay of this machine is at ${new URL(url).origin}, which ${sender} cannot reach: name the public address of ` +
        'your tunnel with --url https://…, or a deployed --stage',
    );
  }
  return url;
}

/** Adds the path to a base address. @throws {Error} as {@link publicWebhookUrl} */
export function webhookUrlBelow(base: string, sender: Sender): string {
  const example = 'such as https://relay.example.com';
  if (!URL.canParse(base)) throw new Error(`--url is '${base}'; expected the public address of the relay, ${example}`);
  const { protocol, origin, pathname, search, hash } = new URL(base);
  if (!/^https?:$/.test(protocol) || search || hash) {
    throw new Error(`--url is '${base}'; expected an address that begins with https://, without a query, ${example}`);
  }
  if (isLoopback(base)) throw new Error(`--url is '${base}', which ${sender} cannot reach; expected a public address`);
  const path = pathname.replace(/\/+$/, '');
  const own = /\/(github|slack(\/(commands|interactions))?)$/.exec(path)?.[0];
  if (own !== undefined) {
    const without = origin + path.slice(0, -own.length);
    throw new Error(`--url is the base address, to which the paths are added: use ${without}, without ${own}`);
  }
  return origin + path + PATHS[sender];
}

function isLoopback(url: string): boolean {
  return LOOPBACK.test(new URL(url).hostname);
}
