import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { listen } from '../local/listen.ts';

/** Stands between the functions and a service of AWS, and loses answers. */
export interface LossyProxy {
  url: string;
  /**
   * The answer of the next request whose body is like this is lost: the request is carried out.
   * @param meanwhile what happens before the sender notices
   */
  loseAnswer(isLike: (body: string) => boolean, meanwhile?: () => Promise<void>): void;
  /** Requests are carried out from now on, and their answers do not come, stall after the headers, or come late. */
  silence: 'no answer' | 'stalled answers' | 'late answers' | undefined;
  /** How many answers were lost. */
  lost: number;
  close(): Promise<void>;
}

/** No try of a webhook is as late, and three calls are later than Slack waits. */
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
