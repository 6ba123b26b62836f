import * as z from 'zod/mini';
import { faultLine, readInput } from '../../faults/fault.ts';
import type { CustomOf } from '../../triggers/custom-automation.ts';

const header = z.string().check(z.regex(/^[\w-]+$/, 'expected the name of a header'));
const PLACES = /^(?:[^{}]|\{(?:body|(?:part|header):[\w-]+)\})*$/;

const hmac = z
  .strictObject({
    by: z.literal('hmac'),
    header,
    encoding: z.enum(['hex', 'base64']),
    prefix: z.string(),
    hash: z.enum(['sha1', 'sha256', 'sha512']),
    key: z.enum(['text', 'base64']),
    signs: z
      .string()
      .check(
        z.regex(/\{body\}/, 'expected a text with {body}'),
        z.regex(PLACES, 'expected {body}, {part:<name>} and {header:<name>}'),
      ),
    time: z.optional(z.string().check(z.regex(/^(?:part|header):/, 'expected part:<name> or header:<name>'))),
    unit: z.enum(['s', 'ms', 'iso']),
  })
  .check(
    z.refine(({ signs, time }) => time === undefined || signs.includes(`{${time}}`), {
      path: ['time'],
      message: 'expected a part or a header that is also in `signs`: an unsigned time proves nothing',
    }),
  );

const verify = z.discriminatedUnion(
  'by',
  [z.strictObject({ by: z.literal('standard') }), z.strictObject({ by: z.literal('token'), header }), hmac],
  'write hmac({ … }) or token({ … }), or leave verify out for Standard Webhooks',
);

const challenge = z
  .strictObject({
    header: z.optional(header),
    field: z.optional(z.string()),
    answer: z.optional(z.record(z.string(), z.enum(['{value}', '{hmac}']))),
  })
  .check(z.refine((asked) => (asked.header === undefined) !== (asked.field === undefined), 'name a field or a header'));

const hook = z.object({ verify, challenge: z.optional(challenge) }).check(
  z.refine((one) => one.verify.by === 'hmac' || !Object.values(one.challenge?.answer ?? {}).includes('{hmac}'), {
    path: ['challenge', 'answer'],
    message: '{hmac} needs verify: hmac({ … })',
  }),
);

/** Returns what is wrong with a webhook's signature check or challenge, and how to fix it. */
export function hookFault(of: Pick<CustomOf<'webhook'>, 'verify' | 'challenge'>): string | undefined {
  const read = readInput(hook, of);
  return read.ok ? undefined : read.faults.map(faultLine).join('; ');
}
