import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateLimiter } from '../../sandbox/rate-limit.ts';
import { call, noon, startAtNoon } from './signed-request.ts';

describe('the rate limit', () => {
  it('is 5000 a day by default', () => {
    const limiter = new RateLimiter({});
    let now = noon;
    for (; limiter.waitMs('pk', now) === 0; now += 1_000) limiter.count('pk', now);
    expect(now).toBe(noon + 5_000 * 1_000);
    expect(limiter.waitMs('pk', now)).toBe(noon + 24 * 3_600_000 - now);
  });

  it('is 120 a minute by default, for each key, and counts refused requests', async () => {
    const other = { apiKey: 'pk_other', secretKey: 'sk_other', scopes: ['*'] };
    const { sandbox } = await startAtNoon();
    sandbox.keys.push(other);
    await call(sandbox, '/validate', {}, { headers: { 'x-signature': 'wrong' } });
    const answers = await Promise.all(Array.from({ length: 120 }, () => call(sandbox, '/validate', {})));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(119);
    expect(answers.find(({ status }) => status === 429)?.json).toMatchObject({ message: 'Rate limit exceeded' });
    expect((await call(sandbox, '/validate', {}, { key: other })).status).toBe(200);
  });

  it.each([
    ['absent', false, null],
    ['present', true, '45'],
  ])('tells Retry-After when so configured: %s', async (_, tellsRetryAfter, expected) => {
    const { sandbox, time } = await startAtNoon({ rateLimit: { perMinute: 1, tellsRetryAfter } });
    await call(sandbox, '/validate', {});
    time.now += 15_000;
    const { status, headers } = await call(sandbox, '/validate', {});
    expect([status, headers.get('retry-after')]).toEqual([429, expected]);
  });

  it('has room when the wait is over, and not before', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 30_000 }), { minLength: 1, maxLength: 80 });
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 5 }), (gapsMs, perMinute) => {
        const limiter = new RateLimiter({ perMinute, perDay: 50 });
        const counted: number[] = [];
        let now = noon;
        for (const gap of gapsMs) {
          now += gap;
          const wait = limiter.waitMs('pk', now);
          expect(wait > 0).toBe(counted.filter((at) => at > now - 60_000).length >= perMinute || counted.length >= 50);
          if (wait > 0) {
            expect(limiter.waitMs('pk', now + wait - 1)).toBe(1);
            expect(limiter.waitMs('pk', now + wait)).toBe(0);
          } else {
            limiter.count('pk', now);
            counted.push(now);
          }
        }
      }),
    );
  });
});
