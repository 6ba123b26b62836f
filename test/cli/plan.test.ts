import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { issueEvent } from '../issue-events.ts';
import { mergedPayload } from '../kill/github-payloads.ts';
import { newFolder } from '../new-folder.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { runRelay, targetOf } from './run-command.ts';

let relay: TestRelay;
let folder: string;
beforeEach(async () => {
  relay = await startRelay();
  folder = newFolder();
});
afterEach(() => relay.close());

/** Runs the command with a configuration. @returns what it printed */
const plan = (config: RelayConfig, ...words: string[]) =>
  runRelay({ open: async () => targetOf(relay), readConfig: async () => config }, 'plan', ...words);

async function file(name: string, payload: object): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, JSON.stringify(payload));
  return path;
}

describe('relay plan', () => {
  it('shows what stored issues would get under a changed configuration, and sends nothing', async () => {
    for (const id of [1, 2])
      await relay.post('issues', issueEvent('opened', { id, title: `Issue ${id}`, labels: ['bug'] }));
    await relay.post('issues', issueEvent('labeled', { id: 3, title: 'Issue 3', labels: ['typo'] }));
    await relay.workToTheEnd();
    const before = relay.sandbox.requests;
    const same = await plan(relay.runtime.config);
    expect(same).toContain('main: 0 calls');
    const changed = await plan(exampleConfig({ labels: ['bug', 'typo'], priority: { labels: { bug: 'High' } } }));
    expect(changed).toMatch(/Issue 1\n {2}→ update defect \S+, priority High/);
    expect(changed).toMatch(/Issue 3\n {2}→ create, title/);
    expect(changed).toContain('main: 3 calls (1 to create, 2 to update)');
    expect(changed).toContain('Nothing was sent.');
    expect(relay.sandbox.requests).toBe(before);
    expect(await relay.jobs()).toHaveLength(3);
  });

  it('shows what given deliveries would do one after the other', async () => {
    const files = [
      await file('1.json', issueEvent('opened', { title: 'One' })),
      await file('2.json', issueEvent('edited', { title: 'Another', seconds: 1 })),
      await file('3.json', issueEvent('edited', { title: 'Another', seconds: 2 })),
      await file('4.json', issueEvent('opened', { id: 2, labels: [] })),
    ];
    const shown = await plan(relay.runtime.config, ...files);
    expect(shown).toMatch(/opened: One\n {2}→ create/);
    expect(shown).toMatch(/edited: Another\n {2}→ update defect the new one, title/);
    expect(shown).toMatch(/edited: Another\n {2}→ no call: defect the new one looks like the issue/);
    expect(shown).toContain('ignored: a new issue without the label bug');
    expect(shown).toContain('main: 2 calls');
    expect(await relay.jobs()).toEqual([]);
    await expect(plan(relay.runtime.config, await file('5.json', [1]))).rejects.toThrow(/is not a JSON object/);
  });

  it('says which merges complete nothing', async () => {
    const stacked = mergedPayload(1, 'Completes checklist item 101');
    const { base } = stacked.pull_request;
    const payload = { ...stacked, pull_request: { ...stacked.pull_request, base: { ...base, ref: 'feature' } } };
    const shown = await plan(relay.runtime.config, await file('1.json', payload), '--event', 'pull_request');
    expect(shown).toContain('ignored: a merge into feature completes nothing; only a merge into master does');
  });

  it('counts what depends on the answers of the service as one call or more', async () => {
    const payload = mergedPayload(1, 'Completes checklist items 101 and 102');
    const shown = await plan(relay.runtime.config, await file('1.json', payload), '--event', 'pull_request');
    expect(shown).toMatch(/main: 0 calls \(.*\), and one call or more for each of 1 other job; done by about/);
  });

  it('prints with --json what it shows, and nothing else', async () => {
    const files = [await file('1.json', issueEvent('opened', { title: 'One' }))];
    expect(JSON.parse(await plan(relay.runtime.config, '--json', ...files))).toMatchObject([
      { summary: expect.stringContaining('One'), connection: 'main', plan: { does: 'create' } },
    ]);
  });

  it('follows the claim of another job as the job of an event would', async () => {
    await relay.post('issues', issueEvent('opened', { title: 'Made' }));
    await relay.workToTheEnd();
    const { table } = relay.stores;
    await table.update(
      { pk: 'link#issue-9001', sk: 'link' },
      { expression: 'SET #life = :life REMOVE #defect', values: { life: 'claimed' } },
    );
    // The defect that the job has created is as the issue wants it.
    expect(await plan(relay.runtime.config)).toMatch(/Made\n {2}→ no call: defect \S+ looks like the issue/);
    const changed = exampleConfig({ priority: { labels: { bug: 'High' } } });
    expect(await plan(changed)).toMatch(/Made\n {2}→ update defect \S+, priority High$/m);
    await relay.post('issues', issueEvent('edited', { seconds: 1, title: 'Made' }));
    const before = relay.sandbox.requests;
    await relay.workToTheEnd();
    expect(relay.sandbox.requests).toBe(before);
  });

  it("an event of a member takes over the claim of a stranger's job that waits", async () => {
    await relay.close();
    const twoCalls = { limits: { perDay: 100 }, strangersShare: 0.02 };
    relay = await startRelay({ config: exampleConfig({}, { connection: twoCalls }) });
    const by = (login: string) => ({
      author_association: 'NONE',
      user: { login: 'mallory', type: 'User' },
      extra: { sender: { login } },
    });
    await relay.post('issues', issueEvent('opened', { id: 1, ...by('mallory') }));
    await relay.work();
    relay.sandbox.setFault({ kind: 'rate-limited', operation: '/defects/create', times: 1 });
    await relay.post('issues', issueEvent('opened', { id: 2, ...by('mallory') }));
    for (let minute = 0; minute < 3; minute++) {
      relay.clock.now += 60_000;
      await relay.sweep();
      await relay.work();
    }
    const edited = (login: string) =>
      file(`${login}.json`, issueEvent('edited', { id: 2, seconds: 1, title: 'Triaged', ...by(login) }));
    const { config } = relay.runtime;
    expect(await plan(config, await edited('mallory'))).toMatch(/→ no call: \S+ makes the defect/);
    expect(await plan(config, await edited('Codertocat'))).toMatch(/→ create, title/);
  });
});
