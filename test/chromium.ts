import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** Where Chromium is on this machine, if it is there at all. */
export const chromium = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
].find((path) => existsSync(path));

/** A real browser with one page. https://chromedevtools.github.io/devtools-protocol/ */
export interface ChromiumPage {
  open(url: string): Promise<void>;
  /** Runs JavaScript in the page, once it gives something else than null and false. */
  until<T>(expression: string): Promise<T>;
  /** What the page complained of, such as its content policy. */
  complaints(): readonly string[];
  close(): Promise<void>;
}

const PATIENCE_MS = 20_000;

export async function startChromium(executable: string): Promise<ChromiumPage> {
  const profile = await mkdtemp(join(tmpdir(), 'partner-relay-chromium-'));
  const process = spawn(
    executable,
    ['--headless=new', '--no-sandbox', '--disable-gpu', '--remote-debugging-port=0', `--user-data-dir=${profile}`],
    { stdio: 'ignore' },
  );
  const port = await debuggingPort(profile, process);
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as Target[];
  const target = targets.find(({ type }) => type === 'page');
  if (!target) throw new Error('Chromium has no page');
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await once(socket, 'open');
  const send = connect(socket);
  const said: string[] = [];
  socket.addEventListener('message', ({ data }) => {
    const { method, params } = JSON.parse(String(data)) as { method?: string; params?: { entry?: { text: string } } };
    if (method === 'Log.entryAdded' && params?.entry) said.push(params.entry.text);
  });
  await send('Log.enable', {});
  return {
    open: async (url) => void (await send('Page.navigate', { url })),
    async until<T>(expression: string) {
      const deadline = Date.now() + PATIENCE_MS;
      for (;;) {
        const { result } = (await send('Runtime.evaluate', { expression, returnByValue: true })) as Evaluated;
        if (result?.value !== undefined && result.value !== null && result.value !== false) return result.value as T;
        if (Date.now() > deadline) throw new Error(`the page does not come to: ${expression}`);
        await setTimeout(50);
      }
    },
    complaints: () => said,
    async close() {
      socket.close();
      const ended = once(process, 'exit');
      process.kill();
      await ended;
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

interface Target {
  type: string;
  webSocketDebuggerUrl: string;
}

interface Evaluated {
  result?: { value?: unknown };
}

async function debuggingPort(profile: string, process: ChildProcess): Promise<string> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await setTimeout(50)) {
    if (process.exitCode !== null) throw new Error(`Chromium ended with ${process.exitCode}`);
    const [port] = (await readFile(join(profile, 'DevToolsActivePort'), 'utf8').catch(() => '')).split('\n');
    if (port) return port;
  }
  throw new Error('Chromium opens no debugging port');
}

/** @returns what sends a command, and resolves to its result; errors, as in the middle of a navigation, are results too */
function connect(socket: WebSocket) {
  const waiting = new Map<number, (result: unknown) => void>();
  socket.addEventListener('message', ({ data }) => {
    const { id, result = {} } = JSON.parse(String(data)) as { id?: number; result?: unknown };
    if (id !== undefined) waiting.get(id)?.(result);
  });
  let last = 0;
  return (method: string, params: object) =>
    new Promise<unknown>((resolve) => {
      last += 1;
      waiting.set(last, resolve);
      socket.send(JSON.stringify({ id: last, method, params }));
    });
}
