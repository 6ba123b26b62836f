import * as z from 'zod';
import { schedules } from '../lib/schedules.ts';
import { jsonAnswer } from '../lib/state/http/function-url.ts';
import { messageOf, parsedJson } from '../lib/text.ts';
import type { HttpHandler } from './http-front.ts';
import { refusalOf } from './own-key.ts';
import type { LocalSchedules } from './schedules.ts';

const body = z.strictObject({ at: z.iso.datetime().exactOptional(), own: z.string().exactOptional() });

/** The path that the command line uses to check whether the relay is running. */
export const RUNNING_PATH = '/running';

/**
 * Endpoints for the command line: one shows that the relay is running, and `POST /schedules/<slug>` fires a schedule.
 *
 * @param key of this start. Requests need it, because other users of the machine can reach the port, and GitHub can
 * through a tunnel
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
        return jsonAnswer(200, { result: await local.run(slug, body.parse(parsedJson(request.body ?? ''))) });
      } catch (error) {
        return jsonAnswer(500, { error: messageOf(error) });
      }
    });
  return {
    [`GET ${RUNNING_PATH}`]: guarded(async () => jsonAnswer(200, { running: true })),
    ...Object.fromEntries(schedules.map(({ slug }) => [`POST /schedules/${slug}`, fire(slug)])),
  };
}
