import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateLimiter, windowModels } from '../../sandbox/rate-limit.ts';
import { call, noon, startAtNoon } from './signed-request.ts';

const minute = 60;
const day = 24 * 60 * minute;

describe('the rate limit', () => {
  it.each([
    // Seconds after noon, and whether each request is answered with 200.
    ['calendar', { perMinute: 2 }, { 50: true, 55: true, 59: false, 60: true, 61: true, 62: false }],
    [
      'first-request',
      { perMinute: 2 },
      { 50: true, 55: true, 60: false, 109: false, 110: true, 111: true, 169: false, 170: true },
    ],
    ['sliding', { perMinute: 2 }, { 50: true, 55: true, 109: false, 110: true, 111: false, 115: true, 116: false }],
    ['calendar', { perDay: 1 }, { 0: true, [day / 2 - 1]: false, [day / 2]: true }],
    ['first-request', { perDay: 1 }, { 0: true, [day - 1]: false, [day]: true }],
    ['sliding', { perDay: 1 }, { 0: true, [day - 1]: false, [day]: true }],
  ] as const)('with window %s and %o', async (window, limits, expected) => {
    const { sandbox, time } = await startAtNoon({ rateLimit: { window, countsRefused: false, ...limits } });
    const seen: Record<string, boolean> = {};
    for (const seconds of Object.keys(expected)) {
      time.now = noon + Number(seconds) * 1000;
      const { status } = await call(sandbox, '/validate', {}, { at: time.now });
      expect([200, 429]).toContain(status);
      seen[seconds] = status === 200;
    }
    expect(seen).toEqual(expected);
  });

  it('is 5000 a day by default', () => {
    const limiter = new RateLimiter();
    let now = noon;
    for (; limiter.waitMs('pk', now) === 0; now += 1_000) limiter.count('pk', now);
    expect(now).toBe(noon + 5_000 * 1_000);
    expect(limiter.waitMs('pk', now)).toBe(noon + day * 1_000 - now);
  });

  it('is 120 a minute by default, for each key', async () => {
    const other = { apiKey: 'pk_other', secretKey: 'sk_other', scopes: ['*'] };
    const { sandbox } = await startAtNoon();
    sandbox.keys.push(other);
    const answers = await Promise.all(Array.from({ length: 121 }, () => call(sandbox, '/validate', {})));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(120);
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

  it.each([
    [true, 429],
    [false, 200],
  ])('counts refused requests: %s', async (countsRefused, status) => {
    const { sandbox } = await startAtNoon({ rateLimit: { perMinute: 1, countsRefused } });
    await call(sandbox, '/validate', {}, { headers: { 'x-signature': 'wrong' } });
    expect((await call(sandbox, '/validate', {})).status).toBe(status);
  });

  it.each([
    ['on arrival', [200, 429]],
    ['on answer', [200, 200]],
  ] as const)('counts %s', async (counts, expected) => {
    const { sandbox } = await startAtNoon({ rateLimit: { perMinute: 1, counts } });
    sandbox.setFault({ kind: 'latency', ms: 10, when: 'before work' });
    const together = await Promise.all([call(sandbox, '/validate', {}), call(sandbox, '/validate', {})]);
    expect(together.map(({ status }) => status).toSorted()).toEqual(expected);
    expect((await call(sandbox, '/validate', {})).status).toBe(429);
  });

  it.each(windowModels)('%s: has room when the wait is over, and not before', (model) => {
    const gaps = fc.array(fc.integer({ min: 0, max: 30_000 }), { minLength: 1, maxLength: 80 });
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 5 }), (gapsMs, perMinute) => {
        const limiter = new RateLimiter(model, perMinute, 50);
        let now = noon;
        for (const gap of gapsMs) {
          now += gap;
          const wait = limiter.waitMs('pk', now);
          if (wait > 0) {
            expect(limiter.waitMs('pk', now + wait - 1)).toBe(1);
            expect(limiter.waitMs('pk', now + wait)).toBe(0);
          } else limiter.count('pk', now);
        }
      }),
    );
  });
});
