import { afterEach, beforeEach, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { github } from '../../lib/triggers/relay.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
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
afterEach(() => relay.close());

let issues = 0;
/** @returns how many jobs the opened issue makes, ours and that of the team */
async function opened(full_name: string, id = ID, owner = 21031067): Promise<number> {
  const event = issueEvent('opened', { id: ++issues, author_association: 'OWNER' });
  const repository = { ...Object(event.repository), full_name, id, owner: { id: owner } };
  const { status, answer } = await relay.post('issues', { ...event, repository });
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

it('a repository that was renamed is followed under its configured name, and told once', async () => {
  expect(await opened(NAME)).toBe(2);
  expect(await told()).toEqual([]);
  expect(await opened(RENAMED)).toBe(2);
  const inputs = (await relay.jobs()).map(({ input }) => input.repository);
  expect(new Set(inputs)).toEqual(new Set([NAME]));
  expect(await told()).toEqual([
    `${NAME} is called ${RENAMED} now. Its events are taken all the same. Change its name in relay.config.ts.`,
  ]);
  expect(await opened(NAME)).toBe(2);
});

it('a repository that was transferred to another owner is stopped, and told once', async () => {
  expect(await opened(NAME)).toBe(2);
  expect(await opened(TRANSFERRED, ID, 1)).toBe(0);
  expect(await opened(TRANSFERRED, ID, 1)).toBe(0);
  expect(await told()).toEqual([
    `${NAME} is ${TRANSFERRED} now, of another owner. Its events are not taken. Change its name in relay.config.ts, or remove it.`,
  ]);
});

it('a repository of an owner whose login has changed is followed, and the owner of a login that was given away is not', async () => {
  expect(await opened(NAME)).toBe(2);
  expect(await opened(TRANSFERRED)).toBe(2);
  expect(await opened(RENAMED, ID, 1)).toBe(0);
  expect(await opened(TRANSFERRED)).toBe(2);
  expect(await told()).toEqual([
    `${NAME} is called ${TRANSFERRED} now. Its events are taken all the same. Change its name in relay.config.ts.`,
  ]);
});

it('a repository is not followed without an event that had its configured name', async () => {
  expect(await opened(RENAMED)).toBe(0);
  expect(await opened(NAME)).toBe(2);
  expect(await opened('Codertocat/Another', ID + 1)).toBe(0);
  expect(await opened('Codertocat-too/Hello-World', ID, 1)).toBe(0);
});

it('a new repository with the configured name takes the place of the one that had it', async () => {
  expect(await opened(NAME)).toBe(2);
  expect(await opened(NAME, ID + 1)).toBe(2);
  expect(await opened(RENAMED)).toBe(0);
  expect(await opened(RENAMED, ID + 1)).toBe(2);
});
