import { createGrants } from '../../../as-person/grants/grants.ts';
import { createLinkWaits } from '../../../as-person/grants/link-waits.ts';
import { createVault } from '../../../as-person/grants/vault.ts';
import { createLinkRequests } from '../../../as-person/linking/link-requests.ts';
import { linksAccounts } from '../../../config/links-accounts.ts';
import type { SlackConfig } from '../../../config/schema.ts';
import { inBatches } from '../../../engine/line/batches.ts';
import { requeueJob } from '../../../engine/line/sweep.ts';
import type { Job } from '../../../engine/record/job.ts';
import type { Runtime, Stores } from '../../../runtime.ts';
import { type LinkIntake, linkAccount, linkStatus, makeLink, unlinkAccount, waitsForLink } from './link-account.ts';
import type { Linking } from './linking.ts';
import { openLinking as openLinkingOff } from './linking-off.ts';
import { requiringLink } from './require-link.ts';

/** The answers for the configuration. Without a bundler this module is loaded even where no connection links accounts. */
export function openLinking(runtime: Runtime, settings: SlackConfig, stores: Stores): Linking {
  const { config, environment, clock, randomBytes } = runtime;
  if (!linksAccounts(config)) return openLinkingOff(runtime);
  const { table, secrets } = stores;
  // The key is another function's: what this one keeps was sealed there, and it opens nothing.
  const grants = createGrants(table, createVault(secrets, randomBytes), clock);
  const intake: LinkIntake = {
    config,
    settings,
    clock,
    grants,
    linkRequests: createLinkRequests(table, grants, clock, randomBytes),
    accountLinkUrl: () => environment.ACCOUNT_LINK_URL,
    goOn: createGoOn(runtime, stores),
  };
  return {
    requiringLink: (permissions) => requiringLink(permissions, intake),
    linkAccount: (asking, typed) => linkAccount(asking, typed, intake),
    makeLink: (asking, account) => makeLink(asking, account, intake),
    unlinkAccount: (userId, connection) => unlinkAccount(userId, connection, intake),
    waitsForLink: (verb, userId, connection) => waitsForLink(verb, userId, connection, intake),
    linkStatus: (userId, connection) => linkStatus(userId, connection, intake),
  };
}

/** Lets the jobs go on that wait until their person has linked an account. */
function createGoOn({ clock, log }: Runtime, { table, jobs, queue }: Stores): LinkIntake['goOn'] {
  const waits = createLinkWaits(table, clock);
  const isHeldUp = (job: Job | undefined): job is Job => job?.status === 'waiting' && job.line === undefined;
  return async (userId, connection) => {
    try {
      const waited = await waits.end({ connection, holder: { in: 'slack', id: userId } });
      const found = await inBatches(waited, jobs.get);
      await inBatches(found.filter(isHeldUp), (job) => requeueJob(job, { jobs, queue }));
    } catch (error) {
      // They go on by themselves, later.
      log.warn({ message: 'the waiting jobs of a person could not be queued', error: String(error) });
    }
  };
}
