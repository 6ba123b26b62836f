import type { ReadFolder } from '../../lib/automations/custom/folder.ts';
import { CannotTell, type Checks, check } from '../../lib/checks/check.ts';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { type GithubClient, ownerAndRepo } from '../../lib/platforms/github/github-client.ts';
import { hooksSecret, secretsOf } from '../../lib/state/secrets/hook-secrets.ts';
import type { Secrets } from '../../lib/state/secrets/secrets.ts';
import { customOf } from '../../lib/triggers/custom-automation.ts';
import { triggerInWords } from '../../local/own-in-words.ts';
import { compareStrength } from './finding.ts';

/** Says which events each file of automations/ takes, and what is wrong with it. */
export function fileFindings({ custom, faults }: ReadFolder, { slack }: RelayConfig): Checks {
  return [
    custom.list.map((one) => {
      return { what: `automations/${one.name}.ts`, verdict: 'good', detail: triggerInWords(one, slack?.command) };
    }),
    faults.map((fault) => {
      const [what = '', ...detail] = fault.split(': ');
      return { what, verdict: 'bad', detail: detail.join(': ') };
    }),
  ];
}

/** Checks the secrets of webhooks, and whether GitHub sends the events that the files take. */
export function senderChecks(
  { custom }: ReadFolder,
  { config, secrets, github }: { config: RelayConfig; secrets: Secrets; github: GithubClient | undefined },
): Checks {
  const events = [
    ...new Set(customOf(custom, 'github').flatMap((one) => one.events.map((event) => event.replace(/\..*/, '')))),
  ];
  return [
    customOf(custom, 'webhook').map(({ name, verify }) =>
      check(`hooks: ${name}`, async () => {
        const all = await secrets.current('hooks', hooksSecret).catch(() => ({}));
        compareStrength(verify, secretsOf(all, name));
        if (secretsOf(all, name).length > 0) return 'it has a secret';
        throw new Error(`it has no secret, so its requests are refused: npx partner-relay secrets set hooks/${name}`);
      }),
    ),
    events.length > 0 &&
      github &&
      config.github.repositories.map(({ name }) =>
        check(`github: own events of ${name}`, async () => {
          const app = await github.asApp();
          if (!app)
            throw new CannotTell(`not checked without a GitHub App; see that the webhook sends ${events.join(', ')}`);
          const { data } = await app.request('GET /repos/{owner}/{repo}/installation', ownerAndRepo(name));
          const missing = events.filter((event) => !data.events.includes(event));
          if (missing.length === 0) return `the App sends ${events.join(', ')}`;
          throw new Error(
            `the App does not send ${missing.join(', ')}: subscribe it to them, and accept that where it is installed`,
          );
        }),
      ),
  ];
}
