import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Job, ParkKind } from '../../lib/engine/record/job.ts';
import { reportNews } from '../../lib/engine/run/report-news.ts';
import { createMetrics } from '../../lib/state/metrics/metrics.ts';
import { startStory } from '../../local/story.ts';

/** The terminal's lines for some lines of the log, without the times. */
async function told(...lines: Record<string, unknown>[]): Promise<string[]> {
  const printed: string[] = [];
  const story = startStory('/dev/null', (text) => printed.push(...text.split('\n')));
  for (const line of lines) story.log.info(line);
  await story.close();
  // The first line names the zone.
  return printed.slice(1).map((line) => line.slice(10));
}

const job = { jobId: 'issue-to-defect-4eff2e5c0587a1f811cd', entity: 'acme/web#1' };
const step = { ...job, step: 'create-defect', calls: 'defects/create' };

describe('the story of jobs in the first terminal', () => {
  it('a lost answer, the same bytes and what settled them are shown', async () => {
    const lines = await told(
      { ...step, message: 'request sent', came: 'no answer', why: 'the connection was cut', durationMs: 8 },
      { ...step, message: 'request sent', came: 'accepted', sameBytes: true, durationMs: 30 },
      { ...step, message: 'step done', settledBy: 'the service accepted the same bytes', durationMs: 10_300 },
    );
    expect(lines).toEqual([
      '[4eff2e]   create-defect          defects/create    the connection was cut, after 8 ms',
      '[4eff2e]   create-defect          defects/create    the same request again: answered in 30 ms',
      '[4eff2e]   create-defect          defects/create    done in 10.3 s: the service accepted the same bytes',
    ]);
  });

  it('a job with an unknown outcome says to resolve it, and not to replay it', async () => {
    const lines = await told({ ...job, message: 'job parked', reason: 'no answer', kind: 'outcome unknown' });
    expect(lines[0]).toBe('[4eff2e] ✗ acme/web#1: parked: no answer');
    const offered = lines.flatMap((line) => new RegExp(`resolve ${job.jobId} (--\\w+)`).exec(line)?.[1] ?? []);
    expect(offered).toEqual(['--search', '--done', '--again']);
    expect(lines.join()).not.toContain('replay');
  });

  it.each<[ParkKind, string]>([
    ['refused', '#refused'],
    ['failed', '#failed'],
    ['needs an operator', '#needs-an-operator'],
    ['outcome unknown', '#unknown-outcome'],
  ])('a job that is parked as %s is explained as in `partner-relay job`', async (kind, section) => {
    const logged: Record<string, unknown>[] = [];
    const push = (line: Record<string, unknown>) => void logged.push(line);
    const metrics = createMetrics('test', () => {}, Date.now);
    const report = reportNews({ info: push, warn: push, error: push }, metrics, () => 0);
    const { jobId: id, entity } = job;
    const ended = { ended: 'parked', reason: 'the service said no', kind } as const;
    report({ news: 'run ended', job: { id, entity } as Job, ending: ended });
    expect((await told(...logged)).join('\n')).toContain(`docs/stuck.md${section}.`);
  });

  it.each([
    ['2026-11-20T11:00:00', /continues at 11:00:00:/],
    ['2026-11-21T09:00:00', /continues at 2026-11-21 09:00:00 \S+:/],
  ])('a time on another day has its date, however near it is: %s', async (due, said) => {
    vi.setSystemTime(new Date('2026-11-20T10:45:00'));
    onTestFinished(() => void vi.useRealTimers());
    const [line] = await told({ ...job, message: 'job waits', dueAt: new Date(due).toISOString(), why: 'its time' });
    expect(line).toMatch(said);
  });

  const renamed = {
    message: 'a repository has another name or owner than in relay.config.ts',
    ...{ name: 'acme/web', calledNow: 'acme/site', isRenamed: true },
  };
  const continues = { message: 'job continues', waitedFor: 'outage', durationMs: 125_000 };
  const ended = { outcome: 'the task is closed' };
  it.each([
    [
      { message: 'calls are stopped', why: 'main is down: the service answers 503' },
      '! main is down: the service answers 503',
    ],
    [{ message: 'calls are sent again', connection: 'main' }, '✓ main works again'],
    [renamed, '! acme/web is now called acme/site. Its events are still handled. Change its name in relay.config.ts.'],
    [{ ...ended, message: 'job not done' }, '⚠ acme/web#1: not done: the task is closed'],
    [{ ...ended, message: 'job succeeded' }, '✓ acme/web#1: the task is closed'],
    [continues, '● acme/web#1: continues after an outage; it waited 2 min 5 s'],
  ])('one line says what happens to a job: %o', async (line, expected) => {
    expect(await told({ ...job, ...line })).toEqual([`[4eff2e] ${expected}`]);
  });

  it('a cause is told once, and once for each job that waits for it', async () => {
    const why = 'main is down: the service answers 503';
    const waits = { ...job, message: 'job waits', dueAt: '2026-11-20T11:00:00Z', waitsFor: 'outage', why };
    const stopped = { message: 'calls are stopped', connection: 'main', why };
    const other = { ...waits, jobId: 'find-0123456789abcdef0123' };
    const lines = [stopped, waits, waits, other, { ...continues, ...job }, waits];
    const waiting = '… acme/web#1: waits until main works again';
    expect(await told(...lines)).toEqual([
      `! ${why}`,
      `[4eff2e] ${waiting}`,
      `[012345] ${waiting}`,
      '[4eff2e] ● acme/web#1: continues after an outage; it waited 2 min 5 s',
      `[4eff2e] ${waiting}`,
    ]);
  });

  it('the text of a check is in indented lines, which cannot pass for lines of the story', async () => {
    const check = { name: 'Tracked work', commit: 'acme/web@5779607', conclusion: 'failure', title: 'not tracked' };
    const text = ['It closes no issue.', '\u001b[2K\r10:00:00  ✓ acme/web#1: done'];
    expect(await told({ message: 'check on GitHub', ...check, text })).toEqual([
      '» check Tracked work of acme/web@5779607, failure: not tracked',
      'It closes no issue.',
      '\ufffd[2K 10:00:00  ✓ acme/web#1: done',
    ]);
  });
});
