import * as z from 'zod';
import { resumedInWords, resumeForPerson } from '../lib/engine/operate/resume.ts';
import { decideLink, findIssue, type LinkDecision } from '../lib/operators/decide-link.ts';
import { createGithubClient } from '../lib/platforms/github/github-client.ts';
import { eventNow } from '../lib/schedules.ts';
import { HttpError } from '../lib/state/http/function-url.ts';
import { messageOf } from '../lib/text.ts';
import { customOf } from '../lib/triggers/custom-automation.ts';
import { awsFault } from './aws-faults.ts';
import { readSent } from './read-sent.ts';
import type { ConsoleRelay } from './relay.ts';
import { type ActionOutcome, type RelayAction, relayAction } from './requests.ts';
import { verifyWithService } from './verify.ts';
import { withoutSecrets } from './without-secrets.ts';

/** The result of a schedule that made jobs. */
const madeJobs = z.looseObject({ jobs: z.array(z.looseObject({ id: z.string() })) });

/**
 * Carries out an operator's action that is not about jobs, with the checks and records of the command line.
 *
 * @param given as in the contract, not checked yet
 * @throws {HttpError} in words for the operator
 */
export async function operate(relay: ConsoleRelay, given: unknown): Promise<ActionOutcome> {
  const asked = readSent(relayAction, given, 'this is not an action');
  try {
    return await perform(relay, asked);
  } catch (cause) {
    const message = messageOf(cause);
    throw awsFault(cause) ?? new HttpError(400, message, { cause });
  }
}

async function perform(relay: ConsoleRelay, asked: RelayAction): Promise<ActionOutcome> {
  const { stores, runtime, operator } = relay;
  switch (asked.do) {
    case 'resume': {
      const { connection } = asked;
      const resumed = await resumeForPerson(connection, operator, { ...stores, config: runtime.config });
      return { text: resumedInWords(connection, resumed).join('\n') };
    }
    case 'set link': {
      const verify = verifyWithService({ runtime, stores });
      return changeLink(relay, asked.issue, { set: asked.defectId, verify, steal: asked.steal });
    }
    case 'clear link':
      return changeLink(relay, asked.issue, 'clear');
    case 'run schedule': {
      const { schedule, at } = asked;
      const time = at === undefined ? undefined : new Date(at);
      // due-schedules makes the jobs of the team's own schedules.
      const isCustom = customOf(runtime.custom, 'schedule').some(({ name }) => name === schedule);
      const result = isCustom
        ? await relay.runSchedule('due-schedules', { ...eventNow('due-schedules', time), own: schedule })
        : await relay.runSchedule(schedule, eventNow(schedule, time));
      const { jobs = [] } = madeJobs.safeParse(result).data ?? {};
      return { text: `${schedule} ran.`, jobs: jobs.map(({ id }) => id), result: withoutSecrets(result) };
    }
  }
}

async function changeLink(relay: ConsoleRelay, issue: string, decision: LinkDecision): Promise<ActionOutcome> {
  const { stores, runtime, operator: by } = relay;
  await decideLink(await issueOf(relay, issue), decision, { ...stores, config: runtime.config, by });
  return { text: `The link of ${issue} is changed.` };
}

/** Finds an issue. Only on one machine, it can ask GitHub: a stage's policies give no access to the credentials. */
function issueOf({ stores, runtime, try: isLocal }: ConsoleRelay, name: string) {
  const { config, fetch } = runtime;
  const github = createGithubClient({ ...stores, apiUrl: config.github.apiUrl, fetch });
  return findIssue(name, stores, isLocal && github);
}
