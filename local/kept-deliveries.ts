import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { parsedJson } from '../lib/text.ts';
import type { HttpHandler } from './http-front.ts';
import { STATE_FOLDER } from './state.ts';

/** An accepted delivery of GitHub, as it arrived. Its signature is not kept, because secrets change. */
const kept = z.object({
  /** `X-GitHub-Delivery` */
  id: z.string(),
  /** `X-GitHub-Event` */
  event: z.string(),
  /** ISO 8601. */
  receivedAt: z.string(),
  /** The payload. */
  body: z.string(),
});
type KeptDelivery = z.output<typeof kept>;

/** The newest deliveries are kept, so that the folder does not grow forever. */
const KEPT = 500;
const idPattern = /^[\w-]{1,100}$/;

const folder = () => join(STATE_FOLDER, 'deliveries');
const fileOf = (id: string) => join(folder(), `${id}.json`);

/**
 * Keeps each delivery that the handler accepts, so that `relay send --again <id>` can send it again.
 *
 * @param failed gets the errors of writing, which must not fail a delivery
 */
export function keepingDeliveries(handler: HttpHandler, failed: (error: unknown) => void): HttpHandler {
  mkdirSync(folder(), { recursive: true });
  const ids = keptIds();
  return async (request) => {
    const answer = await handler(request);
    const { 'x-github-delivery': id = '', 'x-github-event': event = '' } = request.headers;
    if (answer.statusCode !== 200 && answer.statusCode !== 202) return answer;
    if (!idPattern.test(id) || request.body === undefined || request.isBase64Encoded) return answer;
    const delivery: KeptDelivery = { id, event, receivedAt: new Date().toISOString(), body: request.body };
    writeFile(fileOf(id), JSON.stringify(delivery), { mode: 0o600 }).catch(failed);
    ids.delete(id);
    ids.add(id);
    const [oldest] = ids;
    if (ids.size > KEPT && oldest !== undefined) {
      ids.delete(oldest);
      rm(fileOf(oldest), { force: true }).catch(failed);
    }
    return answer;
  };
}

/** @throws {Error} if there is none with that id */
export function readKeptDelivery(id: string): KeptDelivery {
  if (!idPattern.test(id) || !existsSync(fileOf(id))) {
    const newest = [...keptIds()].slice(-3).reverse();
    const known = newest.length === 0 ? 'none is kept yet' : `the newest are ${newest.join(', ')}`;
    throw new Error(`no delivery ${id} is kept on this machine; ${known}. The last ${KEPT} are kept`);
  }
  const read = kept.safeParse(parsedJson(readFileSync(fileOf(id), 'utf8')));
  if (!read.success) throw new Error(`${fileOf(id)} is damaged; remove it`);
  return read.data;
}

/** Oldest first. */
function keptIds(): Set<string> {
  if (!existsSync(folder())) return new Set();
  const files = readdirSync(folder()).filter((name) => name.endsWith('.json'));
  const aged = files.map((name) => ({
    id: name.slice(0, -'.json'.length),
    at: statSync(join(folder(), name)).mtimeMs,
  }));
  return new Set(aged.sort((a, b) => a.at - b.at).map(({ id }) => id));
}
