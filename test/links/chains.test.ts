import { expect, it } from 'vitest';
import { defineConfig } from '../../lib/config/schema.ts';
import { heldBy, leave } from '../../lib/links/link-life.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { transferOf } from './transfer.ts';

let relay: TestRelay;

const A = 'Codertocat/Hello-World';
const B = 'Codertocat/Other';
const C = 'Codertocat/Third';

const places = { a: { id: 1, repository: A }, b: { id: 2, repository: B }, c: { id: 3, repository: C } };
type Place = keyof typeof places;
const issue = (place: Place, seconds: number) =>
  issueEvent('opened', { ...places[place], seconds, title: `in ${place}` });
const transfer = (from: Place, to: Place, seconds: number) => transferOf(issue(from, seconds), issue(to, seconds));

function start(connections: Record<Place, string>) {
  const base = exampleConfig({ comment: false }, { also: [B, C] });
  const { main } = base.connections;
  if (!main) throw new Error('no connection');
  return startRelay({
    config: defineConfig({
      ...base,
      connections: { main, second: main },
      github: {
        ...base.github,
        repositories: base.github.repositories.map((one) => ({
          ...one,
          connection: connections[one.name === A ? 'a' : one.name === B ? 'b' : 'c'],
        })),
      },
    }),
  });
}

const routes: [string, readonly Place[], Record<Place, string>][] = [
  ['one connection', ['a', 'b', 'c'], { a: 'main', b: 'main', c: 'main' }],
  ['another connection at the end', ['a', 'b', 'c'], { a: 'main', b: 'main', c: 'second' }],
  ['back', ['a', 'b', 'a'], { a: 'main', b: 'main', c: 'main' }],
];
/** The orders in which the four deliveries of two transfers arrive, and whether jobs run in between. */
const orders: [string, boolean][] = [
  ['0123', true],
  ['0213', true],
  ['0213', false],
  ['1230', true],
];

it.each(routes.flatMap((route) => orders.map((order) => [...route, ...order] as const)))(
  'two transfers leave one defect on each connection, and it is followed or left to a person: %s',
  async (_, [first = 'a', second = 'b', third = 'c'], connections, order, worksBetween) => {
    relay = await start(connections);
    const happens = async (event: object, works = true) => {
      await relay.post('issues', event);
      relay.clock.now += 1;
      if (works) await relay.workToTheEnd();
    };
    await happens(issue(first, 0));
    const events = [...transfer(first, second, 5), ...transfer(second, third, 6)];
    for (const place of order) await happens(events[Number(place)] ?? {}, worksBetween);
    await happens(issueEvent('edited', { ...places[third], seconds: 9, title: 'last' }));

    const defects = relay.defects();
    const used = new Set([first, second, third].map((place) => connections[place]));
    expect(defects.length).toBeLessThanOrEqual(used.size);
    const { defect } = heldBy(await relay.links.get(`issue-900${places[third].id}`));
    const isFollowed = defects.find(({ defect_id }) => defect_id === defect?.id)?.title === 'last';
    const reasons = (await relay.jobs('parked')).map(({ parked }) => parked?.reason);
    expect(reasons).toHaveLength(isFollowed ? 0 : 1);
    if (!isFollowed) expect(reasons[0]).toMatch(/ came back; decide with npx partner-relay issue .* --set /);
  },
);

it('a transfer between links that lead to each other is refused, and holds up no webhook', async () => {
  relay = await start({ a: 'main', b: 'main', c: 'main' });
  const named = (place: Place) => ({ entity: `issue-900${places[place].id}`, name: `${places[place].repository}#1` });
  const [b, c] = [named('b'), named('c')];
  await relay.links.change(b.entity, (link) => leave(link, c));
  await relay.links.change(c.entity, (link) => leave(link, b));
  await expect(relay.links.move(named('a').entity, b, () => 'main')).rejects.toThrow('change all the time');
});
