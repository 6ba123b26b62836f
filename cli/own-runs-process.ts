import { pathToFileURL } from 'node:url';
import type { RunNews, RunOrder, StepAnswer } from './own-runs.ts';

/** The process in which `partner-relay plan` runs the code of a team (own-runs.ts). */

const waiting = new Map<number, (answer: StepAnswer) => void>();
let steps = 0;
let current = 0;

/** The exception of the step `stop`. */
class Stopped extends Error {}

process.on('message', (told: RunOrder | StepAnswer) => {
  if ('step' in told) waiting.get(told.step)?.(told);
  else void carryOut(told);
});

// As in a worker, an unhandled rejection ends the run.
process.on('unhandledRejection', (threw) => tell({ run: current, threw: plain(threw) }));

async function carryOut({ run, file, input, facts, verbs }: RunOrder): Promise<void> {
  current = run;
  const take =
    (verb: string) =>
    async (...given: unknown[]) => {
      const step = ++steps;
      const { promise, resolve } = Promise.withResolvers<StepAnswer>();
      waiting.set(step, resolve);
      tell({ run, step, verb, given: given.map(plain) });
      const { failed, kept } = await promise;
      if (failed !== undefined) throw new Error(failed);
      return kept;
    };
  const stop = (why: string): never => {
    throw new Stopped(why);
  };
  try {
    const code = await import(pathToFileURL(file).href);
    const taken = { ...facts, ...Object.fromEntries(verbs.map((verb) => [verb, take(verb)])), stop };
    tell({ run, done: plain(await code.run(input, taken)) });
  } catch (threw) {
    tell({ run, ...(threw instanceof Stopped ? { stopped: threw.message } : { threw: plain(threw) }) });
  }
}

function tell(news: RunNews): void {
  process.send?.(news);
}

/**
 * Returns a value that can be sent to the other process. Functions cannot, and only steps that a plan never reaches,
 * such as `keep`, need theirs.
 */
function plain(value: unknown): unknown {
  try {
    return structuredClone(value);
  } catch {
    return undefined;
  }
}
