import * as z from 'zod';
import { changes, creates, lists, maybe, notShown, operation, reads } from '../operation.ts';

/** A project as returned (docs/partner-api.md#project). */
export const project = z.looseObject({
  project_id: z.string(),
  name: maybe(z.string()),
  short_name: maybe(z.string()),
  description: maybe(z.string()),
  project_type: maybe(z.string()),
  status: maybe(z.string()),
  isactive: maybe(z.boolean()),
  start_date: maybe(z.string()),
  end_date: maybe(z.string()),
  estimated_hours: maybe(z.number()),
  is_favourite: maybe(z.boolean()),
  dt_created: maybe(z.string()),
  dt_updated: maybe(z.string()),
});

export const listProjects = operation({
  name: 'projects/list',
  evidence: 'documented',
  ...reads,
  pageSize: 'limit',
  payload: z.strictObject({ page: z.int().optional(), limit: z.int().optional() }),
  data: z.array(project),
});

/**
 * Types are those of the returned project, and `priority` is documented as a string. Which fields are required is not
 * shown, so none is. Null is accepted; assumed: it clears an optional column.
 */
export const createProject = operation({
  name: 'projects/create',
  evidence: 'documented',
  ...creates,
  payload: z.strictObject({
    name: z.string().nullish(),
    priority: z.string().nullish(),
    description: z.string().nullish(),
    status: z.string().nullish(),
    start_date: z.iso.date().nullish(),
    end_date: z.iso.date().nullish(),
    estimated_hours: z.number().nullish(),
  }),
  data: project,
  // No scope: projects/list has no filter, so the search reads every project that the key can access.
  createdId: 'project_id',
  found: { field: 'description', list: 'projects/list', scope: [] },
});

/** The name of the identifier's field is not shown. */
export const projectDetail = operation({ name: 'projects/detail', ...notShown, ...reads, data: project });

/** The name of the identifier's field is not shown. */
export const updateProject = operation({ name: 'projects/update', ...notShown, ...changes });

/** Types are documented; which fields are required is not shown. */
export const searchProjects = operation({
  name: 'projects/search',
  evidence: 'documented',
  ...lists,
  payload: z.strictObject({ q: z.string().optional(), page: z.int().optional(), per_page: z.int().optional() }),
  data: z.array(project),
});
