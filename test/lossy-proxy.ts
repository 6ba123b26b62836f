import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { listen } from '../local/listen.ts';

/** A proxy between the functions and an AWS service, which loses answers. */
export interface LossyProxy {
  url: string;
  /**
   * Loses the answer to the next request with such a body. The request is carried out.
   * @param meanwhile runs before the sender notices
   */
  loseAnswer(isLike: (body: string) => boolean, meanwhile?: () => Promise<void>): void;
  /** From now on, requests are carried out, but their answers do not come, stall after the headers, or come late. */
  silence: 'no answer' | 'stalled answers' | 'late answers' | undefined;
  /** The number of lost answers. */
  lost: number;
  close(): Promise<void>;
}

/** Longer than any try of a webhook, and with three calls, longer than Slack waits. */
const LATE_MS = 800;

export async function startLossyProxy(to: string): Promise<LossyProxy> {
  let isLost: ((body: string) => boolean) | undefined;
  let inBetween: (() => Promise<void>) | undefined;
  const server = createServer();
  server.on('request', async (incoming, outgoing) => {
    const body = await text(incoming);
    const loses = isLost?.(body) ?? false;
    if (loses) isLost = undefined;
    const { method, headers } = incoming;
    const forwarded = request(new URL(incoming.url ?? '/', to), {
      method,
      headers: { ...headers, host: new URL(to).host },
    });
    forwarded.end(body);
    const [answer] = await once(forwarded, 'response');
    if (proxy.silence) {
      if (proxy.silence === 'late answers') await setTimeout(LATE_MS, undefined, { ref: false });
      else await once(answer.resume(), 'end');
    }
    if (proxy.silence === 'no answer') return;
    if (proxy.silence === 'stalled answers') {
      outgoing.writeHead(answer.statusCode, answer.headers).write('{');
      return;
    }
    if (loses) {
      proxy.lost++;
      await once(answer.resume(), 'end');
      await inBetween?.();
      outgoing.destroy();
    } else {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    }
  });
  const { url, close } = await listen(server);
  const proxy: LossyProxy = {
    url,
    close,
    lost: 0,
    silence: undefined,
    loseAnswer(isLike, meanwhile) {
      isLost = isLike;
      inBetween = meanwhile;
    },
  };
  return proxy;
}
