import { describe, expect, it } from 'vitest';
import { PartnerPayloadError } from '../../../lib/service/partner/errors.ts';
import { type Operation, rawOperation, validate, withOverride } from '../../../lib/service/partner/operation.ts';
import {
  createDefect,
  linkDefect,
  listDefects,
  updateDefect,
} from '../../../lib/service/partner/operations/defects.ts';
import { operations } from '../../../lib/service/partner/operations/operations.ts';
import { createProject, listProjects } from '../../../lib/service/partner/operations/projects.ts';
import { listTasks, taskDetail } from '../../../lib/service/partner/operations/tasks.ts';
import {
  createTestScenario,
  createTestStep,
  deleteTestStep,
} from '../../../lib/service/partner/operations/test-scenarios.ts';
import { createTimelog, listTimelogs } from '../../../lib/service/partner/operations/timelogs.ts';
import { listUsers } from '../../../lib/service/partner/operations/users.ts';
import {
  completeChecklistItem,
  reorderChecklistGroups,
} from '../../../lib/service/partner/operations/work-item-checklists.ts';
import { decryptPayload } from '../../../sandbox/decryption.ts';
import { operations as sandboxOperations } from '../../../sandbox/routes.ts';
import { defaultKey } from '../../../sandbox/sandbox.ts';
import { seed } from '../../../sandbox/seed.ts';
import { carriedOut, defect_id, project_id, task_id, user_id } from '../../partner-contract.ts';
import { failureOf, reply, sandboxAndClient, serverAndClient } from './client-at-noon.ts';

/** Operations whose payload fields are not shown, or not all of them. */
const openPayloads = [
  ...['defects/create', 'defects/list', 'timelogs/create', 'users/list'],
  ...['validate', 'projects/detail', 'projects/update'],
  ...['tasks/list', 'tasks/create', 'tasks/detail', 'tasks/update', 'tasks/search'],
  ...['timelogs/list', 'timelogs/search', 'timelogs/detail'],
];

describe('operations', () => {
  it.each(carriedOut)('$name succeeds with its own status', async ({ operation, payload, data }) => {
    const { sandbox, client } = await sandboxAndClient();
    const result = await client.call(operation, payload);
    expect(result).toMatchObject({ status: operation.success, message: 'OK', data });
    expect(sandbox.audit).toMatchObject([{ endpoint: `/${operation.name}`, status: operation.success }]);
  });

  it('are all in the shared table, once', () => {
    expect(carriedOut.map(({ name }) => name)).toEqual([...operations.keys()]);
    expect(operations.size).toBe(new Set(operations.keys()).size);
  });

  it('are those of the sandbox, with the same evidence', () => {
    const same = { documented: 'documented', 'fields assumed': 'payload not shown', assumed: 'assumed' };
    const theirs = sandboxOperations.map(({ path, evidence }) => [path.slice(1), same[evidence]]);
    const ours = [...operations.values()].map(({ name, evidence }) => [name, evidence]);
    expect(ours.toSorted()).toEqual(theirs.toSorted());
    expect(ours.filter(([, evidence]) => evidence !== 'assumed')).toHaveLength(22);
  });

  it('that create something findable name a list, its page size, and fields that both sides have', async () => {
    const findable = [...operations.values()].filter(({ found }) => found);
    expect(findable.map(({ name }) => name)).toEqual(['projects/create', 'timelogs/create', 'defects/create']);
    for (const { name, found, effect } of findable) {
      expect(effect).toBe('create');
      const { sandbox, client } = await sandboxAndClient();
      const payload: Record<string, unknown> = { ...carriedOut.find((row) => row.name === name)?.payload };
      const list = operations.get(found?.list ?? '');
      if (!found || !list) throw new Error(`${name} names no list`);
      const created = await client.call(operations.get(name) ?? list, { ...payload, [found.field]: 'marker 4711' });
      const scope = Object.fromEntries(found.scope.map((field) => [field, payload[field]]));
      const listed = await client.call(list, { ...scope, [list.pageSize ?? '']: 100 });
      expect(listed.data).toContainEqual(created.data);
      expect(created.data).toHaveProperty(found.field, 'marker 4711');
      expect(sandbox.requests).toBe(2);
    }
  });
});

describe('payloads', () => {
  const strict = carriedOut.filter(({ name }) => !openPayloads.includes(name));

  it.each(strict)('of $name are refused with a field that it does not have', async ({ operation, payload }) => {
    const { sandbox, client } = await sandboxAndClient();
    const error = await failureOf(client.call(operation, { ...payload, colour: 'canary' }));
    expect(error).toBeInstanceOf(PartnerPayloadError);
    const fault = 'payload: Unrecognized key: "colour"';
    const facts = { operation: operation.name, status: null, retryAfterSeconds: null, faults: [fault] };
    expect({ ...error }).toEqual({ name: 'PartnerPayloadError', ...facts });
    expect(error.message).toBe(`${operation.name}: the payload does not fit: ${fault}`);
    expect(sandbox.requests).toBe(0);
  });

  it.each(openPayloads)('of %s may have any further field', async (name) => {
    const { sandbox, client } = await sandboxAndClient();
    const found = carriedOut.find((row) => row.name === name);
    const { operation, payload } = found ?? { operation: validate, payload: {} };
    await client.call(operation, { ...payload, colour: 'red' });
    expect(sandbox.audit).toMatchObject([{ endpoint: `/${name}`, status: operation.success }]);
  });

  const brokenOrder = { work_item_type: 'task', work_item_id: task_id, group_ids: [11, 12.5] };
  it.each<[string, Operation, object, RegExp[]]>([
    ['a link to nothing', linkDefect, { defect_id }, [/^payload: at least one of test_case_id, test_step_id and /]],
    ['a link to an undefined task', linkDefect, { defect_id, task_id: undefined }, [/^payload: at least one of /]],
    ['an item that would toggle', completeChecklistItem, { item_id: 103 }, [/^is_completed: /]],
    ['an update of no defect', updateDefect, { title: 'Crash' }, [/^defect_id: /]],
    ['time of nobody in particular', createTimelog, { task_id, date: '2026-02-03', hours: 1 }, [/^user_id: /]],
    ['a date with a time', createProject, { start_date: '2026-02-03 12:00:00' }, [/^start_date: /]],
    ['a project that is no UUID', listTasks, { project_id: 'shop' }, [/^project_id: /]],
    ['a broken page number', listProjects, { page: 1.5 }, [/^page: /]],
    ['an order with a broken number', reorderChecklistGroups, brokenOrder, [/^group_ids\.1: /]],
    ['two faults', createProject, { name: 7, estimated_hours: 'canary' }, [/^name: /, /^estimated_hours: /]],
  ])('with %s are refused before anything is sent', async (_, operation, payload, faults) => {
    const { sandbox, client } = await sandboxAndClient();
    const error = await failureOf(client.call(operation, payload));
    const told = { operation: operation.name, faults: faults.map((fault) => expect.stringMatching(fault)) };
    expect(error).toMatchObject({ name: 'PartnerPayloadError', retryAfterSeconds: null, ...told });
    expect(error.message).not.toContain('canary');
    expect(sandbox.requests).toBe(0);
  });

  it.each<[string, Operation, object]>([
    ['a priority that is a number', updateDefect, { defect_id, priority: 2, severity: null }],
    ['a percentage that is a decimal string', createTestScenario, { name: 'A', coverage_percentage: '12.50' }],
    ['null for a field that may be empty', createProject, { name: 'A', end_date: null, estimated_hours: null }],
    ['a project with a UUID of no version', listTasks, { project_id: '00000000-0000-0000-0000-000000000007' }],
    ['a scenario of such a project', createTestScenario, { project_id: '00000000-0000-0000-0000-000000000007' }],
    ['a defect without what the service may require', createDefect, { title: 7 }],
    ['hours as a decimal string', createTimelog, { user_id: 7, hours: '1.50' }],
    ['a target that is null', linkDefect, { defect_id, task_id: null, test_step_id: 7 }],
    ['a step with a status that is a number', createTestStep, { test_case_id: 7, status: 0 }],
  ])('with %s are left to the service', async (_, operation, payload) => {
    const data = { defect_id: 1, project_id: 'a', timelog_id: 1 };
    const rows = operation === listTasks;
    const { client, received } = await serverAndClient(reply(200, { success: true, data: rows ? [data] : data }));
    await client.call(operation, payload);
    expect(decryptPayload(Buffer.from(received[0]?.body ?? ''), defaultKey.secretKey)).toEqual(payload);
  });
});

describe('results', () => {
  const project = { project_id, name: null, isactive: null, colour: 'red' };

  it('keep fields that are null or not documented', async () => {
    const { client } = await serverAndClient(reply(200, { success: true, message: 'OK', data: [project], trace: 7 }));
    const result = { status: 200, message: 'OK', data: [project], pagination: null };
    expect(await client.call(listProjects, {})).toEqual(result);
  });

  it('accept any type if it is not shown', async () => {
    const rows = [{ task_id: null, user_id: 7, defect_id: 7, name: 7, title: ['a'], email: false, description: 1 }];
    const { client } = await serverAndClient(reply(200, { success: true, data: rows }));
    expect((await client.call(listTasks, { project_id })).data).toMatchObject([{ name: null, title: null }]);
    expect((await client.call(listUsers, {})).data).toMatchObject([{ user_id: 7, name: null, email: null }]);
    expect((await client.call(listDefects, {})).data).toMatchObject([{ defect_id: 7, description: null }]);
  });

  it('need no data if none is shown', async () => {
    const { client } = await serverAndClient(reply(200, { success: true, message: 'Deleted' }));
    expect(await client.call(deleteTestStep, { step_id: 2 })).toMatchObject({ message: 'Deleted', data: undefined });
  });

  it('need neither a message nor the one status of the reference', async () => {
    const { client } = await serverAndClient(reply(200, { success: true, data: project, pagination: null }));
    expect(await client.call(createProject, { name: 'Warehouse' })).toMatchObject({ status: 200, message: null });
  });
});

describe('an override', () => {
  const fields = { title: 'summary', description: 'text' };

  it('gives an assumed operation another path and other field names', async () => {
    const rename = { '/defects/create': { path: '/bugs/report', fields }, '/defects/list': { fields } };
    const { sandbox, client } = await sandboxAndClient({ rename });
    const create = withOverride(createDefect, { path: '/bugs/report', fields });
    const list = withOverride(listDefects, { fields });

    const created = await client.call(create, { project_id, title: 'Crash', description: 'On start' });
    expect(created.data).toMatchObject({ title: 'Crash', description: 'On start' });
    expect(created.data).not.toHaveProperty('summary');
    expect(sandbox.data.defects.at(-1)).toMatchObject({ title: 'Crash', description: 'On start' });
    const listed = await client.call(list, { project_id });
    expect(listed.data.map(({ title }) => title)).toEqual(['Crash', 'Voucher is applied twice']);
    expect(sandbox.audit.map(({ endpoint }) => endpoint)).toEqual(['/bugs/report', '/defects/list']);
  });

  it('renames an identifier, and a filter whose name is already that of another field', async () => {
    const swapped = { status: 'state', assigned_to: 'status' };
    const rename = { '/tasks/detail': { fields: { task_id: 'id' } }, '/tasks/list': { fields: swapped } };
    const { client } = await sandboxAndClient({ rename });
    const detail = await client.call(withOverride(taskDetail, { fields: { task_id: 'id' } }), { task_id });
    expect(detail.data).toMatchObject({ task_id, title: 'Release checkout 2.4' });
    const filter = { project_id, status: 'in_progress', assigned_to: user_id };
    const { data } = await client.call(withOverride(listTasks, { fields: swapped }), filter);
    expect(data).toMatchObject([{ task_id, status: 'in_progress', assigned_to: user_id }]);
  });

  it('does not change the name that errors carry, nor the schema', async () => {
    const { sandbox, client } = await sandboxAndClient();
    const elsewhere = withOverride(createDefect, { path: 'bugs/report', fields });
    const error = await failureOf(client.call(elsewhere, { project_id, title: 'Crash' }));
    const message = expect.stringMatching(/^defects\/create: /);
    expect(error).toMatchObject({ operation: 'defects/create', status: 404, message });
    expect(sandbox.audit).toMatchObject([{ endpoint: '/bugs/report' }]);
  });

  it("leaves out a field of the instance whose name is another field's of ours", async () => {
    const answer = { success: true, data: { id: 7, defect_id: 'of another system', title: 'Crash' } };
    const { client } = await serverAndClient(reply(200, answer));
    const { data } = await client.call(withOverride(createDefect, { fields: { defect_id: 'id' } }), {});
    expect(data).toEqual({ defect_id: 7, title: 'Crash' });
  });

  it.each([
    ['minutes', 1.5, 90, 90, 1.5],
    ['minutes', 1.3, 78, '80', 80 / 60],
    ['minutes', 80 / 60, 80, '1:20', '1:20'],
    ['seconds', 0.25, 900, 900, 0.25],
    ['hours', 1.3, 1.3, 1.3, 1.3],
    ['minutes', '1.5', 90, null, null],
  ] as const)('in %s sends %s as %s, and reads %s as %s', async (unit, hours, sent, came, read) => {
    const { client, received } = await serverAndClient(reply(200, { success: true, data: [{ spent: came }] }));
    const fields = { hours: { name: 'spent', unit } };
    const { data } = await client.call(withOverride(listTimelogs, { fields }), { hours });
    const [request] = received;
    expect(decryptPayload(Buffer.from(request?.body ?? ''), defaultKey.secretKey)).toEqual({ spent: sent });
    expect(data).toEqual([{ hours: read }]);
  });

  it('does not change names that every object has', async () => {
    const { client } = await sandboxAndClient();
    const renamed = withOverride(validate, { fields: { title: 'summary' } });
    const payload = { constructor: 1, toString: 2, title: 3 };
    expect((await client.call(renamed, payload)).data).toEqual(payload);
  });

  const NO_PATHS = ['', '/', 'a?b', 'a#b', '../a', 'a/./b', 'a//b', 'a b', 'löschen', 'a%20b'];
  it.each(NO_PATHS)('with the path "%s", which would not be sent as signed, is refused', (path) => {
    expect(() => rawOperation(path)).toThrow(`operation path '${path}': expected names joined by slashes`);
    expect(() => withOverride(createDefect, { path })).toThrow(`operation path '${path}'`);
  });

  it('without content does not change an operation', () => {
    expect(withOverride(createDefect, undefined)).toBe(createDefect);
    expect(withOverride(createDefect, {})).toEqual(createDefect);
  });
});

describe('a raw operation', () => {
  it.each(['projects/detail', '/projects/detail', '//projects/detail'])('calls the path %s', async (path) => {
    const { sandbox, client } = await sandboxAndClient();
    const result = await client.call(rawOperation(path), { project_id });
    expect(result.data).toMatchObject({ name: 'Web Shop', start_date: seed().projects[0]?.start_date });
    expect(sandbox.audit).toMatchObject([{ endpoint: '/projects/detail', status: 200 }]);
  });

  it('accepts any payload and any data', async () => {
    const { client, received } = await serverAndClient(reply(200, { success: true, message: 'OK', data: 'done' }));
    expect((await client.call(rawOperation('projects/archive'), { any: ['thing', { at: 'all' }] })).data).toBe('done');
    expect(received).toMatchObject([{ path: '/api/v1/partner/projects/archive' }]);
  });
});
