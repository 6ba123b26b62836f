import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { controlRoutes } from '../../local/control-routes.ts';
import { startHttpFront } from '../../local/http-front.ts';
import { type Listening, listen } from '../../local/listen.ts';
import { createLocalSchedules } from '../../local/schedules.ts';
import type { StackVariables } from '../../local/stack.ts';
import { findRunning, noteRunning } from '../../local/state.ts';
import { workInNewFolder } from '../new-folder.ts';

const variables = { AWS_ACCESS_KEY_ID: 'LOCALTEST' } as StackVariables;
const running = { logFile: 'functions.log', console: 'http://127.0.0.1:1/', variables };
let servers: Listening[];
beforeEach(() => {
  workInNewFolder();
  servers = [];
});
afterEach(() => Promise.all(servers.map(({ close }) => close())));

async function addressOf(starting: Promise<Listening>): Promise<string> {
  const server = await starting;
  servers.push(server);
  return server.url;
}

function startFront(key: string): Promise<string> {
  const schedules = createLocalSchedules(() => [], { clock: Date.now, failed: () => {} });
  return addressOf(startHttpFront(0, controlRoutes(schedules, key)));
}

describe('the state file of the running relay', () => {
  it('the state file is valid while the relay answers at its address', async () => {
    const url = await startFront('LOCALTEST');
    noteRunning({ ...running, url });
    expect(await findRunning()).toEqual({ ...running, url });
  });

  it.each([
    ['nothing answers at its address', async () => 'http://127.0.0.1:1'],
    ['a relay of another start answers there', () => startFront('LOCALOTHER')],
    [
      'something else answers there',
      () => addressOf(listen(createServer((_, response) => response.writeHead(404).end()))),
    ],
  ])('the state file is stale if %s, whatever process has its id', async (_, start) => {
    noteRunning({ ...running, url: await start() });
    expect(await findRunning()).toBeUndefined();
  });

  it('a relay that takes nothing any more is found, and says why', async () => {
    const halted = () => 'the disk is full';
    noteRunning({ ...running, url: await addressOf(startHttpFront(0, {}, undefined, undefined, halted)) });
    await expect(findRunning()).rejects.toThrow(/^the relay at http:\S+ takes nothing: the disk is full\.$/);
  });

  it.each(['', '{', '[]', '{"url":"nowhere"}', '{"url":"http://127.0.0.1:1","variables":{}}'])(
    'a damaged state file is named: %j',
    async (text) => {
      await mkdir('.relay');
      await writeFile('.relay/running.json', text);
      await expect(findRunning()).rejects.toThrow(/^\.relay\/running\.json is damaged; .*remove the file/);
    },
  );
});
