import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Schedule, type ScheduleEvent, schedules } from '../../lib/schedules.ts';
import { createLocalSchedules, type LocalSchedules } from '../../local/schedules.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const needs = { secrets: [], queues: [], service: false };

/** The fired schedules, and their times: `quarter 16:30`. */
let fired: string[];
let failures: string[];
/** A run waits for this. */
let work: () => Promise<void>;
let local: LocalSchedules;

function declared(slug: string, everyMinutes: Schedule['everyMinutes']) {
  const schedule: Schedule = { slug, everyMinutes, takesTime: true, timeoutSeconds: 30, needs, broken: '' };
  const handler = async ({ at }: ScheduleEvent, context: { getRemainingTimeInMillis(): number }) => {
    fired.push(`${slug} ${at?.slice(11, 16)}`);
    await work();
    return context.getRemainingTimeInMillis();
  };
  return { schedule, handler };
}

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-11-20T16:20:30Z'), toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  fired = [];
  failures = [];
  work = async () => {};
  const functions = [declared('minute', 1), declared('quarter', 15), declared('hour', 60)];
  local = createLocalSchedules(() => functions, {
    clock: Date.now,
    failed: (slug, error) => failures.push(`${slug}: ${error}`),
  });
});
afterEach(async () => {
  await local.stop();
  vi.useRealTimers();
});

const firedOf = (slug: string) => fired.filter((one) => one.startsWith(slug));

describe('the schedules on one machine', () => {
  it('schedules fire by the wall clock, each with its time, and not at the start', async () => {
    local.start();
    await vi.advanceTimersByTimeAsync(29_999);
    expect(fired).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(fired).toEqual(['minute 16:21']);
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(fired).toEqual(['minute 16:21', 'minute 16:22']);
    await vi.advanceTimersByTimeAsync(HOUR - MINUTE);
    expect(firedOf('minute')).toHaveLength(61);
    expect(firedOf('quarter')).toEqual(['quarter 16:30', 'quarter 16:45', 'quarter 17:00', 'quarter 17:15']);
    expect(firedOf('hour')).toEqual(['hour 17:00']);
  });

  it.each([
    ['the timer is early', 0, 2_000],
    ['the clock is set back', MINUTE, 90_000],
  ])('schedules fire once for each time, even if %s', async (_, afterMs, backMs) => {
    local.start();
    await vi.advanceTimersByTimeAsync(afterMs);
    vi.setSystemTime(Date.now() - backMs);
    await vi.advanceTimersByTimeAsync(Date.parse('2026-11-20T16:22:30Z') - Date.now());
    expect(firedOf('minute')).toEqual(['minute 16:21', 'minute 16:22']);
  });

  it('a running schedule is not started a second time', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    work = () => promise;
    local.start();
    await vi.advanceTimersByTimeAsync(5 * MINUTE);
    expect(firedOf('minute')).toEqual(['minute 16:21']);
    await expect(local.run('minute', {})).rejects.toThrow('minute is already running');
    resolve();
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(firedOf('minute')).toEqual(['minute 16:21', 'minute 16:26']);
  });

  it('schedules catch up with the last time that a sleeping machine missed', async () => {
    local.start();
    vi.setSystemTime(Date.parse('2026-11-20T19:50:10Z'));
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(firedOf('quarter')).toEqual(['quarter 19:45']);
    expect(firedOf('hour')).toEqual(['hour 19:00']);
  });

  it('schedules report an error and continue', async () => {
    work = async () => {
      throw new Error('no way');
    };
    local.start();
    await vi.advanceTimersByTimeAsync(2 * MINUTE);
    expect(failures).toEqual(['minute: Error: no way', 'minute: Error: no way']);
    await expect(local.run('minute', {})).rejects.toThrow('no way');
  });

  it('a stop waits for running schedules', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    work = () => promise;
    const run = local.run('hour', {});
    let isStopped = false;
    const stopped = local.stop().then(() => {
      isStopped = true;
    });
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(isStopped).toBe(false);
    resolve();
    await Promise.all([run, stopped]);
  });
});

describe('the list of schedules', () => {
  it.each(schedules)('the function $slug ends before it fires again', ({ timeoutSeconds, everyMinutes }) => {
    expect(timeoutSeconds).toBeLessThan(everyMinutes * 60);
  });
});
