import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parsedJson } from '../../lib/text.ts';

/** The same result with a reviver, which JSON.parse calls for each value. */
function revived(json: string): unknown {
  try {
    return JSON.parse(json.replace(/^\ufeff/, ''), (_, value: unknown, { source = '' }: { source?: string } = {}) =>
      typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? source : value,
    );
  } catch {
    return undefined;
  }
}

const digits = fc.integer({ min: 1, max: 25 }).chain((length) => fc.bigInt({ min: 0n, max: 10n ** BigInt(length) }));
const number = fc
  .tuple(fc.constantFrom('', '-', '0', '1.', '-0.', '1e', '1e-', '1E+'), digits, fc.constantFrom('', '.5', 'e2', '.0'))
  .map((parts) => parts.join(''));
const text = fc
  .tuple(fc.string(), number, fc.constantFrom('', '"', '\\', '\\"', '\\\\"', ':', ','))
  .map((parts) => JSON.stringify(parts.join('')));
const space = fc.constantFrom('', ' ', '\n', '\t');
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    number,
    text,
    fc.constantFrom('null', 'true'),
    fc.array(fc.tuple(space, tie('json'), space).map((parts) => parts.join(''))).map((all) => `[${all.join()}]`),
    fc
      .array(fc.tuple(fc.oneof(text, number), space, tie('json')).map(([name, gap, value]) => `${name}:${gap}${value}`))
      .map((all) => `{${all.join()}}`),
  ),
}));

it('integers beyond 2^53 become texts of their digits, and everything else is as JSON.parse reads it', () => {
  fc.assert(
    fc.property(
      fc.tuple(fc.constantFrom('', '\ufeff'), space, json, space).map((parts) => parts.join('')),
      (body) => {
        expect(parsedJson(body)).toEqual(revived(body));
      },
    ),
    { numRuns: 2_000 },
  );
});

it.each([
  ['{"id":9007199254740993}', { id: '9007199254740993' }],
  ['{"a\\\\":-9007199254740993,"b\\"":[9007199254740993]}', { 'a\\': '-9007199254740993', 'b"': ['9007199254740993'] }],
  ['{"9007199254740993":":9007199254740993,"}', { '9007199254740993': ':9007199254740993,' }],
  ['9007199254740993', '9007199254740993'],
  ['-9007199254740993\n', '-9007199254740993'],
  ['\ufeff{"id":1}', { id: 1 }],
  ['\ufeff\ufeff1', undefined],
  ['{9007199254740993:1}', undefined],
  ['[9007199254740991,0.1000000000000000,1000000000000000e1]', [9007199254740991, 0.1, 1e16]],
])('%s', (body, value) => expect(parsedJson(body)).toEqual(value));
