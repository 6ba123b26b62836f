import * as z from 'zod';
import { creates, id, lists, notShown, operation, reads, untyped } from '../operation.ts';

/** All fields are assumed. An instance may have only some of them. */
const timelog = z.looseObject({
  timelog_id: untyped,
  task_id: untyped,
  task_name: untyped,
  user_id: untyped,
  date: untyped,
  hours: untyped,
  minutes: untyped,
  note: untyped,
});

/** Filters are not shown. Those that the relay uses are assumed and sent in the open record. */
export const listTimelogs = operation({
  name: 'timelogs/list',
  ...notShown,
  ...lists,
  data: z.array(timelog),
});

export const searchTimelogs = operation({
  name: 'timelogs/search',
  ...notShown,
  ...lists,
  data: z.array(timelog),
});

/** The name of the identifier's field is not shown. */
export const timelogDetail = operation({ name: 'timelogs/detail', ...notShown, ...reads, data: timelog });

/**
 * Path, fields and types are assumed; other fields are passed through. A lost time entry is found by the marker in its
 * note, if the instance keeps and lists notes. If it does not, a person has to decide what a lost answer means.
 *
 * The relay always requires `user_id`: without it, the service could log the time for the key's owner, and the relay
 * never acts for another person. `partner-relay call --raw` sends anything.
 */
export const createTimelog = operation({
  name: 'timelogs/create',
  evidence: 'assumed',
  ...creates,
  payload: z.looseObject({
    task_id: untyped,
    user_id: id,
    date: untyped,
    hours: untyped,
    note: untyped,
  }),
  data: z.looseObject({ timelog_id: id }),
  createdId: 'timelog_id',
  found: { field: 'note', list: 'timelogs/list', scope: ['task_id'] },
});
