import { pathToFileURL } from 'node:url';
import type { RunNews, RunOrder, StepAnswer } from './own-runs.ts';

/** The process in which `partner-relay plan` runs the code of a team (own-runs.ts). */

const waiting = new Map<number, (answer: StepAnswer) => void>();
let steps = 0;
let current = 0;

/** What `stop` throws. */
class Stopped extends Error {}

process.on('message', (told: RunOrder | StepAnswer) => {
  if ('step' in told) waiting.get(told.step)?.(told);
  else void carryOut(told);
});

// A promise that nothing waits for ends the run, as in a worker.
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

/** A plan comes to no step that calls a function of the code, such as `keep`, and these cannot leave the process. */
function plain(value: unknown): unknown {
  try {
    return structuredClone(value);
  } catch {
    return undefined;
  }
}
