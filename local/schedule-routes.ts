import { timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { schedules } from '../lib/schedules.ts';
import type { HttpHandler } from './http-front.ts';
import type { LocalSchedules } from './schedules.ts';

const body = z.strictObject({ at: z.iso.datetime().optional() });

/**
 * `POST /schedules/<slug>`, by which the command line fires a schedule in the process that runs.
 *
 * @param key who calls must know it: other people of the machine reach the front too, and through a tunnel GitHub does
 */
export function scheduleRoutes(local: LocalSchedules, key: string): Record<string, HttpHandler> {
  const expected = Buffer.from(`Bearer ${key}`);
  const answer = (statusCode: number, body: object) => ({ statusCode, body: JSON.stringify(body) });

  const route =
    (slug: string): HttpHandler =>
    async (request) => {
      const given = Buffer.from(request.headers.authorization ?? '');
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
        return answer(401, { error: 'the key is not that of the relay that runs' });
      }
      try {
        const { at } = body.parse(JSON.parse(request.body ?? ''));
        return answer(200, { result: await local.run(slug, at === undefined ? {} : { at }) });
      } catch (error) {
        return answer(500, { error: String(error instanceof Error ? error.message : error) });
      }
    };
  return Object.fromEntries(schedules.map(({ slug }) => [`POST /schedules/${slug}`, route(slug)]));
}
