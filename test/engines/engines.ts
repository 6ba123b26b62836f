import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '../aws/emulator.ts';
import { openScratch, type Scratch } from '../aws/scratch.ts';

const JARS = join(import.meta.dirname, '..', '..', '.relay', 'engines');
const POM = join(import.meta.dirname, 'pom.xml');
const HASHES = join(import.meta.dirname, 'jars.sha256');
const MAVEN_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1';
const STARTED_WITHIN_MS = 60_000;
const LOG_LINES = 40;

/** A third-party server on a free port of this machine, without data. */
export interface Engine {
  endpoint: string;
  close(): Promise<void>;
}

/** DynamoDB as AWS offers it for tests, in memory. It listens on all addresses of the machine. */
export const startDynamoDbLocal = () =>
  startEngine((port) => [
    `-Dsqlite4java.library.path=${JARS}`,
    'com.amazonaws.services.dynamodbv2.local.main.ServerRunner',
    '-inMemory',
    '-disableTelemetry',
    '-port',
    String(port),
  ]);

/** ElasticMQ, a queue with the protocol of SQS, in memory. */
export const startElasticMq = () =>
  startEngine((port) => [
    '-Dnode-address.host=127.0.0.1',
    `-Dnode-address.port=${port}`,
    '-Drest-sqs.bind-hostname=127.0.0.1',
    `-Drest-sqs.bind-port=${port}`,
    '-Drest-stats.enabled=false',
    'org.elasticmq.server.Main',
  ]);

async function startEngine(java: (port: number) => string[]): Promise<Engine> {
  const scratch = await openScratch();
  try {
    await installJars(scratch);
    const port = await freePort();
    const endpoint = `http://127.0.0.1:${port}`;
    const server = scratch.start('java', ['-cp', join(JARS, '*'), ...java(port)]);
    const lines: string[] = [];
    for (const stream of [server.stdout, server.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        lines.push(...chunk.split('\n'));
        lines.splice(0, lines.length - LOG_LINES);
      });
    }
    const signal = AbortSignal.timeout(STARTED_WITHIN_MS);
    const ended = once(server, 'close').then(() => false);
    if (await Promise.race([ended, firstAnswer(endpoint, signal)])) return { endpoint, close: () => scratch.close() };
    throw new Error(`The engine does not start:\n${lines.join('\n')}`);
  } catch (error) {
    await scratch.close();
    throw error;
  }
}

async function firstAnswer(endpoint: string, signal: AbortSignal): Promise<true> {
  for (;;) {
    const answer = await fetch(endpoint, { signal }).catch(() => undefined);
    if (answer) return true;
    await setTimeout(100, undefined, { signal });
  }
}

/** Downloads the files of `pom.xml` with Maven, and compares their hashes. */
async function installJars(scratch: Scratch): Promise<void> {
  const [pom, hashes] = await Promise.all([readFile(POM, 'utf8'), readFile(HASHES, 'utf8')]);
  // Written last, so an interrupted installation is repeated.
  const done = `${JARS}.installed`;
  if ((await readFile(done, 'utf8').catch(() => '')) === pom + hashes) return;

  await rm(JARS, { recursive: true, force: true });
  const copy = [`${MAVEN_PLUGIN}:copy-dependencies`, `-DoutputDirectory=${JARS}`, '-DincludeScope=runtime'];
  const quietly = ['--batch-mode', '--quiet', '--strict-checksums', '--file', POM];
  await scratch.run('mvn', [...quietly, ...copy, '-DexcludeTypes=dylib,dll'], { env: process.env }).catch((cause) => {
    throw new Error(
      'The engines could not be fetched. They need Java 17 or newer and Maven: sudo apt-get install default-jre-headless maven.',
      { cause },
    );
  });
  const wanted = new Map(
    hashes.split('\n').flatMap((line): [string, string][] => {
      const [hash = '', name] = line.split(/ +/);
      return name === undefined || line.startsWith('#') ? [] : [[name, hash]];
    }),
  );
  const differing = new Set(wanted.keys());
  for (const name of await readdir(JARS)) {
    const hash = createHash('sha256')
      .update(await readFile(join(JARS, name)))
      .digest('hex');
    if (wanted.get(name) === hash) differing.delete(name);
    else differing.add(name);
  }
  if (differing.size > 0) {
    throw new Error(
      `These files in .relay/engines are not those of test/engines/jars.sha256: ${[...differing].join(', ')}`,
    );
  }
  await writeFile(done, pom + hashes);
}
