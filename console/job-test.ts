import type { TestEvent } from 'partner-relay/test';
import { askedIn, type Job } from '../lib/engine/record/job.ts';
import { openJournal } from '../lib/engine/record/journal.ts';
import { createLinks } from '../lib/links/links.ts';
import { operations } from '../lib/service/partner/operations/operations.ts';
import { HttpError } from '../lib/state/http/function-url.ts';
import type { OperatedRelay } from './relay.ts';

/**
 * Returns a file for `partner-relay test`. Its event makes such a job, and the test expects the operations that the job
 * carried out.
 *
 * @throws {HttpError} if there is no such job, or `partner-relay test` does not know its event
 */
export async function testOfJob(relay: OperatedRelay, id: string) {
  const { stores } = relay;
  const job = await stores.jobs.get(id);
  if (!job) throw new HttpError(404, `there is no job ${id}; ended jobs are kept for 30 days`);
  const event = await eventOf(relay, job);
  if (!event) {
    const known = 'issues, merged pull requests, commands, and the events, schedules and webhooks of your automations';
    throw new HttpError(400, `this job cannot become a test: npx partner-relay test takes ${known}`);
  }
  const journal = await openJournal(stores.table, id, stores.clock);
  const effects = journal
    .entries()
    .filter(({ status, calls }) => status === 'done' && (operations.get(calls)?.effect ?? 'read') !== 'read');
  const made = Map.groupBy(effects, ({ calls }) => calls);
  const makes = [...made].map(([calls, { length }]) => {
    const each = length === 1 ? '{}' : `[${Array.from({ length }, () => '{}').join(', ')}]`;
    return `      '${calls}': ${each},\n`;
  });
  const text = `import { defineTests } from 'partner-relay/test';

// The ids and names in the event have to be those of the sandbox.
// Add the fields that matter, such as { priority: 'High' }.
export default defineTests({
  ${literal(`${job.automation} as in ${id}`)}: {
    event: ${literal(event)},
    makes: ${makes.length === 0 ? "'nothing'" : `{\n${makes.join('')}    }`},
  },
});
`;
  return { name: `relay.config.${job.automation}.test.ts`, text };
}

async function eventOf({ stores, runtime }: OperatedRelay, job: Job): Promise<TestEvent | undefined> {
  const { cause, asked, automation, input, entity } = job;
  // A person does not type a command for the items that a merged pull request names.
  if (cause?.event === 'pull_request.closed' && Array.isArray(input.items)) {
    return { merged: true, body: `Completes checklist items ${input.items.join(', ')}` };
  }
  if (asked) {
    const typed = askedIn(job);
    return cause?.from === 'github' ? { body: `/${typed}` } : { command: typed };
  }
  const own = runtime.custom.list.find(({ name }) => name === automation);
  if (own?.kind === 'schedule' && cause) return { schedule: automation, at: cause.id };
  if (own?.kind === 'webhook') return { hook: automation, body: input };
  if (cause?.from !== 'github' || cause.event === undefined) return undefined;
  const [event = '', action] = cause.event.split('.');
  if (event === 'issues') {
    const key = typeof input.entity === 'string' ? input.entity : entity;
    const { newest } = await createLinks(stores.table, stores.clock).look(key);
    return { event, action, ...(newest && { labels: newest.state.labels }) };
  }
  return own && { event, action };
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
