import { styleText } from 'node:util';
import type { Job, JobStatus } from '../lib/jobs/job.ts';
import type { StepEntry } from '../lib/jobs/journal.ts';
import { inOneLine, printable, printableJson } from '../local/terminal.ts';

export function printJson(value: unknown): void {
  console.log(printableJson(value));
}

/** Prints text that may be from outside, with its line breaks. */
export function printText(text: string): void {
  console.log(printable(text));
}

const COLOURS = { queued: 'cyan', running: 'blue', waiting: 'yellow', succeeded: 'green', parked: 'red' } as const;

function paint(status: JobStatus): string {
  // Only a terminal gets color; a pipe gets plain text.
  return styleText(COLOURS[status], status.padEnd(9), { stream: process.stdout });
}

function time(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ').slice(0, 19);
}

/** What to show about a job in its current state. */
function news(job: Job): string {
  if (job.status === 'parked') return job.parked?.reason ?? '';
  if (job.status === 'waiting') {
    const until = job.dueAt ?? job.expectedAt;
    return `${until === undefined ? 'in line' : `until ${time(until)}`}: ${job.waitingFor}`;
  }
  return `${job.notDone ? 'not done: ' : ''}${job.outcome ?? ''}`;
}

export function printJobs(jobs: readonly Job[]): void {
  if (jobs.length === 0) console.log('There are no jobs.');
  for (const job of inOneLine(jobs)) {
    console.log(`${time(job.createdAt)}  ${paint(job.status)}  ${job.id}`);
    console.log(`                     ${job.summary}${news(job) ? `\n                     → ${news(job)}` : ''}`);
  }
}

export function printJob(given: Job, steps: readonly StepEntry[]): void {
  const job = inOneLine(given);
  const facts: [string, string | number | undefined][] = [
    ['event', job.summary],
    ['status', `${job.status}${news(job) ? `: ${news(job)}` : ''}`],
    ['automation', job.automation],
    ['connection', `${job.connection} (${job.lane})`],
    ['created', time(job.createdAt)],
    ['queued', job.queuedAt && time(job.queuedAt)],
    ['finished', job.finishedAt && time(job.finishedAt)],
    ['attempts', job.attempts || undefined],
    ['requeued', job.generation > 1 ? `${job.generation - 1} times` : undefined],
  ];
  console.log(job.id);
  for (const [name, value] of facts) if (value !== undefined) console.log(`  ${name.padEnd(12)} ${value}`);
  if (job.parked && !job.parked.outcomeUnknown) {
    console.log(`\nFix the cause, then continue the job:\n\n  npm run -s relay -- replay ${job.id}`);
  }
  if (job.parked?.outcomeUnknown) {
    console.log(`
Check in the service whether the creation was carried out. Then run one of:

  npm run -s relay -- resolve ${job.id} --done <id of what was created>
  npm run -s relay -- resolve ${job.id} --again
  npm run -s relay -- resolve ${job.id} --search`);
  }
  console.log('\nsteps');
  if (steps.length === 0) console.log('  none');
  for (const { step, calls, status, startedAt, finishedAt, result, note, failures } of inOneLine(steps)) {
    const took = finishedAt === undefined ? '' : ` in ${finishedAt - startedAt} ms`;
    const what = note ?? (result === undefined ? '' : JSON.stringify(result));
    const failed = failures && status !== 'failed' ? ` after ${failures} failures` : '';
    console.log(`  ${time(startedAt)}  ${step.padEnd(28)} ${calls.padEnd(16)} ${status}${took}${failed}  ${what}`);
  }
}
