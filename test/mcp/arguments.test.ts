import { describe, expect, it } from 'vitest';
import { fitArguments } from '../../lib/mcp/fit.ts';
import { schemaHash } from '../../lib/mcp/schema-hash.ts';
import { fillTemplate } from '../../lib/mcp/template.ts';
import { argumentsFault } from '../../lib/mcp/validate-arguments.ts';

const fault = (schema: object, args: object) =>
  argumentsFault({ name: 'try', inputSchema: { type: 'object', ...schema } }, args);

/** A schema that doubles the work with each of 60 levels. */
const doubling = Object.fromEntries(
  Array.from({ length: 60 }, (_, level) => {
    const next = level === 59 ? { type: 'string' } : { $ref: `#/$defs/d${level + 1}` };
    return [`d${level}`, { allOf: [next, next] }];
  }),
);

describe('arguments', () => {
  it.each([
    [{ properties: { hours: { type: 'number', maximum: 24 } } }, { hours: 30 }, 'hours: 30 is greater than 24.'],
    [{ properties: {}, additionalProperties: false }, { zip: 1 }, 'zip: this is not one of its arguments'],
    [{ required: ['task'] }, {}, /does not have required property "task"/],
    [
      { properties: { a: { items: { type: 'integer' } } } },
      { a: [1, 'x'] },
      /^a\/1: Instance type "string" is invalid/,
    ],
    [{}, { text: 'x'.repeat(70_000) }, /^the arguments have 70011 bytes; 65536 are the most$/],
  ])('are refused by the schema of their tool, with where and why: %j', (schema, args, said) => {
    expect(fault(schema, args)).toMatch(said);
  });

  it.each([
    ['a pattern that backtracks', { properties: { a: { pattern: '^(a+)+$' } } }, { a: `${'a'.repeat(60)}b` }],
    ['references that double', { $defs: doubling, properties: { a: { $ref: '#/$defs/d0' } } }, { a: 'x' }],
    ['a reference to itself', { properties: { a: { $ref: '#/properties/a' } } }, { a: 1 }],
    ['a reference to elsewhere', { properties: { a: { $ref: 'https://example.com/a' } } }, { a: 1 }],
  ])('are not sent where the schema cannot be applied: %s', (_, schema, args) => {
    expect(fault(schema, args)).toContain('the schema of try cannot be applied');
  });

  it('are made of fields: values as they are, texts in longer texts, and nothing of what was left out', () => {
    const template = { n: '{hours}', text: 'spent {hours} h {note}', note: '{note}', list: ['{a}', '{b}'], flag: true };
    expect(fillTemplate(template, { hours: 1.5, a: 1 })).toEqual({
      n: 1.5,
      text: 'spent 1.5 h',
      list: [1],
      flag: true,
    });
    expect(fillTemplate({ nested: { deep: '{items}' } }, { items: ['1', '2'] })).toEqual({
      nested: { deep: ['1', '2'] },
    });
  });

  it('do not take a field for a template', () => {
    expect(fillTemplate({ text: '{note} {marker}' }, { note: '{marker}', marker: 'm' })).toEqual({
      text: '{marker} m',
    });
  });

  it('are spelt as the schema spells them', () => {
    const schema = {
      properties: {
        id: { type: 'string' },
        ids: { type: 'array', items: { type: 'integer' } },
        priority: { enum: ['low', 'high'] },
        either: { type: ['string', 'integer'] },
      },
    };
    const given = { id: 12, ids: ['12', 'x'], priority: 'High', either: '12', other: '12' };
    expect(fitArguments(schema, given)).toEqual({
      id: '12',
      ids: [12, 'x'],
      priority: 'high',
      either: '12',
      other: '12',
    });
  });
});

describe('the hash of a schema', () => {
  const hash = (inputSchema: Record<string, unknown>) => schemaHash({ inputSchema });

  it('does not depend on the order of its parts, and on everything else', () => {
    expect(hash({ type: 'object', required: ['a'] })).toBe(hash({ required: ['a'], type: 'object' }));
    expect(hash({ required: ['a', 'b'] })).not.toBe(hash({ required: ['b', 'a'] }));
    expect(hash({ properties: { a: { type: 'number' } } })).not.toBe(hash({ properties: { a: { type: 'string' } } }));
  });
});
