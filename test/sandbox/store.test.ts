import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { newFolder } from '../new-folder.ts';
import { call, send, sign, startAtNoon } from './signed-request.ts';

const newDefect = { project_id: '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01', title: 'Cart is empty' };

const newDataFile = () => join(newFolder(), 'data.jsonl');

describe('the data file', () => {
  it('keeps records, nonces and audit trail', async () => {
    const dataFile = newDataFile();
    const first = await startAtNoon({ dataFile });
    const signed = sign(first.sandbox.url, '/defects/create', newDefect);
    await send(signed);
    const step = { test_case_id: 'e57a8c31-6d02-4b9f-a4c3-1b8e2f7d6a01', step_id: 1 };
    await call(first.sandbox, '/test-steps/delete', { ...step, hard_delete: true });
    const second = await startAtNoon({ dataFile });
    expect(second.sandbox.data).toEqual(first.sandbox.data);
    expect(second.sandbox.audit).toEqual(first.sandbox.audit);
    const url = signed.url.replace(first.sandbox.url, second.sandbox.url);
    expect((await send({ ...signed, url })).json.message).toBe('Nonce already used');
  });

  it('survives a line that a kill has cut, even before the next start', async () => {
    const dataFile = newDataFile();
    const { sandbox } = await startAtNoon({ dataFile });
    await call(sandbox, '/defects/create', newDefect);
    appendFileSync(dataFile, '[{"put":"defects","record":{"defe');
    const second = await startAtNoon({ dataFile });
    await call(second.sandbox, '/defects/create', newDefect);
    const third = await startAtNoon({ dataFile });
    expect(third.sandbox.data.defects).toHaveLength(3);
  });

  it('is refused if a line before the last is broken', async () => {
    const dataFile = newDataFile();
    writeFileSync(dataFile, '[{"pu\n[]\n');
    const why = /data\.jsonl is damaged: line 1 is not JSON; correct the line, or remove the file/;
    await expect(startSandbox({ dataFile })).rejects.toThrow(why);
  });

  it('has everything that a process answered just before it was killed', async () => {
    const dataFile = newDataFile();
    const start = join(import.meta.dirname, '../../sandbox/start.ts');
    const child = spawn(process.execPath, [start, '--port', '0', '--data', dataFile]);
    onTestFinished(() => void child.kill('SIGKILL'));
    const [greeting] = await once(child.stdout, 'data');
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(String(greeting))?.[0] ?? '';
    const now = Date.now();
    const titles = Array.from({ length: 20 }, (_, index) => `Defect ${index}`);
    const sends = titles.map((title) => send(sign(url, '/defects/create', { ...newDefect, title }, { at: now })));
    const answers = await Promise.all(sends);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(answers.map(({ status }) => status)).toEqual(titles.map(() => 201));
    const { sandbox } = await startAtNoon({ dataFile });
    expect(sandbox.data.defects.map(({ title }) => title)).toEqual(expect.arrayContaining(titles));
    expect(sandbox.audit).toHaveLength(titles.length);
  });
});
