import '../lib/without-jit.ts';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { takeIssue } from '../lib/intake/github/take-issue.ts';
import { isSignedByGithub, readDelivery } from '../lib/platforms/github/delivery.ts';
import config from '../relay.config.ts';
import type { Findings } from './figures.ts';
import { compareRates } from './measure.ts';
import { openedIssues, WEBHOOK_SECRET } from './opened-issue.ts';

const AIM = 0.6;

/** The cost of verifying, parsing and matching a delivery, compared with checking its signature and parsing it. */
export function measureVerifying(): Findings {
  const { body, headers } = openedIssues(config)();
  const bytes = Buffer.from(body);
  const signature = headers['x-hub-signature-256'] ?? '';
  const matched = () => {
    if (!isSignedByGithub(bytes, signature, WEBHOOK_SECRET)) throw new Error('the signature does not fit');
    return takeIssue(readDelivery(bytes, headers), config);
  };
  const bare = () => {
    const expected = createHmac('sha256', WEBHOOK_SECRET).update(bytes).digest();
    if (!timingSafeEqual(Buffer.from(signature.slice('sha256='.length), 'hex'), expected)) throw new Error('forged');
    return JSON.parse(bytes.toString());
  };
  if (!('jobs' in (matched() ?? {}))) throw new Error('the example makes no job');

  const { here, peer, ratio } = compareRates(matched, bare);
  return {
    figures: [
      {
        name: `verify, parse and match ${(bytes.length / 1_000).toFixed(1)} KB`,
        unit: '/s',
        here,
        peer,
        ratio,
        aim: `${AIM * 100} % of the peer`,
        met: ratio >= AIM,
      },
    ],
    notes: ['verify, parse and match: the peer is HMAC, timingSafeEqual and JSON.parse called bare'],
  };
}
