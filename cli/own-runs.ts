import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NeedsOperator } from '../lib/engine/record/interruption.ts';
import { SOURCE } from '../lib/project.ts';
import { messageOf } from '../lib/text.ts';
import type { CustomAutomations, CustomRun } from '../lib/triggers/custom-automation.ts';

/** The time limit of a run, including the loading of its file. */
const LIMIT_MS = 10_000;

/** A run for the process to carry out. */
export interface RunOrder {
  run: number;
  file: string;
  input: unknown;
  /** The fields of `steps` that are not functions; `verbs` names the functions. */
  facts: Readonly<Record<string, unknown>>;
  verbs: readonly string[];
}

/** The result of a step, or why it failed. */
export interface StepAnswer {
  step: number;
  kept?: unknown;
  failed?: string;
}

/** A message of the process about a run. */
export type RunNews = { run: number } & (
  | { step: number; verb: string; given: readonly unknown[] }
  | { done: unknown }
  | { stopped: string }
  | { threw: unknown }
);

/**
 * Runs a team's automations, one at a time, in a process without environment variables, which can be stopped. Their
 * steps are carried out in this process.
 *
 * @param folder of the files
 */
export function inProcess(custom: CustomAutomations, folder: string, limitMs = LIMIT_MS) {
  let child: ChildProcess | undefined;
  let runs = 0;
  let last: Promise<unknown> = Promise.resolve();
  const endless = new Set<string>();

  const runOf =
    (name: string): CustomRun =>
    (input, steps) => {
      const said = last.then(() => carryOut(name, input, { ...steps }));
      last = said.catch(() => {});
      return said;
    };

  async function carryOut(name: string, input: unknown, steps: Readonly<Record<string, unknown>>): Promise<string> {
    const stopped = new NeedsOperator(`run of automations/${name}.ts does not end within ${limitMs / 1_000} s`);
    if (endless.has(name)) throw stopped;
    child ??= start();
    const its = child;
    const run = ++runs;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const timer = setTimeout(() => {
      endless.add(name);
      end(its);
      reject(stopped);
    }, limitMs);
    const exited = () => reject(new NeedsOperator(`run of automations/${name}.ts ends its process`));
    const take = async (verb: string, given: readonly unknown[]) =>
      (steps[verb] as (...given: unknown[]) => unknown)(...given);
    async function hear(news: RunNews): Promise<void> {
      // Code of an earlier run may still be at work.
      if (news.run !== run) return;
      if ('done' in news) resolve(news.done as string);
      else if ('threw' in news) reject(news.threw);
      else if ('stopped' in news) await take('stop', [news.stopped]).catch(reject);
      else {
        const { step, verb, given } = news;
        const answer: StepAnswer = await take(verb, given).then(
          (kept) => ({ step, kept }),
          (error: unknown) => ({ step, failed: messageOf(error) }),
        );
        if (its.connected) its.send(answer);
      }
    }
    const listener = (news: RunNews) => void hear(news);
    its.on('message', listener).once('exit', exited);
    const verbs = Object.keys(steps).filter((one) => typeof steps[one] === 'function');
    const facts = Object.fromEntries(Object.entries(steps).filter(([one]) => !verbs.includes(one)));
    const order: RunOrder = { run, file: join(folder, `${name}.ts`), input, facts, verbs };
    its.send(order);
    return promise.finally(() => {
      clearTimeout(timer);
      its.off('message', listener).off('exit', exited);
    });
  }

  function start(): ChildProcess {
    const started = fork(fileURLToPath(new URL(`own-runs-process${SOURCE}`, import.meta.url)), {
      env: {},
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    return started.once('exit', () => {
      if (child === started) child = undefined;
    });
  }

  /** Only a signal ends an endless loop. */
  function end(one: ChildProcess): void {
    if (child === one) child = undefined;
    one.kill('SIGKILL');
  }

  return {
    own: { ...custom, run: async (name: string) => runOf(name) },
    close() {
      if (child) end(child);
    },
  };
}
