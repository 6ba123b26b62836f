import { expect, it } from 'vitest';
import { McpRefusal, type McpRefusalFacts } from '../../lib/as-person/protocol/errors.ts';
import { toolOutcome } from '../../lib/as-person/protocol/tool-outcome.ts';
import { decisions, isRefusal, type SendOutcome, type ToolOutcome } from '../../lib/decide.ts';
import { outcomeOf } from '../../lib/engine/record/sends.ts';
import type { Reached } from '../../lib/service/budget/gate.ts';
import {
  type PartnerError,
  PartnerPayloadError,
  PartnerRefusal,
  PartnerUnanswered,
  PartnerUnreadable,
  reachedBy,
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

it.each<[PartnerError, SendOutcome, Reached]>([
  [new PartnerUnanswered('x', { sent: true, why: 'cut' }), 'no answer', 'no answer'],
  [new PartnerUnanswered('x', { sent: false, why: 'nobody listens' }), 'not sent', 'never left'],
  [new PartnerPayloadError('x', ['a fault']), 'invalid', 'never left'],
  [new PartnerUnreadable('x', { status: 200, found: 'an HTML page' }), 'unreadable', 'answered'],
  [new PartnerUnreadable('x', { status: 429, found: 'an HTML page' }), 'rate limited', 'answered'],
])('%o means: %s, and that the call %s', (error, outcome, reached) => {
  expect([outcomeOf(error), reachedBy(error)]).toEqual([outcome, reached]);
});

it.each<[number, Partial<McpRefusalFacts>, ToolOutcome]>([
  [400, {}, 'rejected'],
  [400, { code: -32_500 }, 'rate limited'],
  [400, { code: -32_603 }, 'server error'],
  [401, { error: 'invalid_request' }, 'no token seen'],
  [401, { error: 'invalid_token' }, 'token expired'],
  [403, {}, 'rejected'],
  [403, { said: 'it needs the scope mcp:tasks.read' }, 'scope missing'],
  [403, { error: 'insufficient_scope', said: 'mcp:use' }, 'base scope missing'],
  [403, { error: 'insufficient_scope', said: 'mcp:use mcp:tasks.read' }, 'scope missing'],
  [403, { error: 'invalid_token', said: 'another Audience' }, 'other audience'],
  [403, { error: 'invalid_token' }, 'workspace disabled'],
  [404, {}, 'no endpoint'],
  [408, {}, 'server error'],
  [429, {}, 'rate limited'],
  [500, {}, 'server error'],
])('a tool call that is refused with status %i and %o means: %s', (status, facts, outcome) => {
  const none = { challenge: null, error: null, code: null, said: null, retryAfter: null };
  expect(toolOutcome(new McpRefusal('tools/call', { ...none, status, ...facts }), false)).toBe(outcome);
});

it('only a refusal says that a creation was not carried out', () => {
  const outcomes = Object.keys(decisions) as (SendOutcome | ToolOutcome)[];
  expect(outcomes.filter(isRefusal)).toEqual([
    ...['not sent', 'rate limited', 'invalid signature', 'timestamp outside window', 'unknown or revoked key'],
    ...['unauthorized', 'forbidden', 'not found', 'invalid', 'no token seen', 'token expired', 'no consent'],
    ...['base scope missing', 'other audience', 'workspace disabled', 'scope missing', 'rejected', 'no endpoint'],
    'other revision',
  ]);
});
