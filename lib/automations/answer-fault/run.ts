import { defineSimpleRun } from '../our-automation.ts';
import { faultJobs } from './jobs.ts';

/** Tells a person that their command cannot be read. */
export const run = defineSimpleRun(faultJobs, async ({ fault }, { stop }) => stop(fault));
