import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import {
  beginUpdate,
  carry,
  claim,
  finishUpdate,
  giveUp,
  type Link,
  leave,
  make,
  noteApplied,
  takeOver,
} from '../../lib/links/link-life.ts';

const held = { by: 'job-1', connection: 'main', marker: 'marker' };
const updated = { id: 7, updates: 1, updating: { by: 'job-1', fields: ['title'] } };

const links: readonly Link[] = [
  { life: 'unclaimed' },
  { life: 'claimed', claim: held },
  { life: 'made', claim: held, defect: updated },
  { life: 'moved', to: 'issue-2', claim: held },
];

const transitions: Readonly<Record<string, (link: Link) => Link | undefined>> = {
  claim: (link) => claim(link, held),
  giveUp: (link) => giveUp(link, 'job-1'),
  takeOver: (link) => takeOver(link, 'job-1', { by: 'job-2', connection: 'main' }),
  make: (link) => make(link, 'job-1', 7, undefined),
  beginUpdate: (link) => beginUpdate(link, 'job-2', ['title']),
  finishUpdate: (link) => finishUpdate(link, 1, {}, 0),
  noteApplied: (link) => noteApplied(link, {}),
  'carry claim': (link) => carry(link, { claim: held }, 'issue-2'),
  'carry defect': (link) => carry(link, { claim: held, defect: updated }, 'issue-2'),
  leave: (link) => leave(link, 'issue-2'),
};

/** Every move of a link that the code makes: `unclaimed --> claimed: claim`. */
function movesOfCode(): string[] {
  return links.flatMap((link) =>
    Object.entries(transitions).flatMap(([name, move]) => {
      const moved = move(link);
      return moved && moved !== link ? [`${link.life} --> ${moved.life}: ${name}`] : [];
    }),
  );
}

it('docs/architecture.md draws the moves of a link that the code makes', async () => {
  const text = await readFile(new URL('../../docs/architecture.md', import.meta.url), 'utf8');
  const [, section = ''] = text.split('## The life of a link');
  const drawn = [...section.matchAll(/^ {2}(\w+ --> \w+): (.+)$/gm)].flatMap(([, move, names = '']) =>
    names.split(', ').map((name) => `${move}: ${name}`),
  );
  expect(drawn.toSorted()).toEqual(movesOfCode().toSorted());
});
