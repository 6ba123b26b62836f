import * as z from 'zod';
import { jobDetail } from '../../console/job.ts';
import { listJobs } from '../../console/jobs.ts';
import { createNowReader } from '../../console/now.ts';
import { readParked } from '../../console/parked.ts';
import { jobStatuses } from '../../lib/engine/record/job.ts';
import { examineRelay } from '../doctor/doctor.ts';
import { knownJob } from '../known-job.ts';
import { readMoment } from '../moment.ts';
import { planStored, sumsInWords } from '../plan.ts';
import { planInWords } from '../plan-words.ts';
import type { OpenTarget } from '../target.ts';
import { pageOf } from './answer.ts';
import type { AddTool } from './tool.ts';

/** How many jobs of a parked group are shown. */
const SHOWN_OF_GROUP = 3;

const text = (meaning: string) => z.string().max(2_000).optional().describe(meaning);
const paged = z.object({ cursor: text('of the last answer, to read on') });
const byVerdict = { bad: 0, unknown: 1, good: 2 } as const;

/** Adds the tools that only read. */
export function addReadings(add: AddTool, open: OpenTarget, stage: string | undefined): void {
  add({
    name: 'jobs',
    description: 'Jobs that match all filters. An answer with a cursor and without jobs means: search on.',
    input: paged.extend({
      status: z.enum(jobStatuses).optional(),
      automation: text('its name'),
      connection: text('its name'),
      subject: text('owner/repo or owner/repo#42'),
      person: text('a GitHub login, a Slack user id or a name'),
      delivery: text("GitHub's X-GitHub-Delivery, or Slack's trigger_id"),
      text: text('in the id, the event, the outcome or the reason'),
      since: text('2h, 3d, a date or a time'),
      limit: z.int().min(1).max(50).default(20).describe('the most jobs in the answer'),
    }),
    run: async ({ since, ...given }, relay) => {
      const params = new URLSearchParams(since && { since: String(readMoment(since).getTime()) });
      for (const [name, value] of Object.entries(given)) if (value !== undefined) params.set(name, String(value));
      return listJobs(relay, params);
    },
  });
  add({
    name: 'job',
    description:
      'The history of a job: its event, its steps with every send and answer, decisions, and what to do next. A part of the id is enough.',
    input: paged.extend({ job: z.string().min(1).max(200) }),
    run: async ({ job: id, cursor }, relay) => {
      const { periods, steps, ...detail } = await jobDetail(relay, (await knownJob(relay.stores, id)).id);
      return { ...detail, steps: pageOf(steps, cursor) };
    },
  });
  add({
    name: 'parked_groups',
    description:
      'Parked jobs by reason, with what helps. For an unknown outcome, with what is known of it, and what each decision will do.',
    input: paged,
    run: async ({ cursor }, relay) => {
      const { groups, more } = await readParked(relay);
      const withEvidence = groups.map(async ({ jobs, ...group }) => {
        const newest = jobs.slice(0, SHOWN_OF_GROUP).map(async (job) => {
          return group.outcomeUnknown ? { ...job, openCreations: (await jobDetail(relay, job.id)).openCreations } : job;
        });
        return { ...group, count: jobs.length, newest: await Promise.all(newest) };
      });
      return { moreJobsThanRead: more, groups: pageOf(await Promise.all(withEvidence), cursor) };
    },
  });
  add({
    name: 'plan',
    description:
      'What relay.config.ts, as it is now, would do for the issues of the newest jobs, how many calls that takes, and when they would be done. Sends nothing.',
    input: paged,
    run: async ({ cursor }, { runtime: { config }, stores }) => {
      const planned = await planStored(config, stores);
      const rows = planned.map(({ summary, plan }) => ({ event: summary, plan: planInWords(plan) }));
      return { calls: await sumsInWords(planned, config, stores), events: pageOf(rows, cursor) };
    },
  });
  add({
    name: 'doctor',
    description:
      'Checks configuration, credentials and assumed operations, what is wrong first. Creates nothing. Each answer uses calls of the background budget.',
    input: paged,
    run: async ({ cursor }, { runtime: { config } }) => {
      const findings = await examineRelay(config, open, stage);
      return pageOf(
        findings.toSorted((a, b) => byVerdict[a.verdict] - byVerdict[b.verdict]),
        cursor,
      );
    },
  });
  add({
    name: 'budget',
    description:
      'Jobs by status, and for each connection its limits, what is paused or stopped, and its lanes. The jobs tell who waits.',
    input: paged,
    run: async ({ cursor }, relay) => {
      const { connections, hour, recent, schedules, ...rest } = await createNowReader(relay)();
      const shown = connections.map(({ dayCalls, ...connection }) => connection);
      return { ...rest, connections: pageOf(shown, cursor) };
    },
  });
}
