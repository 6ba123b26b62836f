import * as z from 'zod';
import { openData, openRecord, operation } from './operation.ts';

/** `project_id` is shown; the optional filters are not (note A). */
export const listTasks = operation({
  name: 'tasks/list',
  evidence: 'payload not shown',
  effect: 'read',
  success: 200,
  payload: z.looseObject({ project_id: z.uuid() }),
  data: z.array(openRecord),
});

/** Without a known text field there is no marker to find a task by. */
export const createTask = operation({
  name: 'tasks/create',
  evidence: 'payload not shown',
  effect: 'create',
  success: 200,
  payload: openRecord,
  data: openData,
});

export const taskDetail = operation({
  name: 'tasks/detail',
  evidence: 'payload not shown',
  effect: 'read',
  success: 200,
  payload: openRecord,
  data: openData,
});

export const updateTask = operation({
  name: 'tasks/update',
  evidence: 'payload not shown',
  effect: 'repeatable',
  success: 200,
  payload: openRecord,
  data: openData,
});

export const searchTasks = operation({
  name: 'tasks/search',
  evidence: 'payload not shown',
  effect: 'read',
  success: 200,
  payload: openRecord,
  data: z.array(openRecord),
});
