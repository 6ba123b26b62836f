import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import {
  arrive,
  beginUpdate,
  claim,
  finishUpdate,
  giveUp,
  type Link,
  leave,
  make,
  noteApplied,
  refuseUpdate,
  restore,
  takeOver,
} from '../../lib/links/link-life.ts';

const held = { by: 'job-1', connection: 'main', marker: 'marker' };
const updated = { id: 7, applied: {}, updates: 1, updating: { by: 'run-1', fields: ['title'], until: 0 } };

const to = { entity: 'issue-2', name: 'acme/web#2' };

const claimed: Link = { life: 'claimed', claim: held };
const made: Link = { life: 'made', claim: held, defect: updated };
const links: readonly Link[] = [{ life: 'unclaimed' }, claimed, made, { life: 'moved', to }];

const transitions: Readonly<Record<string, (link: Link) => Link | undefined>> = {
  claim: (link) => claim(link, held),
  giveUp: (link) => giveUp(link, 'job-1'),
  takeOver: (link) => takeOver(link, 'job-1', { by: 'job-2', connection: 'main' }),
  make: (link) => make(link, 'job-1', { id: 7, applied: {} }),
  beginUpdate: (link) => beginUpdate(link, { by: 'run-2', fields: ['title'], until: 0 }, 1),
  refuseUpdate: (link) => refuseUpdate(link, 'run-1'),
  finishUpdate: (link) => finishUpdate(link, 'run-1', {}, { begunAt: 0, updatedAt: 0 }),
  noteApplied: (link) => noteApplied(link, {}),
  'arrive with a claim': (link) => arrive(link, claimed, 'issue-2'),
  'arrive with a defect': (link) => arrive(link, made, 'issue-2'),
  'arrive with nothing': (link) => arrive(link, { life: 'unclaimed' }, 'issue-2'),
  restore: (link) => restore(link, held, 7, { times: 0, at: 0 }),
  leave: (link) => leave(link, to),
};

/** Every transition of a link in the code: `unclaimed --> claimed: claim`. */
function movesOfCode(): string[] {
  return links.flatMap((link) =>
    Object.entries(transitions).flatMap(([name, move]) => {
      const moved = move(link);
      return moved && moved !== link ? [`${link.life} --> ${moved.life}: ${name}`] : [];
    }),
  );
}

it('docs/architecture.md shows the transitions of a link that the code makes', async () => {
  const text = await readFile(new URL('../../docs/architecture.md', import.meta.url), 'utf8');
  const [, section = ''] = text.split('## The life of a link');
  const drawn = [...section.matchAll(/^ {2}(\w+ --> \w+): (.+)$/gm)].flatMap(([, move, names = '']) =>
    names.split(', ').map((name) => `${move}: ${name}`),
  );
  expect(drawn.toSorted()).toEqual(movesOfCode().toSorted());
});
