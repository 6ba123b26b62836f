import { github } from 'partner-relay';
import { beforeEach, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { decide } from '../../lib/platforms/github/moved-repositories.ts';
import { functionsOf } from '../../local/world/functions.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { githubDelivery } from '../requests.ts';
import { PLATFORM, readable } from '../slack-requests.ts';

const NAME = 'Codertocat/Hello-World';
const RENAMED = 'Codertocat/Hello-Space';
const TRANSFERRED = 'Other/Hello-World';
const ID = 186853002;

const own = {
  mine: {
    on: github('issues.opened', {
      input: { repository: z.string() },
      job: ({ issue, repository }) => ({ happened: [issue.id], input: { repository: repository.full_name } }),
    }),
    run: async ({ repository }: { repository: string }) => repository,
  },
};

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay({ own, config: { ...exampleConfig(), contactChannel: PLATFORM } });
});

let issues = 0;
function eventOf(full_name: string, id = ID, owner = 21031067) {
  const event = issueEvent('opened', { id: ++issues, author_association: 'OWNER' });
  return { ...event, repository: { ...Object(event.repository), full_name, id, owner: { id: owner } } };
}

/** @returns the number of jobs that the opened issue makes, the built-in one and the team's */
async function opened(...repository: Parameters<typeof eventOf>): Promise<number> {
  const { status, answer } = await relay.post('issues', eventOf(...repository));
  expect(status).toBe(202);
  return (answer.jobs as unknown[]).length;
}

async function told(): Promise<string[]> {
  for (let run = 0; run < 3; run++) {
    relay.clock.now += 3 * 60_000;
    await Promise.all([relay.sweep(), relay.sweep()]);
  }
  const texts = relay.slack.messages
    .filter(({ channel }) => channel === PLATFORM)
    .map(({ blocks }) => readable(blocks));
  return texts.filter((text) => text.includes('relay.config.ts'));
}

it('a renamed repository is followed under its configured name, and reported once', async () => {
  expect(await opened(NAME)).toBe(2);
  expect(await told()).toEqual([]);
  expect(await opened(RENAMED)).toBe(2);
  const inputs = (await relay.jobs()).map(({ input }) => input.repository);
  expect(new Set(inputs)).toEqual(new Set([NAME]));
  expect(await told()).toEqual([
    `${NAME} is now called ${RENAMED}. Its events are still handled. Change its name in relay.config.ts.`,
  ]);
  expect(await opened(NAME)).toBe(2);
});

it('a repository that was transferred to another owner is stopped, and reported once', async () => {
  expect(await opened(NAME)).toBe(2);
  expect(await opened(TRANSFERRED, ID, 1)).toBe(0);
  expect(await opened(TRANSFERRED, ID, 1)).toBe(0);
  expect(await told()).toEqual([
    `${NAME} is now ${TRANSFERRED}, and has another owner. Its events are ignored. Change its name in relay.config.ts, or remove it.`,
  ]);
});

it('a repository of an owner whose login has changed is followed, and the new owner of an old login is not', async () => {
  expect(await opened(NAME)).toBe(2);
  expect(await opened(TRANSFERRED)).toBe(2);
  expect(await opened(RENAMED, ID, 1)).toBe(0);
  expect(await opened(TRANSFERRED)).toBe(2);
  expect(await told()).toEqual([
    `${NAME} is now called ${TRANSFERRED}. Its events are still handled. Change its name in relay.config.ts.`,
  ]);
});

it('a repository is not followed without an event that had its configured name', async () => {
  expect(await opened(RENAMED)).toBe(0);
  expect(await opened(NAME)).toBe(2);
  expect(await opened('Codertocat/Another', ID + 1)).toBe(0);
  expect(await opened('Codertocat-too/Hello-World', ID, 1)).toBe(0);
});

it('a new repository with the configured name takes the place of the previous repository', async () => {
  expect(await opened(NAME)).toBe(2);
  expect(await opened(NAME, ID + 1)).toBe(2);
  expect(await opened(RENAMED)).toBe(0);
  expect(await opened(RENAMED, ID + 1)).toBe(2);
});

const NEW_NAME = 'NewName/Hello-World';
const renamedTo = (name: string) =>
  `${NAME} is now called ${name}. Its events are still handled. Change its name in relay.config.ts.`;

it('a renamed repository is reported even if each event meets a new process', async () => {
  for (const name of [NAME, RENAMED, RENAMED]) {
    const { body = '' } = await functionsOf(() => relay.runtime).take(githubDelivery('issues', eventOf(name)));
    expect(JSON.parse(body).jobs).toHaveLength(2);
  }
  expect(await told()).toEqual([renamedTo(RENAMED)]);
});

it('a repository that is renamed back is no longer reported', async () => {
  for (const name of [NAME, RENAMED, NAME]) expect(await opened(name)).toBe(2);
  expect(await told()).toEqual([]);
});

it("a stranger's repository with the configured name is stopped and reported, and the team's is still followed", async () => {
  expect(await opened(NAME)).toBe(2);
  expect(await opened(NEW_NAME)).toBe(2);
  expect(await opened(NAME, 666, 666)).toBe(0);
  expect(await opened('Mallory/Anything', 666, 666)).toBe(0);
  expect(await opened(NEW_NAME)).toBe(2);
  expect(await told()).toEqual([
    renamedTo(NEW_NAME),
    `${NAME} is now another repository, of another owner. Its events are ignored. Change the name in relay.config.ts to that of yours, or remove it. If the new one is yours, set ownerId: 666 for it.`,
  ]);
});

const noted = { name: NAME, id: 1, ownerId: 2 };
const asRenamed = { calledNow: RENAMED, isRenamed: true };
const renamed = { ...noted, ...asRenamed };
const moved = { ...noted, calledNow: TRANSFERRED };
const ofNobody = { name: NAME, id: 1 };
const withOther = { ...renamed, otherOwnerId: 9 };

it.each<[string, Parameters<typeof decide>[0], [string, number, number], number?, ...unknown[]]>([
  ['the first event', { name: NAME }, [NAME, 1, 2], undefined, 'taken', noted],
  ['another event', noted, [NAME, 1, 2], undefined, 'taken', noted],
  ['a name in other letters', noted, [NAME.toUpperCase(), 1, 2], undefined, 'taken', noted],
  ['the old name again', withOther, [NAME, 1, 2], undefined, 'taken', noted],
  ['a new repository of the owner', renamed, [NAME, 3, 2], undefined, 'taken', { ...noted, id: 3 }],
  ['the repository, of another owner', noted, [NAME, 1, 9], undefined, 'taken', { ...noted, ownerId: 9 }],
  ['another repository of another owner', renamed, [NAME, 3, 9], undefined, 'stopped', withOther],
  ['the same again', withOther, [NAME, 3, 9], undefined, 'stopped', withOther],
  ['another name', noted, [RENAMED, 1, 2], undefined, 'followed', renamed],
  ['another name, and a stranger has the old one', withOther, [RENAMED, 1, 2], undefined, 'followed', withOther],
  ['another login', noted, [NEW_NAME, 1, 2], undefined, 'followed', { ...renamed, calledNow: NEW_NAME }],
  ['another name and owner', noted, [TRANSFERRED, 1, 9], undefined, 'stopped', { ...moved, isRenamed: false }],
  ['another name and repository', noted, [RENAMED, 3, 2], undefined, 'stopped', noted],
  ['another name, no known owner', ofNobody, [RENAMED, 1, 2], undefined, 'followed', { ...ofNobody, ...asRenamed }],
  ['the owner that is configured', withOther, [NAME, 3, 9], 9, 'taken', { name: NAME, id: 3, ownerId: 9 }],
  ['an owner that is not', noted, [NAME, 1, 2], 9, 'stopped', { ...noted, otherOwnerId: 2 }],
  ['at first an owner that is not', { name: NAME }, [NAME, 3, 2], 9, 'stopped', { name: NAME, otherOwnerId: 2 }],
  ['a transfer to the owner that is', noted, [TRANSFERRED, 1, 9], 9, 'followed', { ...moved, isRenamed: true }],
])('an event with %s: %j, %j, ownerId %s: %s', (_, before, [full_name, id, owner], configured, becomes, note) => {
  expect(decide(before, { full_name, id, owner: { id: owner } }, configured)).toEqual({ becomes, note });
});
