import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JobPage, Now, ParkedGroups } from '../../console/contract.ts';
import { jobStatuses } from '../../lib/engine/record/job.ts';
import { runRelay, targetOf } from '../cli/run-command.ts';
import { startRelay, type TestRelay } from '../relay.ts';
import { consoleOf, type TestConsole } from './console-of.ts';
import { storeManyJobs } from './many-jobs.ts';
import { watchTable } from './table-calls.ts';

const MANY = 10_000;
let table: ReturnType<typeof watchTable>;
let relay: TestRelay;
let shown: TestConsole;

beforeAll(async () => {
  relay = await startRelay();
  table = watchTable();
  shown = await consoleOf(relay);
  await storeManyJobs(relay, MANY);
}, 120_000);

beforeEach(() => void table.calls.splice(0));

afterAll(async () => {
  table.close();
  await shown.close();
});

/** The requests to the table, and the most items that they may have read. */
function asked() {
  const queries = table.calls.filter(({ action }) => action === 'Query');
  const actions = new Set(table.calls.map(({ action }) => action));
  const items = queries.filter(({ index }) => index).reduce((sum, { limit = MANY }) => sum + limit, 0);
  return { actions, queries: queries.length, items };
}

/** All pages of a list. */
async function* pagesOf(query: string): AsyncGenerator<JobPage> {
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const page: JobPage = await shown.get(`/api/jobs?${query}&cursor=${encodeURIComponent(cursor)}`);
    yield page;
    ({ cursor } = page);
  }
}

describe('with 10,000 jobs in the table', () => {
  it('the first page needs one query for each status, and a reading of each list of names', async () => {
    const { jobs, cursor, read } = await shown.get<JobPage>('/api/jobs');
    expect({ jobs: jobs.length, cursor: typeof cursor, read }).toEqual({ jobs: 50, cursor: 'string', read: 50 });
    const ends = jobs.map(({ finishedAt = 0 }) => finishedAt);
    expect(ends).toEqual(ends.toSorted((a, b) => b - a));
    expect(asked()).toMatchObject({ actions: new Set(['Query', 'GetItem']), queries: jobStatuses.length });
    expect(table.calls).toHaveLength(jobStatuses.length + 2);
  });

  it('counts stop early and say so, with the same numbers in the terminal', async () => {
    const { counts } = await shown.get<Now>('/api/now');
    expect(counts).toMatchObject({ succeeded: { jobs: 1_000, more: true }, parked: { jobs: 1_000, more: true } });
    // Includes the parts of the last hour, which are counted once.
    expect(asked().items).toBeLessThan(12_000 + 18 * 1_200);
    expect(asked().actions).not.toContain('Scan');
    const printed = await runRelay({ open: async () => targetOf(relay) }, 'jobs');
    expect(printed).toContain('In all: 1,000+ parked, 1,000+ succeeded.');
  });

  it('the parked jobs are grouped from a limited number', async () => {
    const { groups, more } = await shown.get<ParkedGroups>('/api/parked');
    expect({ groups: groups.length, jobs: groups[0]?.jobs.length, more }).toEqual({ groups: 1, jobs: 500, more: true });
    expect(asked().actions).toEqual(new Set(['Query']));
  });

  it('a rare text is found in several answers, each with a limited number of queries', async () => {
    const found: string[] = [];
    let answers = 0;
    for await (const { jobs } of pagesOf('text=Issue%2017')) {
      found.push(...jobs.map(({ subject }) => subject));
      answers++;
      expect(asked().queries).toBeLessThanOrEqual(12);
      table.calls.splice(0);
    }
    // Issue 17, 170 to 179, and 1700 to 1799.
    expect(found).toHaveLength(1 + 10 + 100);
    expect(new Set(found).size).toBe(found.length);
    expect(answers).toBeLessThan(MANY / 50);
  });

  it('every job is listed once, whatever ends meanwhile', async () => {
    const seen: string[] = [];
    for await (const { jobs } of pagesOf('status=parked')) seen.push(...jobs.map(({ id }) => id));
    expect(new Set(seen).size).toBe(Math.floor(MANY / 7));
    expect(seen).toHaveLength(new Set(seen).size);
    expect(asked().actions).toEqual(new Set(['Query']));
  });
});
