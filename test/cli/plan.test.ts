import { beforeEach, describe, expect, it } from 'vitest';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { keys } from '../../lib/state/table/keys.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { runRelay, targetOf } from './run-command.ts';

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay();
});

/** A finished step. */
const done = { step: 'create-defect', calls: 'tasks/detail', status: 'done', result: {}, startedAt: 0, endedAt: 0 };

/** Runs the command with a configuration. @returns its output */
const plan = (config: RelayConfig, ...words: string[]) =>
  runRelay({ open: async () => targetOf(relay), readConfig: async () => config }, 'plan', ...words);

describe('relay plan', () => {
  it('shows what a changed configuration would do with stored issues, and sends nothing', async () => {
    for (const id of [1, 2])
      await relay.post('issues', issueEvent('opened', { id, title: `Issue ${id}`, labels: ['bug'] }));
    await relay.post('issues', issueEvent('labeled', { id: 3, title: 'Issue 3', labels: ['typo'] }));
    await relay.workToTheEnd();
    const before = relay.sandbox.requests;
    const same = await plan(relay.runtime.config);
    expect(same).toContain('main: 0 calls');
    expect(JSON.parse(await plan(relay.runtime.config, '--json'))).toHaveLength(3);
    const changed = await plan(exampleConfig({ labels: ['bug', 'typo'], priority: { labels: { bug: 'High' } } }));
    expect(changed).toMatch(/Issue 1\n {2}→ update defect \S+, priority High/);
    expect(changed).toMatch(/Issue 3\n {2}→ create, title/);
    expect(changed).toContain('main: 3 calls (1 to create, 2 to update)');
    expect(changed).toContain('Nothing was sent.');
    expect(relay.sandbox.requests).toBe(before);
    expect(await relay.jobs()).toHaveLength(3);
  });

  it('refuses a stage of a version whose items this version does not read', async () => {
    const planOf = (version: string) => {
      const open = async () => targetOf(relay, { stage: 'prod', wrote: { version, form: 1 } });
      return runRelay({ open, readConfig: async () => relay.runtime.config }, 'plan');
    };
    expect(await planOf('0.1.0')).toContain('Nothing was sent.');
    await expect(planOf('0.0.9')).rejects.toThrow(/^the stage prod: 0\.0\.9 ran here, .*partner-relay@0\.1\.0$/);
  });

  type Change = (table: TestRelay['stores']['table'], id: string) => Promise<unknown>;
  const stepIs =
    (status = 'done'): Change =>
    (table, id) =>
      table.put({ ...keys.step(id, 'create-defect'), ...done, status });
  const automationIs =
    (automation: string): Change =>
    (table, id) =>
      table.update(keys.job(id), { expression: 'SET #automation = :automation', values: { automation } });
  const claimed: Change = async (table, id) => {
    const claim = { by: id, connection: 'main', marker: 'of an earlier run' };
    const values = { life: 'claimed', claim };
    await table.update(keys.link('issue-9001'), { expression: 'SET #life = :life, #claim = :claim', values });
    await stepIs()(table, id);
  };
  const OTHER_STEP =
    /^! .*parks: the step 'create-defect' was tasks\/detail in an earlier run and is defects\/create now/m;
  const UNREADABLE = /^! .*parks: the journal of .* cannot be read: impossible value of status/m;
  const OTHER_INPUT = /^! .*parks: the input of .* does not fit this version of create-task/m;
  it.each<[string, Change, RegExp]>([
    ['the same', async () => {}, /^1 unfinished job; 1 would continue unchanged$/m],
    ['a step that was another operation', claimed, OTHER_STEP],
    ['a step that it cannot read', stepIs('of a later version'), UNREADABLE],
    ['an input that it does not know', automationIs('create-task'), OTHER_INPUT],
    [
      'an automation that is gone',
      automationIs('gone'),
      /^! .* cannot run without automations\/gone\.ts: restore the file, or discard the job$/m,
    ],
  ])('runs the journals of jobs under way against this version: %s', async (_, change, said) => {
    await relay.post('issues', issueEvent('opened', { title: 'Waits', labels: ['bug'] }));
    const [job] = await relay.jobs();
    await change(relay.stores.table, job?.id ?? '');
    expect(await plan(relay.runtime.config)).toMatch(said);
    expect(relay.sandbox.requests).toBe(0);
  });

  it("follows the claim of another job, as the event's job would", async () => {
    await relay.post('issues', issueEvent('opened', { title: 'Made' }));
    await relay.workToTheEnd();
    const { table } = relay.stores;
    const claimed = { expression: 'SET #life = :life REMOVE #defect', values: { life: 'claimed' } };
    await table.update(keys.link('issue-9001'), claimed);
    // The defect that the job created already matches the issue.
    expect(await plan(relay.runtime.config)).toMatch(/Made\n {2}→ no call: defect \S+ matches the issue/);
    const changed = exampleConfig({ priority: { labels: { bug: 'High' } } });
    expect(await plan(changed)).toMatch(/Made\n {2}→ update defect \S+, priority High$/m);
    await relay.post('issues', issueEvent('edited', { seconds: 1, title: 'Made' }));
    const before = relay.sandbox.requests;
    await relay.workToTheEnd();
    expect(relay.sandbox.requests).toBe(before);
  });
});
