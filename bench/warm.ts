import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { type BundledFunction, type Compared, checkAnswer } from './bundled-function.ts';
import { median } from './measure.ts';
import type { WarmEvent } from './warm-process.ts';

/** Events of each side. */
export const WARM_EVENTS = 500;
const WARM_UP_EVENTS = 200;
const GIVE_UP_MS = 60_000;

export interface ComparedWarm {
  hereMs: number;
  peerMs: number;
  /** The median of the ratios of the pairs. */
  ratio: number;
}

/** Keeps one process of each side, and gives both the same events in turns. */
export async function compareWarm(
  { here, peer }: Compared,
  nextEvent: () => APIGatewayProxyEventV2,
): Promise<ComparedWarm> {
  const [ours, theirs] = [startProcess(here), startProcess(peer)];
  try {
    const pairs: { hereMs: number; peerMs: number }[] = [];
    for (let i = 0; i < WARM_UP_EVENTS + WARM_EVENTS; i++) {
      const event = nextEvent();
      const hereMs = await ours.eventMs(event);
      const peerMs = await theirs.eventMs(event);
      if (i >= WARM_UP_EVENTS) pairs.push({ hereMs, peerMs });
    }
    return {
      hereMs: median(pairs.map(({ hereMs }) => hereMs)),
      peerMs: median(pairs.map(({ peerMs }) => peerMs)),
      ratio: median(pairs.map(({ hereMs, peerMs }) => hereMs / peerMs)),
    };
  } finally {
    for (const { child } of [ours, theirs]) child.kill();
  }
}

interface WarmProcess {
  child: ChildProcess;
  /** How long the function takes for this event. */
  eventMs(event: APIGatewayProxyEventV2): Promise<number>;
}

function startProcess(bundled: BundledFunction): WarmProcess {
  const child = fork(fileURLToPath(new URL('warm-process.ts', import.meta.url)), [pathToFileURL(bundled.path).href], {
    env: bundled.variables,
    execArgv: [],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  // The functions log into a pipe as on Lambda. It must be read, or it fills up.
  child.stdout?.resume();
  const ended = new AbortController();
  child.once('exit', (code) => ended.abort(new Error(`the process of ${bundled.path} ended with ${code}`)));
  return {
    child,
    async eventMs(event) {
      ended.signal.throwIfAborted();
      child.send(event);
      const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(GIVE_UP_MS)]);
      const [told] = (await once(child, 'message', { signal })) as [WarmEvent];
      checkAnswer(bundled, told.answer);
      return told.eventMs;
    },
  };
}
