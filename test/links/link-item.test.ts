import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { IssueState } from '../../lib/links/issue-state.ts';
import { fromItem, toItem } from '../../lib/links/link-item.ts';
import type { Link } from '../../lib/links/link-life.ts';

const NOW = Date.parse('2026-03-02T12:00:00Z');
const text = fc.string({ unit: 'binary' });
const states = fc.record<IssueState>({
  name: text,
  title: text,
  body: text,
  author: text,
  url: text,
  createdAt: text,
  state: text,
  stateReason: fc.option(text),
  labels: fc.array(text),
});

const made = (state: IssueState): Link => ({
  life: 'made',
  claim: { by: 'job-1', connection: 'main', marker: 'm', inherited: { title: 'd' } },
  defect: {
    id: 7,
    applied: { title: 'd' },
    updates: 2,
    updatedAt: NOW,
    updating: { fields: ['title'], until: NOW, by: 'run-1' },
    doubtful: { fields: ['title'], until: NOW },
  },
  newest: { state, name: 'acme/web#1', version: '2026-03-02T12:00:00Z', wanted: true, revision: 3, tied: false },
  arrived: { from: 'issue-2', toldBy: 'job-2' },
  cleared: { times: 1, at: NOW },
  turn: 3,
});

const key = { pk: 'link#issue-1', sk: 'link' };
const stored = (link: Link) => ({ ...key, ...unmarshall(marshall(toItem(link, 0), { removeUndefinedValues: true })) });

describe('the item of a link', () => {
  it('returns the state stored in it', () => {
    fc.assert(
      fc.property(states, (state) => {
        expect(fromItem(stored(made(state)), NOW)).toEqual(made(state));
      }),
    );
  });

  it.each([
    [['turn'], { turn: -1 }],
    [['life'], { life: 'of a newer version' }],
    [['defect'], { defect: 7 }],
    [['defect.applied'], { defect: { id: 7, applied: { title: 1, body: 2 }, updates: 0 } }],
    [['defect.updates', 'defect.updatedAt'], { defect: { id: 7, applied: {}, updates: 0.5, updatedAt: NOW + 7.2e6 } }],
    [['claim.by', 'newest'], { claim: { connection: 'main', marker: 'm' }, newest: 'x' }],
  ])('names %j, once and no deeper, if it is unreadable', (wrong, change) => {
    const [state = expect.fail('no state')] = fc.sample(states, 1);
    expect(fromItem({ ...stored(made(state)), ...change }, NOW)).toMatchObject({ life: 'unreadable', wrong });
  });

  it('keeps an unreadable item unchanged, whatever it contains', () => {
    const one = fc.sample(states, 1)[0] ?? expect.fail('no state');
    const good = stored(made(one));
    const changed = fc
      .tuple(fc.constantFrom(...Object.keys(good).filter((name) => !(name in key))), fc.anything({ maxDepth: 3 }))
      .map(([name, value]) => ({ ...good, [name]: value }));
    const anything = fc.object({ maxDepth: 3 }).map((item) => ({ ...item, ...key }));
    fc.assert(
      fc.property(fc.oneof(changed, anything), (item) => {
        const link = fromItem(item, NOW);
        if (link.life !== 'unreadable') return;
        expect(link.wrong).not.toEqual([]);
        expect(fromItem({ ...key, ...toItem(link, NOW) }, NOW).life).toBe(
          link.wrong.every((name) => name === 'newest') ? 'made' : 'unreadable',
        );
      }),
    );
  });
});
