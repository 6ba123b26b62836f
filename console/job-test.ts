import type { TestEvent } from 'partner-relay/test';
import { customVerb } from '../lib/automations/custom/custom-command.ts';
import { askedIn, type Job } from '../lib/engine/record/job.ts';
import { openJournal, type StepEntry } from '../lib/engine/record/journal.ts';
import { createLinks } from '../lib/links/links.ts';
import { operations } from '../lib/service/partner/operations/operations.ts';
import { HttpError } from '../lib/state/http/function-url.ts';
import { timesOf } from '../lib/triggers/cron.ts';
import type { OperatedRelay } from './relay.ts';
import { withoutSecrets } from './without-secrets.ts';

/**
 * Returns a file for `partner-relay test`. Its event makes such a job, and the test expects the operations that the job
 * carried out.
 *
 * @throws {HttpError} if there is no such job, it has not done all, or its event cannot be written as a test
 */
export async function testOfJob(relay: OperatedRelay, id: string) {
  const { stores } = relay;
  const job = await stores.jobs.get(id);
  if (!job) throw new HttpError(404, `there is no job ${id}; ended jobs are kept for 30 days`);
  if (job.status !== 'succeeded') throw noTest('only a job that succeeded has done all that the test would expect');
  const event = await eventOf(relay, job);
  const done = (await openJournal(stores.table, id, stores.clock)).entries().filter(({ status }) => status === 'done');
  const effects = done.filter(({ calls }) => (operations.get(calls)?.effect ?? 'read') !== 'read');
  const made = Map.groupBy(effects, ({ calls }) => calls);
  const makes = [...made].map(([calls, { length }]) => {
    const each = length === 1 ? '{}' : `[${Array.from({ length }, () => '{}').join(', ')}]`;
    return `      '${calls}': ${each},\n`;
  });
  const answers = Object.fromEntries(done.flatMap(answerIn));
  const hasAnswers = Object.keys(answers).length > 0;
  const text = `import { defineTests } from 'partner-relay/test';

// The ids and names in the event have to be those of the sandbox. The relay does not keep the text of an issue: add
// its body if the job needs it. Dates have to be near the day of the example.
// Add the fields that matter, such as { priority: 'High' }.${hasAnswers ? "\n// In place of '…', write the text of the button." : ''}
export default defineTests({
  ${literal(`${job.automation} as in ${id}`)}: {
    event: ${literal(event)},
${hasAnswers ? `    answers: ${literal(answers)},\n` : ''}    makes: ${makes.length === 0 ? '{}' : `{\n${makes.join('')}    }`},
  },
});
`;
  return { name: `relay.config.${job.automation}.test.ts`, text };
}

const noTest = (why: string) => new HttpError(400, `this job cannot become a test: ${why}`);

/** The answer to a question of the team's code. The journal has the texts of operators, not those of buttons. */
function answerIn({ step, calls, result }: StepEntry): [step: string, answer: string][] {
  if (step.endsWith(': asked') || !result || (calls !== 'a person' && calls !== 'Slack question')) return [];
  return [[step, String(Object(result).answer ?? '…')]];
}

/** @throws {HttpError} if no test can have the event */
async function eventOf({ stores, runtime }: OperatedRelay, job: Job): Promise<TestEvent> {
  const { cause, asked, automation, entity } = job;
  const input = withoutSecrets(job.input);
  // A person does not type a command for the items that a merged pull request names.
  if (cause?.event === 'pull_request.closed' && Array.isArray(input.items)) {
    return { merged: true, body: `Completes checklist items ${input.items.join(', ')}` };
  }
  const own = runtime.custom.list.find(({ name }) => name === automation);
  if (asked) {
    // A summary leaves out free text.
    const typed =
      own?.kind === 'command'
        ? customVerb(own).print({ verb: own.name, values: input as Record<string, string> })
        : askedIn(job);
    return cause?.from === 'github' ? { body: `/${typed}` } : { command: typed };
  }
  if (own?.kind === 'schedule' && cause) {
    const at = Date.parse(cause.id);
    if (timesOf(own.cron, own.timeZone, at - 1, at).length > 0) return { schedule: automation, at: cause.id };
    throw noTest(`its schedule is not due at ${cause.id}`);
  }
  if (own?.kind === 'webhook') throw noTest('the relay does not keep what a webhook sends');
  if (cause?.from === 'github' && cause.event !== undefined) {
    const [event = '', action] = cause.event.split('.');
    if (event === 'issues') {
      const key = typeof input.entity === 'string' ? input.entity : entity;
      const { newest } = await createLinks(stores.table, stores.clock).look(key);
      return { event, action, ...(newest && { labels: newest.state.labels }) };
    }
    if (own) return { event, action };
  }
  const known = 'issues, merged pull requests, commands, and the events and schedules of your automations';
  throw noTest(`npx partner-relay test takes ${known}`);
}

/** Writes a value in this repository's TypeScript style: names without quotes, texts in single quotes. */
function literal(value: unknown): string {
  if (typeof value === 'string') {
    return value.includes("'")
      ? JSON.stringify(value)
      : `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"')}'`;
  }
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const fields = Object.entries(value).flatMap(([name, entry]) => {
    if (entry === undefined) return [];
    return `${/^[a-z_]\w*$/i.test(name) ? name : literal(name)}: ${literal(entry)}`;
  });
  return `{ ${fields.join(', ')} }`;
}
