import { describe, expect, it } from 'vitest';
import { fitArguments } from '../../lib/as-person/protocol/fit-arguments.ts';
import { schemaHash } from '../../lib/as-person/protocol/tool.ts';
import { fillTemplate } from '../../lib/config/template.ts';

const toolOf = (schema: object) => ({ inputSchema: { type: 'object', ...schema } });

describe('the arguments of a tool', () => {
  it.each([
    ['a number', { type: 'number', maximum: 1 }, 'x'],
    ['a reference to itself', { $ref: '#/properties/a' }, 7],
    ['parts', { allOf: [{ type: 'string' }] }, 7],
    ['an object', { type: 'object', required: ['b'] }, {}],
    ['values that look the same', { enum: [1, '1'] }, '1'],
    ['a reference to what is no enumeration', { $ref: '#/$defs/other' }, 7],
  ])('are left to the service if more than the spelling differs: %s', (_, schema, value) => {
    expect(fitArguments(toolOf({ properties: { a: schema } }), { a: value })).toEqual({ a: value });
  });

  it('are made from fields: values unchanged, and texts within longer texts; without the fields that were left out', () => {
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

  it('do not treat a field as a template', () => {
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
        days: { type: 'array', items: { enum: ['Mon', 'mon', 'Tue', 3] } },
        either: { type: ['string', 'integer'] },
        nullable: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
        named: { anyOf: [{ $ref: '#/$defs/level' }, { type: 'null' }] },
        several: { type: 'array', items: { $ref: '#/$defs/level' } },
        items: { type: 'array', items: { type: 'object', properties: { item: { type: 'integer' } } } },
        one: { type: 'object', properties: { of: { $ref: '#/$defs/item' } } },
        rows: { type: 'array', items: { type: 'array', items: { type: 'string' } } },
        order: { $ref: '#/$defs/order' },
      },
      $defs: {
        order: { type: 'object', properties: { lines: { type: 'array', items: { $ref: '#/$defs/line' } } } },
        line: { type: 'object', properties: { of: { $ref: '#/$defs/item' }, order: { $ref: '#/$defs/order' } } },
        level: { enum: ['Low', 2, null] },
        item: { type: 'object', properties: { item: { type: 'string' }, level: { $ref: '#/$defs/level' } } },
      },
    };
    const given = {
      ...{ id: 12, ids: ['12', 'x'], priority: 'High', days: ['MON', 'Tue', '3'], either: '12', other: '12' },
      ...{ nullable: '7', named: 'low', several: ['2'] },
      ...{ items: [{ item: '12', other: '12' }, '12'], one: { of: { item: 12, level: 'low' } }, rows: [[1], 'x'] },
      ...{ order: { lines: [{ of: { item: 12 } }] } },
    };
    expect(fitArguments(toolOf(schema), given)).toEqual({
      id: '12',
      ids: [12, 'x'],
      priority: 'high',
      days: ['Mon', 'Tue', 3],
      either: '12',
      other: '12',
      nullable: 7,
      named: 'Low',
      several: [2],
      items: [{ item: 12, other: '12' }, '12'],
      one: { of: { item: '12', level: 'Low' } },
      rows: [['1'], 'x'],
      order: { lines: [{ of: { item: '12' } }] },
    });
  });
});

const hash = (inputSchema: Record<string, unknown>) => schemaHash({ inputSchema });

it('the hash of a schema depends on everything except the order of its parts', () => {
  expect(hash({ type: 'object', required: ['a'] })).toBe(hash({ required: ['a'], type: 'object' }));
  expect(hash({ required: ['a', 'b'] })).not.toBe(hash({ required: ['b', 'a'] }));
  expect(hash({ properties: { a: { type: 'number' } } })).not.toBe(hash({ properties: { a: { type: 'string' } } }));
});
