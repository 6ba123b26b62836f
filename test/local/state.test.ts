import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { controlRoutes } from '../../local/control-routes.ts';
import { startHttpFront } from '../../local/http-front.ts';
import { createLocalSchedules } from '../../local/schedules.ts';
import type { StackVariables } from '../../local/stack.ts';
import { findRunning, noteRunning } from '../../local/state.ts';
import { workInNewFolder } from '../new-folder.ts';

const variables = { AWS_ACCESS_KEY_ID: 'LOCALTEST' } as StackVariables;
let servers: Server[];
beforeEach(() => {
  workInNewFolder();
  servers = [];
});
afterEach(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

const addressOf = (server: Server) => {
  servers.push(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

async function startFront(key: string): Promise<string> {
  const schedules = createLocalSchedules(() => [], { clock: Date.now, failed: () => {} });
  return addressOf(await startHttpFront(0, controlRoutes(schedules, key)));
}

describe('the state file of the running relay', () => {
  it('the state file is valid while the relay answers at its address', async () => {
    const url = await startFront('LOCALTEST');
    noteRunning({ url, variables });
    expect(await findRunning()).toEqual({ url, variables });
  });

  it.each([
    ['nothing answers at its address', async () => 'http://127.0.0.1:1'],
    ['a relay of another start answers there', () => startFront('LOCALOTHER')],
    [
      'something else answers there',
      async () => {
        const server = createServer((_, response) => response.writeHead(404).end());
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        return addressOf(server);
      },
    ],
  ])('the state file is stale if %s, whatever process has its id', async (_, start) => {
    noteRunning({ url: await start(), variables });
    expect(await findRunning()).toBeUndefined();
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
