import fc from 'fast-check';
import { expect, it } from 'vitest';
import { printJob, printJobs, printJson } from '../../cli/print.ts';
import type { Job } from '../../lib/engine/record/job.ts';
import { startStory } from '../../local/story.ts';
import { oneLine, printable, printableJson } from '../../local/terminal.ts';
import { printed } from '../cli/run-command.ts';

const ESCAPE = '\u001b';
/** Clears the screen, reverses the text, and begins a new line, in four ways. */
const title = `${ESCAPE}[2J\u009b31m\u202eevil\r\n✓ all is well\u2028and\u0085so on`;
const job = {
  id: 'job-1',
  entity: `issue ${title}`,
  summary: title,
  status: 'parked',
  automation: 'issue-to-defect',
  connection: 'main',
  lane: 'background',
  createdAt: 0,
  wakeAt: 0,
  generation: 1,
  attempts: 0,
  parked: { reason: title, kind: 'failed' },
} satisfies Partial<Job> as Job;
const step = { step: 'create-defect', calls: 'defects/create', status: 'failed' as const, startedAt: 0, note: title };

const unprintable = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

async function printStory(): Promise<void> {
  const story = startStory('/dev/null', console.log);
  story.log.info({ message: 'job parked', entity: title, reason: title, jobId: 'job-1' });
  story.log.error({ message: title, error: title });
  await story.close();
}

it.each<[string, () => unknown, number?]>([
  ['jobs', () => printJobs([job]), 3],
  ['job', () => printJob({ job, steps: [step], openCreations: [] }, 0)],
  ['JSON', () => printJson({ title }), 3],
  ['the story', printStory, 6],
])('text is never a terminal sequence or another line if a terminal shows %s', async (_, print, count) => {
  const lines = (await printed(async () => print())).split('\n');
  for (const line of lines) expect(line).not.toMatch(unprintable);
  expect(lines.filter((line) => /^\s*✓ all/.test(line))).toEqual([]);
  if (count !== undefined) expect(lines).toHaveLength(count);
});

it('texts that people read are unchanged', () => {
  expect(oneLine('Grüße, 日本語, 👨‍👩‍👧, a\tb')).toBe('Grüße, 日本語, 👨‍👩‍👧, a b');
  expect(printable('one\n\ttwo')).toBe('one\n\ttwo');
});

it('JSON has the same values for programs', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 1 }), fc.string({ unit: 'binary', maxLength: 20 }), (value, text) => {
      const json = printableJson({ value, text });
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify({ value, text })));
      expect(json.replaceAll('\n', '')).not.toMatch(unprintable);
    }),
  );
});
