import { setTimeout as sleep } from 'node:timers/promises';
import { readCustomAutomations } from '../../lib/automations/custom/folder.ts';
import { loadConfig } from '../../lib/config/config-file.ts';
import { localClock, localTime } from '../../lib/dates.ts';
import { takenEvents } from '../../lib/platforms/github/delivery.ts';
import { createGithubClient, githubCredentials } from '../../lib/platforms/github/github-client.ts';
import { createRedeliveryApi, NotNow } from '../../lib/platforms/github/redelivery/redelivery-api.ts';
import { githubWebhookSecret } from '../../lib/state/secrets/secrets.ts';
import { withDocsHere } from '../../local/terminal.ts';
import type { Define } from '../cli.ts';
import { MOMENTS, readMoment } from '../moment.ts';
import { printText } from '../print.ts';
import { chosenHook, type HookChoice } from './chosen-hook.ts';
import { createGithubDeliveries, keptPlace, NotHanded } from './poll.ts';

interface DeliveriesOptions extends HookChoice {
  since?: Date;
}

const ASK_EVERY_MS = 5_000;
const CALL_TIMEOUT_MS = 10_000;
const LONGEST_PAUSE_MS = 60_000;

/** `github-deliveries`: brings GitHub's events to the relay on this machine, which GitHub cannot reach. */
export const define: Define = (command, { open }) =>
  command
    .description("bring GitHub's events to the relay on this machine, without a tunnel, until you press Ctrl+C")
    .option('--repo <owner/name>', 'read the webhook of this repository')
    .option('--org <login>', 'read the webhook of this organization')
    .option('--app', 'of the GitHub App in the github secret')
    .option('--hook <id>', 'the id of the webhook, if there are several')
    .option(
      '--since <time>',
      `from this time on, up to three days ago; by default from where it stopped, or now: ${MOMENTS}`,
      readMoment,
    )
    .addHelpText(
      'after',
      `
GitHub keeps what a webhook delivered, even if its URL could not be reached. This command reads that list, signs each
delivery with the secret of the relay that runs here, and posts it to its webhook. Start the relay with a GITHUB_TOKEN that
may administer the webhooks. Its permissions: ${withDocsHere('docs/redelivery.md#permissions')}

  GITHUB_TOKEN=… npx partner-relay start
  npx partner-relay github-deliveries --repo acme/web`,
    )
    .action(async (options: DeliveriesOptions) => {
      const { running, githubWebhookUrl, githubStandIn, stores } = await open();
      if (!running) throw new Error('a stage has a webhook URL of its own: enter it in the webhook on GitHub');
      const config = await loadConfig();
      const { secrets } = stores;
      const { apiUrl } = config.github;
      const github = createGithubClient({ apiUrl, secrets, clock: Date.now, fetch });
      if (githubStandIn !== undefined || !(await github.isThere())) {
        throw new Error(
          'the relay has no credentials for GitHub: enter a token with npx partner-relay secrets set github, and start the relay again',
        );
      }
      const hook = await chosenHook(
        options,
        github,
        async () => (await secrets.current('github', githubCredentials)).appId,
      );
      const api = createRedeliveryApi(github, Date.now);
      const place = keptPlace(hook, options.since?.getTime() ?? Date.now());
      // Kept before the first poll: from now on, no event is left out, even if this command stops before one arrives.
      place.keep(options.since ? { since: options.since.getTime(), handed: {} } : place.read());
      const forwarded = createGithubDeliveries({
        deliveries: () => api(hook),
        hand: (request) => post(githubWebhookUrl, request),
        webhookSecret: async () => (await secrets.current('github-webhook', githubWebhookSecret)).webhookSecret,
        place,
        taken: takenEvents((await readCustomAutomations(await loadConfig())).custom),
        clock: Date.now,
        report: ({ guid, event, status }) => printText(`${localClock(Date.now())}  ${status}  ${event}  ${guid}`),
      });
      printText(
        `Events of ${hook.kind} ${hook.target} since ${localTime(place.read().since)} come to ${githubWebhookUrl}.`,
      );
      await pollForever(() => forwarded.poll(), ASK_EVERY_MS);
    });

/** Polls for ever. A temporary failure is printed once, until the next success. */
async function pollForever(poll: () => Promise<number>, intervalMs: number): Promise<never> {
  let pauseMs = intervalMs;
  let told = '';
  for (;;) {
    try {
      await poll();
      if (told !== '') printText(`${localClock(Date.now())}  continues`);
      [pauseMs, told] = [intervalMs, ''];
    } catch (error) {
      if (!(error instanceof NotNow || error instanceof NotHanded)) throw error;
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      if (error.message !== told) printText(`${localClock(Date.now())}  ${error.message}; it tries again`);
      told = error.message;
    }
    await sleep(pauseMs);
  }
}

async function post(
  url: string,
  request: { headers: Record<string, string>; body: string },
): Promise<number | undefined> {
  try {
    const { status } = await fetch(url, { method: 'POST', ...request, signal: AbortSignal.timeout(CALL_TIMEOUT_MS) });
    return status;
  } catch {
    return undefined;
  }
}
