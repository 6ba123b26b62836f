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
});
