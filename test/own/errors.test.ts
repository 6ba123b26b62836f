import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCustomAutomations } from '../../lib/automations/custom/folder.ts';
import { nextStep } from '../../lib/engine/line/next-step.ts';
import { runTest } from '../../local/trial/run-test.ts';
import type { Fault } from '../../sandbox/faults.ts';
import { runRelayOf } from '../cli/run-command.ts';
import { newFolder, withPackage } from '../new-folder.ts';
import { exampleConfig, PROJECT, startRelay, type TestRelay } from '../relay.ts';

let relay: TestRelay | undefined;

const SECRET = 'of the payload';
const config = exampleConfig();
const repository = { full_name: config.github.repositories[0]?.name };
const published = { action: 'published', release: { name: SECRET }, repository };

/** A file of a team. @param job line 4 @param run line 6 */
async function fileWith({ job = '', run = '' }: { job?: string; run?: string }) {
  const folder = join(withPackage(newFolder()), 'automations');
  mkdirSync(folder);
  const text = `import { github } from 'partner-relay';
import * as z from 'partner-relay/zod';
export const on = github('release.published', { input: { name: z.nullish(z.string()) }, job({ release }: any) {
  ${job}; return { happened: [1], input: { name: release.name } }; } });
export const run = async ({ name }: any, steps: any) => {
  ${run}; return 'done'; };
`;
  writeFileSync(join(folder, 'mine.ts'), text);
  return (await readCustomAutomations(config, folder)).custom;
}

/** @param isHere whether the relay runs on the team's machine */
async function startWith(parts: { job?: string; run?: string }, isHere = true) {
  const { showsErrors, ...custom } = await fileWith(parts);
  relay = await startRelay({ config, runtime: { custom: { ...custom, ...(isHere && { showsErrors }) } } });
  const { status } = await relay.post('release', published);
  await relay.workToTheEnd();
  return { relay, status, jobs: await relay.jobs() };
}

const THROWN = "throw new RangeError('no place\\n\\u001b[31m for ' + name)";

describe('an error that a file throws', () => {
  it('in run is in the record, in the log and in `jobs`, where its words are allowed', async () => {
    const { relay, jobs } = await startWith({ run: THROWN });
    const said = `RangeError: no place [31m for ${SECRET} at automations/mine.ts:6`;
    expect(jobs).toMatchObject([{ status: 'parked', parked: { reason: `${said} (8 attempts)`, kind: 'failed' } }]);
    expect(JSON.stringify(relay.log)).toContain(said);
    expect(await runRelayOf(relay, ['jobs'])).toContain(said);
  });

  it('in job is in the log', async () => {
    const { relay, status } = await startWith({ job: "throw new Error('no place for ' + release.name)" });
    expect(status).toBe(500);
    const error = `Error: no place for ${SECRET} at automations/mine.ts:4`;
    expect(relay.log).toContainEqual(expect.objectContaining({ error }));
  });

  const REJECTS = "void Promise.reject(new Error('lost')); await steps.until('x', 1e12)";
  const keeping = (keep: string) => `await steps.list('x', 'tasks/list', { project_id: '${PROJECT}' }, () => ${keep})`;
  const THROWS = "{ throw new Error('kept') }";
  it.each([
    ['a text', "throw 'a text'", 'a text at automations/mine.ts'],
    ['a promise that nothing waits for', REJECTS, 'Error: lost at automations/mine.ts:6'],
    ['a step that keeps', keeping(THROWS), 'Error: kept at automations/mine.ts:6'],
    ['a long message', "throw new Error('x'.repeat(900))", `Error: ${'x'.repeat(199)}… at automations/mine.ts:6`],
  ])('is shown for %s', async (_, run, said) => {
    const { relay, jobs } = await startWith({ run });
    expect(JSON.stringify([jobs, relay.log])).toContain(said);
  });

  it.each([[{ run: THROWN }], [{ job: 'throw new RangeError(release.name)' }]])(
    'shows on AWS only its kind, file and line: %j',
    async (parts) => {
      const { relay, jobs } = await startWith(parts, false);
      const all = JSON.stringify([jobs.map(({ input: _, ...job }) => job), relay.log, relay.metrics]);
      expect(all).not.toContain(SECRET);
      expect(all).toMatch(/RangeError at automations\/mine\.ts:[46]/);
    },
  );

  const noStep = (name: string, meant: string) => `TypeError: there is no step '${name}'; did you mean '${meant}'?`;
  it.each([
    ['a value that is not there', 'name.first.last()', 'TypeError: Cannot read properties of undefined'],
    ['a name that is not there', 'nowhere()', 'ReferenceError: nowhere is not defined'],
    ['a text that is no JSON', "JSON.parse('{')", 'SyntaxError: Expected property name'],
    ['a misspelt step', "await steps.creat('x', 'defects/create', {})", noStep('creat', 'create')],
    ['a misspelt step that is taken out', 'const { untill } = steps', noStep('untill', 'until')],
    ['another step', "await steps.fetch('x')", 'TypeError: steps.fetch is not a function'],
    ['a mistake in what a step keeps', keeping('name.first.last()'), 'TypeError: Cannot read'],
  ])('parks the job at once for %s, and says where it is', async (_, run, said) => {
    const { jobs } = await startWith({ run });
    const parked = jobs[0]?.parked;
    expect(parked).toMatchObject({ kind: 'needs an operator' });
    expect(parked?.reason).toContain(said);
    expect(parked?.reason).toContain('at automations/mine.ts:6');
  });

  it('names a similar step on AWS, too, and tries a request again that got no answer', async () => {
    const { jobs } = await startWith({ run: "await steps.creat('x')" }, false);
    expect(jobs[0]?.parked?.reason).toContain(`${noStep('creat', 'create')} at automations/mine.ts:6`);
    const failed = await startWith({ run: "throw new TypeError('fetch failed', { cause: new Error(name) })" });
    expect(failed.jobs).toMatchObject([{ parked: { kind: 'failed' } }]);
  });

  it('does not hide why a job is missing: a test says what the file answered, if it makes none', async () => {
    const event = { event: 'release', action: 'published' };
    const test = { before: [{ event: 'issues', labels: ['bug'] }], event, makes: {} };
    expect(await runTest(test, config, '.', await fileWith({ job: "return 'a draft completes nothing'" }))).toEqual([
      "expected a job; write makes: 'nothing' if there should be none",
      'because  the event made no job: mine: a draft completes nothing',
      expect.stringContaining('" succeeded: created defect'),
    ]);
  });

  it("is in the result of the team's test", async () => {
    const faulty = await fileWith({ job: "throw new Error('no place')" });
    await expect(
      runTest({ event: { event: 'release', action: 'published' }, makes: {} }, config, '.', faulty),
    ).rejects.toThrow(/^automations\/mine\.ts failed on an event: Error: no place at automations\/mine\.ts:4$/);
    const test = { event: { event: 'release', action: 'published' }, makes: { 'defects/create': {} } };
    const run = await runTest(test, config, '.', await fileWith({ run: "throw new Error('mine')" }));
    expect(run.join('\n')).toContain('Error: mine at automations/mine.ts:6');
    const job = runTest(test, config, '.', await fileWith({ job: "throw new Error('mine')" }));
    await expect(job).rejects.toThrow('Error: mine at automations/mine.ts:4');
  });
});

describe('a job that fails temporarily', () => {
  const discard = (relay: TestRelay, id: string) => runRelayOf(relay, ['discard', id, '--reason', 'not wanted']);
  async function waiting(run: string, fault?: Fault) {
    relay = await startRelay({ config, runtime: { custom: await fileWith({ run }) } });
    if (fault) relay.sandbox.setFault(fault);
    await relay.post('release', published);
    await relay.work();
    const [job] = await relay.jobs('waiting');
    return { relay, job, id: job?.id ?? '' };
  }
  const CREATE = `await steps.create('x', 'defects/create', { project_id: '${PROJECT}', title: 'x' })`;

  it.each<[string, string, Fault?]>([
    ['because its file throws', THROWN],
    ['because the service is down', CREATE, { kind: 'rate-limited', retryAfterSeconds: 600, times: 1 }],
    ['until a time', "await steps.until('x', '2026-11-28T10:00:00Z')"],
  ])('%s can be discarded, and creates nothing', async (_, run, fault) => {
    const { relay, job, id } = await waiting(run, fault);
    expect(job && nextStep(job, String, relay.clock.now)?.choices).toEqual(['replay', 'discard']);
    expect(await discard(relay, id)).toContain(`${id} is discarded`);
    const defects = relay.sandbox.data.defects.length;
    await relay.workToTheEnd();
    expect(await relay.jobs()).toMatchObject([{ status: 'not-done', outcome: 'discarded: not wanted' }]);
    expect(relay.sandbox.data.defects).toHaveLength(defects);
  });

  it('while the service may still have created something cannot be discarded', async () => {
    const { relay, job, id } = await waiting(CREATE, { kind: 'cut', when: 'after work', times: 2 });
    expect(job?.openUntil).toBeGreaterThan(relay.clock.now);
    expect(job && nextStep(job, String, relay.clock.now)?.choices).toEqual(['replay']);
    await expect(discard(relay, id)).rejects.toThrow(
      'the relay first has to find out whether the service created something for it',
    );
    await relay.workToTheEnd();
    expect(await relay.jobs()).toMatchObject([{ status: 'succeeded' }]);
  });
});
