import { isDeepStrictEqual } from 'node:util';
import { createLinkRequests } from '../account-link/link-requests.ts';
import { toolOfForm } from '../automations/do-tool.ts';
import { createPermissions } from '../automations/permissions.ts';
import { createBudget } from '../budget/budget.ts';
import type { SlackConfig } from '../config/schema.ts';
import { createGrants } from '../grants/grants.ts';
import { createLinkWaits } from '../grants/link-waits.ts';
import { createVault } from '../grants/vault.ts';
import { acceptEvent } from '../jobs/accept-event.ts';
import { inBatches } from '../jobs/batches.ts';
import type { Job, JobDraft } from '../jobs/job.ts';
import { requeueJob } from '../jobs/sweep.ts';
import { createTurns } from '../people/turns.ts';
import type { Runtime, Stores } from '../runtime.ts';
import { createAdmission } from '../slack/admission.ts';
import { createKnownProjects } from '../slack/known-projects.ts';
import { createResponseUrls } from '../slack/response-url.ts';
import { createSlackApi } from '../slack/slack-api.ts';
import { keys } from '../table/keys.ts';
import { createMutes } from '../timesheets/mutes.ts';
import { createJobsOfPerson } from './jobs-of-person.ts';
import { createRecentCommands } from './recent-commands.ts';
import { requiringLink } from './require-link.ts';
import type { SlackIntake } from './slack-intake.ts';

/** Slack gives up after three seconds. The modal must be open by then, even on a cold start. */
const MODAL_TIMEOUT_MS = 1_500;
/** Lookups in Slack that are not cached come out of the same three seconds. */
const QUESTION_TIMEOUT_MS = 600;

/** Opens everything that is needed to answer people's requests. */
export function openSlackIntake(
  runtime: Runtime,
  settings: SlackConfig,
  { table, jobs, queue, secrets }: Stores,
): SlackIntake {
  const { config, environment, clock, random, randomBytes, fetch, log, metrics } = runtime;
  const budget = createBudget(table, clock, random);
  const jobsOfPerson = createJobsOfPerson(table, jobs, clock);
  const turns = createTurns(table, jobs, clock);
  // The key is another function's: what this one keeps was sealed there, and it opens nothing.
  const grants = createGrants(table, createVault(secrets, randomBytes), clock);
  const linkWaits = createLinkWaits(table, clock);
  const { apiUrl } = settings;
  const questions = createSlackApi({ apiUrl, secrets, fetch, timeoutMs: QUESTION_TIMEOUT_MS });
  const asking = { settings, people: config.people, contact: config.contact, table, slack: questions, clock };
  return {
    config,
    settings,
    slack: createSlackApi({ apiUrl, secrets, fetch, timeoutMs: MODAL_TIMEOUT_MS }),
    responseUrls: createResponseUrls(apiUrl, fetch),
    admission: createAdmission(asking),
    permissions: requiringLink(createPermissions(asking), { config, settings, grants }),
    clock,
    projects: createKnownProjects(table, clock),
    recentCommands: createRecentCommands(table, jobs, clock),
    jobsOfPerson,
    mutes: createMutes(table, clock),
    grants,
    linkRequests: createLinkRequests(table, grants, clock, randomBytes),
    accountLinkUrl: () => environment.ACCOUNT_LINK_URL,
    async goOn(userId, connection) {
      const isHeldUp = (job: Job | undefined): job is Job => job?.status === 'waiting' && job.line === undefined;
      try {
        const waited = await linkWaits.end({ connection, holder: { in: 'slack', id: userId } });
        const found = await inBatches(waited, jobs.get);
        await inBatches(found.filter(isHeldUp), (job) => requeueJob(job, { jobs, queue }));
      } catch (error) {
        // They go on by themselves, later.
        log.warn({ message: 'the waiting jobs of a person could not be queued', error: String(error) });
      }
    },
    toolOfForm: (madeBy) => toolOfForm(madeBy, (jobId, step) => table.get(keys.step(jobId, step))),
    async tryAgain(job, userId) {
      const decision = { at: clock(), by: `${userId} in Slack`, what: 'replayed' } as const;
      return (await requeueJob(job, { jobs, queue }, decision)) !== undefined;
    },
    async budgetOf(connection) {
      const limits = config.connections[connection]?.limits;
      if (!limits) throw new Error(`relay.config.ts has no connection '${connection}'`);
      return budget.view(connection, limits);
    },
    async isKnown(userId, connection) {
      return (await table.get(keys.person('slack', userId, connection))) !== undefined;
    },
    async accept(asked, { userId, happened }) {
      const person = { in: 'slack', id: userId } as const;
      const lane = await turns.take(person, asked.id);
      if (!lane) return 'too many';
      const draft: JobDraft = { ...asked, lane, cause: { from: 'slack', id: happened, person: userId } };
      // A job that /pm status does not show still runs.
      const unnoted = (error: unknown) =>
        log.warn({ message: 'a job could not be recorded for its person', error: String(error) });
      const noted = draft.replyTo && jobsOfPerson.note(person, draft.id).catch(unnoted);
      const [{ job, repeat }] = await Promise.all([acceptEvent(draft, { jobs, queue }), noted]);
      metrics.record({ EventsTaken: 1 });
      log.info({ message: repeat ? 'repeat received' : 'job queued', jobId: job.id, summary: job.summary });
      return isDeepStrictEqual(asStored(job.input), asStored(draft.input)) ? 'safe' : 'before';
    },
  };
}

/** Removes undefined fields. */
function asStored(input: JobDraft['input']): unknown {
  return JSON.parse(JSON.stringify(input));
}
