import type { Linking } from '../../as-person/index.ts';
import { createPermissions, type Permissions } from '../../automations/slack-permissions.ts';
import { createVerbs } from '../../automations/verbs.ts';
import { fetchWithinInvocation } from '../../aws-limits.ts';
import type { SlackConfig } from '../../config/schema.ts';
import { linksAccounts, requiresLink } from '../../config/settings.ts';
import { createJobSignatures } from '../../engine/record/job-signatures.ts';
import { createTurns, lastJobs, readTurns } from '../../people/turns.ts';
import { explained } from '../../platforms/slack/explained.ts';
import { createKnownTasks } from '../../platforms/slack/known-names.ts';
import { createKnownProjects } from '../../platforms/slack/known-projects.ts';
import { createAdmission } from '../../platforms/slack/requests/admission.ts';
import { createResponseUrls } from '../../platforms/slack/response-url.ts';
import { createSlackApi } from '../../platforms/slack/slack-api.ts';
import type { Runtime, Stores } from '../../runtime.ts';
import { keys } from '../../state/table/keys.ts';
import { createAbsences } from '../../timesheets/absences.ts';
import { acceptRequest } from './accept-request.ts';
import type { SlackIntake } from './slack-intake.ts';

/** Slack stops waiting after three seconds. The modal must be open by then, even after a cold start. */
const MODAL_TIMEOUT_MS = 1_500;
/** Uncached lookups in Slack count against the same three seconds. */
const QUESTION_TIMEOUT_MS = 600;
/** For messages while Slack waits for the answer to its request. */
const RESPONSE_TIMEOUT_MS = 1_000;

/** Opens everything that answering people's requests requires. */
export function openSlackIntake(runtime: Runtime, settings: SlackConfig, stores: Stores): SlackIntake {
  const { table, jobs, secrets } = stores;
  const { config, clock, random, fetch } = runtime;
  const turns = createTurns(table, jobs, clock);
  const signatures = createJobSignatures(secrets, config, clock);
  const { apiUrl } = settings;

  // If AWS was slow, calls to Slack must not use up the remaining time.
  const api = { apiUrl, secrets, fetch: fetchWithinInvocation(fetch) };
  const questions = createSlackApi({ ...api, timeoutMs: QUESTION_TIMEOUT_MS });
  const asking = { settings, people: config.people, contact: config.contact, table, slack: questions, clock };
  const admission = createAdmission(asking);
  const permissions = createPermissions(asking);
  const isLinkRequired = Object.keys(config.connections).some((name) => requiresLink(config, name));
  let opened: Promise<Linking> | undefined;
  async function linking(): Promise<Linking | undefined> {
    if (!linksAccounts(config)) return undefined;
    opened ??= import('./loaded-on-demand.ts').then(({ createLinking }) => createLinking(runtime, settings, stores));
    return opened;
  }
  const permissionFault: Permissions['faultOf'] = async (permission, asked) => {
    const fault = await permissions.faultOf(permission, asked);
    if (fault !== undefined || asked.verb?.isCustom || !isLinkRequired) return fault;
    return (await linking())?.faultOf(permission, asked);
  };
  return {
    config,
    settings,
    slack: createSlackApi({ ...api, timeoutMs: MODAL_TIMEOUT_MS }),
    responseUrls: createResponseUrls(apiUrl, fetch, RESPONSE_TIMEOUT_MS),
    admission: { ...admission, faultOf: (sender) => explained(config.contact, () => admission.faultOf(sender)) },
    verbs: createVerbs(runtime.custom),
    permissions: { faultOf: permissionFault },
    faultOf: async (permission, asked) =>
      permission === null ? undefined : explained(config.contact, () => permissionFault(permission, asked)),
    clock,
    isStopped: runtime.environment.RUNNING === 'false',
    projects: createKnownProjects(table, clock),
    tasks: createKnownTasks(table),
    absences: createAbsences(table, clock),
    linking,
    readTurns: (id) => readTurns(table, { in: 'slack', id }),
    lastJobs: (id) => lastJobs(table, jobs, { in: 'slack', id }),
    async viewConnection(connection) {
      const limits = config.connections[connection]?.limits;
      if (!limits) throw new Error(`relay.config.ts has no connection '${connection}'`);
      // Loaded on demand, because only `status` uses it.
      const { createBudget, viewConnection } = await import('./loaded-on-demand.ts');
      return viewConnection(connection, limits, { budget: createBudget({ table, random }), table, clock });
    },
    async isKnown(userId, connection) {
      return (await table.get(keys.person('slack', userId, connection))) !== undefined;
    },
    stores: { ...stores, randomBytes: runtime.randomBytes },
    accept: (draft, request) => acceptRequest(draft, request, { ...runtime, ...stores, turns, signatures }),
  };
}
