import { expect, it } from 'vitest';
import { decisions, isRefusal, type SendOutcome, type ToolOutcome } from '../../lib/decide.ts';
import { outcomeOf } from '../../lib/engine/record/outcome.ts';
import {
  type PartnerError,
  PartnerPayloadError,
  PartnerRefusal,
  PartnerUnanswered,
  PartnerUnreadable,
  type UnauthorizedReason,
} from '../../lib/service/partner/errors.ts';

it.each<[number, UnauthorizedReason | null, SendOutcome]>([
  [200, null, 'contradictory'],
  [299, null, 'contradictory'],
  [400, null, 'invalid'],
  [401, null, 'unauthorized'],
  [401, 'unknown', 'unauthorized'],
  [401, 'invalid signature', 'invalid signature'],
  [401, 'nonce already used', 'nonce already used'],
  [402, null, 'invalid'],
  [403, null, 'forbidden'],
  [404, null, 'not found'],
  [405, null, 'invalid'],
  [408, null, 'server error'],
  [409, null, 'invalid'],
  [429, null, 'rate limited'],
  [499, null, 'invalid'],
  [500, null, 'server error'],
  [503, null, 'server error'],
])('a refusal with status %i and the reason %o means: %s', (status, reason, outcome) => {
  const facts = { found: null, serviceMessage: null, fieldErrors: [], clockOffsetSeconds: null };
  const refusal = new PartnerRefusal('defects/create', { ...facts, status, reason, retryAfterSeconds: null });
  expect(outcomeOf(refusal)).toBe(outcome);
});

it.each<[PartnerError, SendOutcome]>([
  [new PartnerUnanswered('x', { sent: true, why: 'cut' }), 'no answer'],
  [new PartnerUnanswered('x', { sent: false, why: 'nobody listens' }), 'not sent'],
  [new PartnerPayloadError('x', ['a fault']), 'invalid'],
  [new PartnerUnreadable('x', { status: 200, found: 'an HTML page' }), 'unreadable'],
  [new PartnerUnreadable('x', { status: 429, found: 'an HTML page' }), 'rate limited'],
])('%o means: %s', (error, outcome) => {
  expect(outcomeOf(error)).toBe(outcome);
});

it('only a refusal says that a creation was not carried out', () => {
  const outcomes = Object.keys(decisions) as (SendOutcome | ToolOutcome)[];
  expect(outcomes.filter(isRefusal)).toEqual([
    'not sent',
    'rate limited',
    'invalid signature',
    'timestamp outside window',
    'unknown or revoked key',
    'unauthorized',
    'forbidden',
    'not found',
    'invalid',
    'no token seen',
    'token expired',
    'no consent',
    'base scope missing',
    'other audience',
    'workspace disabled',
    'scope missing',
    'rejected',
    'no endpoint',
    'other revision',
  ]);
});
