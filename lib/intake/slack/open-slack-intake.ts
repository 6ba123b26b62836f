import { isDeepStrictEqual } from 'node:util';
import { openLinking } from '#linking';
import { createPermissions } from '../../automations/permissions.ts';
import type { SlackConfig } from '../../config/schema.ts';
import { acceptEvent } from '../../engine/line/accept-event.ts';
import { requeueJob } from '../../engine/line/sweep.ts';
import type { JobDraft } from '../../engine/record/job.ts';
import { createJobSignatures } from '../../engine/record/job-signatures.ts';
import { createTurns } from '../../people/turns.ts';
import { createKnownProjects } from '../../platforms/slack/known-projects.ts';
import { createKnownTasks } from '../../platforms/slack/known-tasks.ts';
import { createAdmission } from '../../platforms/slack/requests/admission.ts';
import { createResponseUrls } from '../../platforms/slack/response-url.ts';
import { sealUrl } from '../../platforms/slack/sealed-url.ts';
import { createSlackApi } from '../../platforms/slack/slack-api.ts';
import type { Runtime, Stores } from '../../runtime.ts';
import { keys } from '../../state/table/keys.ts';
import { createAbsences } from '../../timesheets/absences.ts';
import { createMutes } from '../../timesheets/mutes.ts';
import { createJobsOfPerson } from './jobs-of-person.ts';
import { createRecentCommands } from './recent-commands.ts';
import type { SlackIntake } from './slack-intake.ts';

/** Slack gives up after three seconds. The modal must be open by then, even on a cold start. */
const MODAL_TIMEOUT_MS = 1_500;
/** Lookups in Slack that are not cached come out of the same three seconds. */
const QUESTION_TIMEOUT_MS = 600;

/** Opens everything that is needed to answer people's requests. */
export function openSlackIntake(runtime: Runtime, settings: SlackConfig, stores: Stores): SlackIntake {
  const { table, jobs, queue, secrets } = stores;
  const { config, clock, random, randomBytes, fetch, log, metrics } = runtime;
  const jobsOfPerson = createJobsOfPerson(table, jobs, clock);
  const turns = createTurns(table, jobs, clock);
  const signatures = createJobSignatures(secrets, config, clock);
  const linking = openLinking(runtime, settings, stores);
  const { apiUrl } = settings;

  async function sealed({ id, replyTo }: Pick<JobDraft, 'id' | 'replyTo'>): Promise<JobDraft['replyTo']> {
    if (replyTo?.in !== 'slack' || replyTo.responseUrl === undefined) return replyTo;
    return { ...replyTo, responseUrl: await sealUrl(replyTo.responseUrl, id, { secrets, randomBytes }) };
  }

  const questions = createSlackApi({ apiUrl, secrets, fetch, timeoutMs: QUESTION_TIMEOUT_MS });
  const asking = { settings, people: config.people, contact: config.contact, table, slack: questions, clock };
  return {
    config,
    settings,
    slack: createSlackApi({ apiUrl, secrets, fetch, timeoutMs: MODAL_TIMEOUT_MS }),
    responseUrls: createResponseUrls(apiUrl, fetch),
    admission: createAdmission(asking),
    permissions: linking.requiringLink(createPermissions(asking)),
    clock,
    isStopped: runtime.environment.RUNNING === 'false',
    projects: createKnownProjects(table, clock),
    tasks: createKnownTasks(table),
    recentCommands: createRecentCommands(table, jobs, clock),
    jobsOfPerson,
    mutes: createMutes(table, clock),
    absences: createAbsences(table, clock),
    linking,
    async tryAgain(job, userId) {
      const decision = { at: clock(), by: `${userId} in Slack`, what: 'replayed' } as const;
      return (await requeueJob(job, { jobs, queue }, decision)) !== undefined;
    },
    async viewConnection(connection) {
      const limits = config.connections[connection]?.limits;
      if (!limits) throw new Error(`relay.config.ts has no connection '${connection}'`);
      // Only `status` shows it.
      const { createBudget, viewConnection } = await import('./beyond-jobs.ts');
      return viewConnection(connection, limits, { budget: createBudget({ table, random }), table, clock });
    },
    async isKnown(userId, connection) {
      return (await table.get(keys.person('slack', userId, connection))) !== undefined;
    },
    async accept(asked, { userId, happened }) {
      const person = { in: 'slack', id: userId } as const;
      const lane = await turns.take(person, asked.id);
      if (!lane) return 'too many';
      const replyTo = await sealed(asked);
      const draft: JobDraft = {
        ...asked,
        lane,
        cause: { from: 'slack', id: happened, person: userId },
        ...(replyTo && { replyTo }),
      };
      // A job that /pm status does not show still runs.
      const unnoted = (error: unknown) =>
        log.warn({ message: 'a job could not be recorded for its person', error: String(error) });
      const noted = draft.replyTo && jobsOfPerson.note(person, draft.id).catch(unnoted);
      const [{ job, repeat }] = await Promise.all([acceptEvent(draft, { jobs, queue, signatures }), noted]);
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
