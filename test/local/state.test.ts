import { createServer, type RequestListener } from 'node:http';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { controlRoutes } from '../../local/control-routes.ts';
import { startHttpFront } from '../../local/http-front.ts';
import { type Listening, listen } from '../../local/listen.ts';
import { createLocalSchedules } from '../../local/schedules.ts';
import type { StackVariables } from '../../local/stack.ts';
import { findRunning, noteRunning } from '../../local/state.ts';
import { workInNewFolder } from '../new-folder.ts';

const variables = { AWS_ACCESS_KEY_ID: 'LOCALTEST' } as StackVariables;
const running = { logFile: 'functions.log', console: 'http://127.0.0.1:1/', variables };
const schedules = createLocalSchedules(() => [], { clock: Date.now, failed: () => {} });
const ofAnotherStart = controlRoutes(schedules, 'LOCALOTHER');
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

const notFound: RequestListener = (_, response) => response.writeHead(404).end();

it.each([
  ['nothing answers at its address', async () => 'http://127.0.0.1:1'],
  ['a relay of another start answers there', () => addressOf(startHttpFront(0, ofAnotherStart))],
  ['something else answers there', () => addressOf(listen(createServer(notFound)))],
])('the state file is stale if %s, whichever process has its id', async (_, start) => {
  noteRunning({ ...running, url: await start() });
  expect(await findRunning()).toBeUndefined();
});

it('a relay that accepts nothing is found, and says why', async () => {
  const halted = () => 'the disk is full';
  noteRunning({ ...running, url: await addressOf(startHttpFront(0, {}, undefined, undefined, halted)) });
  await expect(findRunning()).rejects.toThrow(/^the relay at http:\S+ accepts nothing: the disk is full\.$/);
});
