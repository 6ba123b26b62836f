import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';

export const recognitionJobs = defineJobs('recognize-person', z.object({}));
