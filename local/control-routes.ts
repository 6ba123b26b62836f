import * as z from 'zod';
import { jsonAnswer } from '../lib/http/function-url.ts';
import { schedules } from '../lib/schedules.ts';
import type { HttpHandler } from './http-front.ts';
import { refusalOf } from './own-key.ts';
import type { LocalSchedules } from './schedules.ts';

const body = z.strictObject({ at: z.iso.datetime().optional() });

/** Where the command line asks whether the relay still runs. */
export const RUNNING_PATH = '/running';

/**
 * What the command line asks of the process that runs: whether it does, and `POST /schedules/<slug>`, which fires a
 * schedule.
 *
 * @param key of this start: the front is also reached by other users of the machine, and through a tunnel by GitHub
 */
export function controlRoutes(local: LocalSchedules, key: string): Record<string, HttpHandler> {
  const guarded =
    (handler: HttpHandler): HttpHandler =>
    async (request) => {
      const refusal = refusalOf(request.headers, key);
      return refusal === undefined ? handler(request) : jsonAnswer(401, { error: refusal });
    };
  const fire = (slug: string): HttpHandler =>
    guarded(async (request) => {
      try {
        const { at } = body.parse(JSON.parse(request.body ?? ''));
        return jsonAnswer(200, { result: await local.run(slug, at === undefined ? {} : { at }) });
      } catch (error) {
        return jsonAnswer(500, { error: String(error instanceof Error ? error.message : error) });
      }
    });
  return {
    [`GET ${RUNNING_PATH}`]: guarded(async () => jsonAnswer(200, { running: true })),
    ...Object.fromEntries(schedules.map(({ slug }) => [`POST /schedules/${slug}`, fire(slug)])),
  };
}
