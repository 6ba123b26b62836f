import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromItem, toItem } from '../../lib/links/link-item.ts';
import type { Link } from '../../lib/links/link-life.ts';

const link = (state: unknown): Link => ({
  life: 'unclaimed',
  newest: { state, name: 'acme/web#1', version: '2026-03-02T12:00:00Z', wanted: true, revision: 3, tied: false },
  turn: 3,
});

const stored = (link: Link) => unmarshall(marshall(toItem(link, 0), { removeUndefinedValues: true }));

describe('the item of a link', () => {
  it('a link item returns the state stored in it', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ stringUnit: 'binary' })), (value) => {
        const state = JSON.parse(JSON.stringify(value));
        expect(fromItem(stored(link(state)))).toEqual(link(state));
      }),
    );
  });

  it('a link item returns the uncompressed state of an earlier version', () => {
    const state = { title: 'Spelling error', labels: ['bug'] };
    expect(fromItem({ ...stored(link(state)), state })).toEqual(link(state));
  });
});
