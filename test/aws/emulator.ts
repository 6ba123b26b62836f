import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { Agent, request as requestByTls } from 'node:https';
import { createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import type { Scratch } from './scratch.ts';

const VENV = join(import.meta.dirname, '..', '..', '.relay', 'ministack');
const PYTHON = join(VENV, 'bin', 'python');
const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');
const REGION = 'eu-central-1';
const LOG_LINES = 80;
/** Longer than a webhook may take. */
const REQUEST_TIMEOUT_MS = 20_000;

/** A server that answers as AWS does. */
export interface Emulator {
  /** Whether this test started the emulator, and must end it. */
  isOwn: boolean;
  /** For the clients of the AWS SDK. */
  client: {
    endpoint: string;
    region: string;
    credentials: { accessKeyId: string; secretAccessKey: string };
    requestHandler: { httpsAgent: Agent; requestTimeout: number; throwOnRequestTimeout: boolean };
  };
  /** For programs that use AWS: these variables lead to the emulator, and to no account of the caller. */
  variables: NodeJS.ProcessEnv;
  /** Sends a request to a host that only the emulator knows, such as a function URL. With a body, it is a POST. */
  send(url: string, headers?: Readonly<Record<string, string>>, body?: string): Promise<Answer>;
  /** {@link send} with the interface of `fetch`. */
  fetch: typeof fetch;
  /** The end of the emulator's output, including the functions' logs. */
  log(): string;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

/**
 * Returns the emulator of `RELAY_AWS_ENDPOINT`; otherwise, starts MiniStack from PyPI, in a virtual environment below
 * `.relay/`.
 *
 * @param signal stops the work under way
 * @throws {Error} that names what is missing, and the command that installs it
 */
export async function findEmulator(scratch: Scratch, signal: AbortSignal): Promise<Emulator> {
  const endpoint = process.env.RELAY_AWS_ENDPOINT;
  if (endpoint) {
    return connect(endpoint, scratch, {
      isOwn: false,
      authority: process.env.AWS_CA_BUNDLE,
      log: () => `${endpoint} keeps its log elsewhere.`,
    });
  }
  await installMinistack(scratch, signal);
  return startMinistack(scratch, signal);
}

async function installMinistack(scratch: Scratch, signal: AbortSignal): Promise<void> {
  const wanted = await readFile(REQUIREMENTS, 'utf8');
  // Written last, so an interrupted installation is repeated.
  const done = join(VENV, 'installed.txt');
  if ((await readFile(done, 'utf8').catch(() => '')) === wanted) return;

  await rm(VENV, { recursive: true, force: true });
  const options = { signal, env: { ...process.env, TMPDIR: scratch.folder } };
  const otherwise = 'Or name an emulator that runs: RELAY_AWS_ENDPOINT=http://localhost:4566 npm run test:aws';
  await scratch.run('python3', ['-m', 'venv', VENV], options).catch((cause: Error) => {
    throw new Error(
      `The AWS emulator needs Python 3.11.5 or newer: sudo apt-get install python3 python3-venv. ${otherwise}`,
      { cause },
    );
  });
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-cache-dir', '--require-hashes'];
  await scratch.run(PYTHON, [...pip, '-r', REQUIREMENTS], options).catch((cause: Error) => {
    throw new Error(
      `The AWS emulator could not be fetched: .relay/ministack/bin/pip install -r test/aws/requirements.txt. ${otherwise}`,
      { cause },
    );
  });
  await writeFile(done, wanted);
}

async function startMinistack(scratch: Scratch, signal: AbortSignal): Promise<Emulator> {
  const names = ['-i', 'localhost', '127.0.0.1'];
  await scratch.run(PYTHON, ['-m', 'trustme', '--quiet', '-d', scratch.folder, ...names], { signal });
  const [certificate, key, authority] = ['server.pem', 'server.key', 'client.pem'].map((name) =>
    join(scratch.folder, name),
  ) as [string, string, string];

  for (;;) {
    const port = await freePort();
    // MiniStack's own start command would also take port 443.
    const hypercorn = ['-m', 'hypercorn', 'as_documented:app', '--workers', '0', '--bind', `127.0.0.1:${port}`];
    const ministack = scratch.start(PYTHON, [...hypercorn, '--certfile', certificate, '--keyfile', key], {
      // The complete environment, because the functions get it, too.
      env: {
        // MiniStack starts functions with the first `node` in the PATH.
        PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
        PYTHONPATH: import.meta.dirname,
        PYTHONDONTWRITEBYTECODE: '1',
        HOME: scratch.folder,
        TMPDIR: scratch.folder,
        STATE_DIR: scratch.folder,
        GATEWAY_PORT: String(port),
        MINISTACK_REGION: REGION,
        // Enforces the policies of roles and resources, which demand TLS.
        AUTH: 'true',
        USE_SSL: '1',
        MINISTACK_SSL_CERT: certificate,
        MINISTACK_SSL_KEY: key,
        NODE_EXTRA_CA_CERTS: authority,
        // Otherwise, it would listen on another port.
        IOT_MTLS_ENABLED: '0',
      },
    });
    const lines: string[] = [];
    for (const stream of [ministack.stdout, ministack.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        lines.push(...chunk.split('\n'));
        lines.splice(0, lines.length - LOG_LINES);
      });
    }
    const log = () => lines.join('\n');
    const emulator = await connect(`https://localhost:${port}`, scratch, { isOwn: true, authority, log });
    const health = await Promise.race([once(ministack, 'close').then(() => undefined), firstHealth(emulator, signal)]);
    if (health?.auth === 'enabled') return emulator;
    // Another process may have taken the port meanwhile.
    if (health || !log().includes('ddress already in use')) throw new Error(`MiniStack does not start:\n${log()}`);
  }
}

async function firstHealth(emulator: Emulator, signal: AbortSignal): Promise<{ auth?: string }> {
  for (;;) {
    const answer = await emulator.send(`${emulator.client.endpoint}/_ministack/health`).catch(() => undefined);
    if (answer) return JSON.parse(answer.text);
    await setTimeout(100, undefined, { signal });
  }
}

/** A port that is currently free. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('the system gives no port');
  return address.port;
}

interface Connection {
  isOwn: boolean;
  /** A PEM file with the authority of the emulator's certificate, if it is not a well-known one. */
  authority: string | undefined;
  log: () => string;
}

async function connect(endpoint: string, scratch: Scratch, { isOwn, authority, log }: Connection): Promise<Emulator> {
  const httpsAgent = new Agent({ keepAlive: true, ...(authority && { ca: await readFile(authority) }) });
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const { protocol, hostname, port } = new URL(endpoint);

  async function send(url: string, headers: Readonly<Record<string, string>> = {}, body?: string): Promise<Answer> {
    const { host, pathname, search } = new URL(url);
    const method = body === undefined ? 'GET' : 'POST';
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const options = { hostname, port, path: pathname + search, method, headers: { ...headers, host }, signal };
    const sent =
      protocol === 'https:'
        ? // Without `servername`, the client would expect a certificate for the header's host.
          requestByTls({ ...options, agent: httpsAgent, servername: hostname })
        : request(options);
    const [response] = (await once(sent.end(body), 'response')) as [IncomingMessage];
    const received = Object.entries(response.headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    );
    return { status: response.statusCode ?? 0, headers: new Headers(received), text: await text(response) };
  }

  return {
    isOwn,
    client: {
      endpoint,
      region: REGION,
      credentials,
      requestHandler: { httpsAgent, requestTimeout: REQUEST_TIMEOUT_MS, throwOnRequestTimeout: true },
    },
    variables: {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(AWS|CDK)_/.test(name))),
      // Includes the virtual environment's AWS CLI, if there is one.
      PATH: [dirname(process.execPath), join(VENV, 'bin'), process.env.PATH].join(delimiter),
      TMPDIR: scratch.folder,
      AWS_ENDPOINT_URL: endpoint,
      AWS_REGION: REGION,
      // The AWS CLI reads only this variable.
      AWS_DEFAULT_REGION: REGION,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      // This file does not exist. The caller's own would name real accounts.
      AWS_CONFIG_FILE: join(scratch.folder, 'aws-config'),
      AWS_SHARED_CREDENTIALS_FILE: join(scratch.folder, 'aws-credentials'),
      AWS_EC2_METADATA_DISABLED: 'true',
      CDK_HOME: join(scratch.folder, 'cdk-home'),
      CDK_DISABLE_CLI_TELEMETRY: 'true',
      // The CDK runs npx, which keeps logs.
      npm_config_cache: join(scratch.folder, 'npm'),
      // The CDK CLI reads the first variable, Node the second.
      ...(authority && { AWS_CA_BUNDLE: authority, NODE_EXTRA_CA_CERTS: authority }),
    },
    send,
    async fetch(input, init) {
      const asked = new Request(input, init);
      const body = asked.method === 'POST' ? await asked.text() : undefined;
      const { status, headers, text } = await send(asked.url, Object.fromEntries(asked.headers), body);
      return new Response(text, { status, headers });
    },
    log,
  };
}
