import { execFile } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { bundle } from './bundle.ts';
import { type BundledFunction, type Compared, checkAnswer } from './bundled-function.ts';
import { amount } from './figures.ts';
import type { FirstEvent } from './first-event.ts';
import { median } from './measure.ts';

/** Processes of each side. */
export const PROCESSES = 21;
const GIVE_UP_MS = 60_000;

/** Medians of many fresh processes. */
export interface ColdStart {
  /** From the start of the process until the first event is answered. */
  totalMs: number;
  importMs: number;
  eventMs: number;
  residentBytes: number;
}

export interface ComparedColdStarts {
  here: ColdStart;
  peer: ColdStart;
  /** The median of the ratios of the pairs. A slow phase of the machine affects both processes of a pair. */
  ratio: number;
}

/**
 * Starts both sides in fresh processes, in turns, and gives the two of a pair the same event.
 *
 * @param folder for the script that the processes run
 */
export async function compareColdStarts(
  { here, peer }: Compared,
  nextEvent: () => object,
  folder: string,
): Promise<ComparedColdStarts> {
  // JavaScript, because a process that strips types has to load the code for that.
  const script = await bundle('first-event.ts', folder);
  const pairs: { ours: FirstEvent; theirs: FirstEvent }[] = [];
  for (let i = 0; i <= PROCESSES; i++) {
    const event = nextEvent();
    const ours = await inFreshProcess(script.path, here, event);
    const theirs = await inFreshProcess(script.path, peer, event);
    // The first ones are ignored, because file caches and the stack were cold.
    if (i > 0) pairs.push({ ours, theirs });
  }
  return {
    here: medians(pairs.map(({ ours }) => ours)),
    peer: medians(pairs.map(({ theirs }) => theirs)),
    ratio: median(pairs.map(({ ours, theirs }) => total(ours) / total(theirs))),
  };
}

/** `21.3 ms of import and 12.4 ms of event` */
export function partsOf({ importMs, eventMs }: ColdStart): string {
  return `${amount(importMs, 'ms')} of import and ${amount(eventMs, 'ms')} of event`;
}

async function inFreshProcess(script: string, bundled: BundledFunction, event: object): Promise<FirstEvent> {
  const args = [script, pathToFileURL(bundled.path).href, JSON.stringify(event)];
  const options = { env: bundled.variables, timeout: GIVE_UP_MS };
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  const told = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as FirstEvent;
  checkAnswer(bundled, told.answer);
  return told;
}

function medians(events: readonly FirstEvent[]): ColdStart {
  return {
    totalMs: median(events.map(total)),
    importMs: median(events.map(({ importMs }) => importMs)),
    eventMs: median(events.map(({ eventMs }) => eventMs)),
    residentBytes: median(events.map(({ residentBytes }) => residentBytes)),
  };
}

function total({ importMs, eventMs }: FirstEvent): number {
  return importMs + eventMs;
}
