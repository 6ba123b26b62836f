import type { factsOf, ignoredBy } from './api.ts';
import type { jobDetail } from './job.ts';
import type { testOfJob } from './job-test.ts';
import type { listJobs } from './jobs.ts';
import type { listLinks } from './links.ts';
import type { createNowReader } from './now.ts';
import type { readParked } from './parked.ts';
import type { createTry } from './try/try.ts';

/**
 * The answers of the console's server to GET requests. Everything is JSON, and times are epoch milliseconds. Texts may
 * come from outside, so the pages render them as text only. A request needs the header `authorization: Bearer <token>`.
 * An error is `{ error: string }` with a status of 4xx or 5xx, in words for the operator.
 */

/** The type of a value after JSON, which leaves out fields that are undefined. */
type Json<T> = T extends readonly (infer Item)[]
  ? Json<Item>[]
  : T extends object
    ? { [K in keyof T as undefined extends T[K] ? never : K]: Json<T[K]> } & {
        [K in keyof T as undefined extends T[K] ? K : never]?: Json<Exclude<T[K], undefined>>;
      }
    : T;
type Answer<F extends (...given: never[]) => Promise<unknown>> = Json<Awaited<ReturnType<F>>>;

/** `GET /api/relay`: which relay this console shows, and what it may do. */
export type RelayFacts = Json<ReturnType<typeof factsOf>>;

/** `GET /api/ignored`: the newest events that made no job, newest first. Only on one machine. */
export type Ignored = Json<ReturnType<typeof ignoredBy>>;

/** `GET /api/now` */
export type Now = Answer<ReturnType<typeof createNowReader>>;
export type ConnectionNow = Now['connections'][number];
export type LaneNow = ConnectionNow['lanes'][number];
export type Lane = LaneNow['lane'];
export type Count = LaneNow['inLine'];

/**
 * `GET /api/jobs?status=&automation=&subject=&person=&connection=&lane=&delivery=&text=&since=&cursor=`. A job must
 * match all filters. The server reads a limited number of pages of the index for each answer, so an answer may have a
 * cursor and no jobs.
 */
export type JobPage = Answer<typeof listJobs>;
export type JobRow = JobPage['jobs'][number];
export type JobStatus = JobRow['status'];

/** `GET /api/jobs/<id>` */
export type JobDetail = Answer<typeof jobDetail>;
export type StepDetail = JobDetail['steps'][number];
export type Send = StepDetail['sends'][number];
export type Period = JobDetail['periods'][number];
export type OperatorDecision = JobDetail['decisions'][number];
/** What is known about a creation without a clear answer. */
export type CreationDetail = JobDetail['openCreations'][number];

/** `GET /api/jobs/<id>/test`: a file for `partner-relay test`. `/share` returns a file for support. */
export type JobTest = Answer<typeof testOfJob>;

/** `GET /api/parked` */
export type ParkedGroups = Answer<typeof readParked>;

/** `GET /api/links?find=owner/name%2342` */
export type LinkPage = Answer<typeof listLinks>;
export type LinkRow = LinkPage['links'][number];

/** `GET /api/try`: what the screen Try offers on one machine. */
export type TryFacts = Json<ReturnType<ReturnType<typeof createTry>['read']>>;
