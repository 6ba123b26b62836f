import { lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startChild } from '../test/child.ts';
import { CDK, install, pack, run } from '../test/package/installed.ts';
import { type Figure, median, type Options } from './figure.ts';

const RUNS = 3;
const INSTALLED = 'node_modules/partner-relay';

/** Measures what a team waits for in a folder with the package. */
export async function* measurePackage({ folder, isTrial }: Options): AsyncGenerator<Figure> {
  const startMs = performance.now();
  const { tarball } = await pack(folder);
  yield { name: 'npm run pack', value: secondsSince(startMs), unit: 's' };
  if (isTrial) return;

  const team = join(folder, 'team');
  mkdirSync(team);
  const installs = await inTurn(async () => {
    for (const file of readdirSync(team)) rmSync(join(team, file), { recursive: true });
    return install(team, 'npm', tarball);
  });
  // The first installation fills npm's cache.
  yield { name: 'install with a warm cache', value: median(installs.slice(1)), unit: 's', aim: { atMost: 20 } };
  yield { name: 'what is installed', value: megabytesOf(join(team, 'node_modules')), unit: 'MB', aim: { atMost: 155 } };

  await run(team, ['node_modules/.bin/partner-relay', 'init', '--repo', 'acme/web', '--no-slack', '--no-github-app']);
  const starts = await inTurn(async () => {
    const relay = startChild([`${INSTALLED}/cli/bin.js`, 'start'], team, { PORT: '0' });
    await relay.printed('send issues');
    return () => relay.kill();
  });
  yield { name: 'start to the banner', value: median(starts), unit: 's', aim: { atMost: 2 } };

  await install(team, 'npm', tarball, ...CDK);
  const apps = await inTurn(() =>
    run(team, [process.execPath, `${INSTALLED}/infra/app.js`], { CDK_OUTDIR: 'cdk.out' }),
  );
  yield { name: "the stack's app alone", value: median(apps), unit: 's', aim: { atMost: 9 } };
}

/** Returns the seconds of each run. The work may return a cleanup, which is not measured. */
async function inTurn(work: () => Promise<unknown>): Promise<number[]> {
  const seconds: number[] = [];
  for (let count = 0; count < RUNS; count++) {
    const startMs = performance.now();
    const after = await work();
    seconds.push(secondsSince(startMs));
    if (typeof after === 'function') await after();
  }
  return seconds;
}

const secondsSince = (startMs: number) => (performance.now() - startMs) / 1_000;

/** The total size of the files in a folder, in MB. */
function megabytesOf(folder: string): number {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => lstatSync(join(folder, file)));
  return files.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0) / 1e6;
}
