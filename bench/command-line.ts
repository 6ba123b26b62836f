import { execFileSync } from 'node:child_process';
import packageJson from '../package.json' with { type: 'json' };
import { amount, type Figure, median, type Options } from './figure.ts';

const RUNS = 20;
const AIM_MS = 150;

/** Measures how long a person waits for `partner-relay --help`, without npm. */
export async function* measureCommandLine({ isTrial }: Options): AsyncGenerator<Figure> {
  const words = [packageJson.bin['partner-relay']];
  const runs = isTrial ? 1 : RUNS;
  // The first run fills the compile cache.
  tookMs([...words, '--help']);
  const helpMs = Array.from({ length: runs }, () => tookMs([...words, '--help']));
  const aloneMs = Array.from({ length: runs }, () => tookMs(['--eval', '']));
  yield {
    name: 'partner-relay --help',
    value: median(helpMs),
    unit: 'ms',
    aim: { atMost: AIM_MS },
    detail: `Node alone takes ${amount(median(aloneMs), 'ms')}`,
  };
}

function tookMs(args: readonly string[]): number {
  const startMs = performance.now();
  execFileSync(process.execPath, args, { cwd: `${import.meta.dirname}/..`, stdio: 'ignore' });
  return performance.now() - startMs;
}
