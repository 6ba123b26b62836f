import { beforeEach, describe, expect, it } from 'vitest';
import type { JobDetail } from '../../console/contract.ts';
import * as block from '../../docs/guides/automations/block.ts';
import { described } from '../../lib/automations/custom/folder.ts';
import { defineConfig } from '../../lib/config/schema.ts';
import { keys } from '../../lib/state/table/keys.ts';
import { command as onCommand } from '../../lib/triggers/command.ts';
import type { CommandSteps } from '../../lib/triggers/steps.ts';
import { hashOf, linkAccount } from '../as-person/linked.ts';
import { runRelayOf } from '../cli/run-command.ts';
import { consoleOf } from '../console/console-of.ts';
import { type GithubApi, startGithubApi } from '../github-api.ts';
import { exampleOf } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import {
  ask,
  buttonsOf,
  command,
  GENERAL,
  lastMessage,
  MIRA,
  PLATFORM,
  press,
  readable,
  told,
} from '../slack-requests.ts';

/** A task of the seed. */
const TASK = 'Release checkout 2.4';

const HOSTILE = '*a* <!channel> <https://evil.example|x>:1>';

type Does = (steps: CommandSteps, input: object) => Promise<string>;
const of = (usage: string, run: Does, inComments = false) => ({
  on: onCommand(usage, { does: 'is of a team', example: usage.replaceAll(/[<>[\]…]/g, ''), inComments }),
  run: (input: object, steps: CommandSteps) => run(steps, input),
});
const inComments = (usage: string, run: Does) => of(usage, run, true);

const own = {
  block: { ...block, on: { ...block.on, permission: 'block' } },
  shout: of('shout <text…>', async ({ say }, input) => {
    await say('shout', 'asker', JSON.stringify(input));
    return 'said it';
  }),
  deploy: of('deploy <service> [stage]', async ({ ask }, input) => {
    const { answer } = await ask('may', 'May it go out?');
    return `deployed ${Object.values(input).join(' on ')}: ${answer}`;
  }),
  later: of('later', async ({ until }) => {
    await until('lunch', '2026-11-20T12:00:00Z');
    return 'done later';
  }),
  wrong: of('wrong', async ({ call }) => {
    await call('complete', 'work-items/checklist/items/complete', { item: 101 } as never);
    return 'completed it';
  }),
  mine: of('mine <text…>', async ({ as, say }, input) => {
    const { text } = input as { text: string };
    const call = { tool: 'find_tasks', schema: hashOf('find_tasks'), arguments: { containing: text }, changes: false };
    await say('tell', 'asker', await as('find', call, ({ texts }) => texts.join()));
    return 'found them';
  }),
  point: of('point <text…>', async ({ say }, input) => {
    const { text: url } = input as { text: string };
    await say('tell', 'asker', ['See ', { text: HOSTILE, url }, ` of ${HOSTILE}`]);
    return 'pointed there';
  }),
  who: inComments('who <text…>', async ({ asker, user }) => {
    const { user: found, why } = await user('who asks');
    return found ? `${asker.name} is ${found.name} on ${asker.date}` : `${asker.name}: ${why}`;
  }),
  note: inComments('note <task> <text…>', async ({ task }, input) => {
    const { name } = await task('find', (input as { task: string }).task);
    return `noted on ${name}`;
  }),
};

let relay: TestRelay;

async function start(rest: Parameters<typeof exampleConfig>[1] = {}) {
  relay = await startRelay({ own, config: exampleConfig({}, rest), sandbox: { mcp: { enabled: true } } });
}

describe("a team's command in Slack", () => {
  it('is carried out with its parameters, and answers its author', async () => {
    await start();
    const { atOnce, inTheEnd } = await ask(relay, `block “${TASK}”  waits for “it”`);
    expect(atOnce).toBe(`:hourglass_flowing_sand: Working on it, understood as /pm block "${TASK}" waits for “it”`);
    expect(inTheEnd).toBe(
      `Mira Novak: ${TASK} is blocked: waits for “it”\n:white_check_mark: Told the platform that ${TASK} is blocked.`,
    );
    expect(relay.slack.messages.map(({ channel }) => channel)).toEqual([PLATFORM, GENERAL]);
    // The text may be private.
    const by = { in: 'slack', id: MIRA };
    expect(await relay.jobs()).toMatchObject([
      { automation: 'block', lane: 'interactive', summary: `${MIRA}: block "${TASK}"`, asked: { verb: 'block', by } },
    ]);
    expect((await command(relay, 'status')).text).toContain(`:white_check_mark: block "${TASK}"\nTold the platform`);
  });

  it.each([
    [
      'block',
      '/pm block needs a task: /pm block <task> <reason…>, for example /pm block 4711 waits for the certificate',
    ],
    [
      'BLOCK 4711',
      '/pm block needs a reason: /pm block <task> <reason…>, for example /pm block 4711 waits for the certificate',
    ],
    ['deploy web prod now', '/pm deploy does not take “now”, too. Put a text of several words in quotation marks.'],
    [
      `shout ${'x'.repeat(8_192)}`,
      'That is too long: /pm shout takes 8192 characters at most, and letters such as ä count twice.',
    ],
  ])('is explained if it is unreadable: %.20s', async (typed, why) => {
    await start();
    expect((await command(relay, typed)).text).toBe(`:warning: ${why}`);
    expect(await relay.jobs()).toEqual([]);
  });

  it('is offered for a misspelled verb, and its button runs it', async () => {
    await start();
    const answer = await command(relay, 'shuot  "it is" done');
    expect(answer.text).toBe(':warning: There is no command “shuot”. Did you mean /pm shout?\n/pm shout "it is" done');
    expect(buttonsOf(answer)).toEqual(['Run /pm shout "it is" done']);
    await press(relay, answer, 'Run /pm shout "it is" done');
    await relay.work();
    expect(told(relay)).toContain('{"text":"\\"it is\\" done"}');
    const older = JSON.parse(JSON.stringify(answer.blocks).replaceAll('shout ', 'retired '));
    await press(relay, { blocks: older }, 'Run /pm retired "it is" done');
    expect(readable(lastMessage(relay).blocks)).toMatch(/^:warning: There is no command “retired”\./);
  });

  it('is in help, and works where the person may use it', async () => {
    await start({ slack: { permissions: { block: { channels: [PLATFORM] } } } });
    const help = async (channelId: string) => (await command(relay, 'help', { channelId })).text;
    const line = '/pm block <task> <reason…>  says in the channel of the platform that a task is blocked';
    expect(await help(PLATFORM)).toContain(line);
    expect(await help(PLATFORM)).toMatch(/For example .*\/pm block 4711 waits for the certificate/);
    expect(await help(GENERAL)).not.toContain('/pm block');
    expect(await help(GENERAL)).toContain('/pm shout <text…>');
    const { text } = await command(relay, 'block 4711 x', { channelId: GENERAL });
    expect(text).toBe(':warning: /pm block can be used in <#C0PLATFORM> only.');
  });

  it('tells its author that it waits, and that it is parked', async () => {
    await start();
    expect((await ask(relay, 'deploy web prod')).inTheEnd).toContain(':octagonal_sign:');
    expect((await command(relay, 'status')).text).toContain(':octagonal_sign: deploy web prod\n');
    expect((await ask(relay, 'later')).inTheEnd).toContain(':hourglass:');
    await relay.workToTheEnd();
    expect(readable(lastMessage(relay).blocks)).toBe(':white_check_mark: Done later.');
  });

  it('a payload that the relay did not send is not called a refusal of the service', async () => {
    await start();
    const { inTheEnd } = await ask(relay, 'wrong');
    expect(inTheEnd).toContain('This cannot continue yet: an administrator has to look at it.');
    expect(relay.sandbox.requests).toBe(0);
    const [{ id } = expect.fail('no job')] = await relay.jobs('parked');
    const shown = await runRelayOf(relay, ['job', id]);
    expect(shown).toMatch(/Correct what the reason names, then replay[\s\S]*not sent: the payload does not fit: /);
    expect(shown).not.toMatch(/refused|: sent/);
    const { steps } = await (await consoleOf(relay)).get<JobDetail>(`/api/jobs/${id}`);
    expect(steps.flatMap(({ sends }) => sends)).toMatchObject([{ answer: 'not sent' }]);
  });

  it('without the file of its automation, a job says who has to act', async () => {
    await start();
    await command(relay, 'later');
    const [{ id } = expect.fail('no job')] = await relay.jobs();
    const gone = { expression: 'SET #automation = :gone', values: { gone: 'gone' } };
    await relay.stores.table.update(keys.job(id), gone);
    await relay.work();
    expect(readable(lastMessage(relay).blocks)).toMatch(
      /:hourglass: later has to wait: .* has to look at it\. Your request then continues by itself\.$/,
    );
    expect(await runRelayOf(relay, ['job', id])).toMatch(
      /restore the file, or discard the job[\s\S]*Do what the reason says, within a day\. The relay looks every four minutes\./,
    );
  });

  it("shows a link with the team's text, and other people's markup as text", async () => {
    await start();
    const url = 'https://alerts.example/?a=1&b=>';
    await ask(relay, `point ${url}`);
    const [said] = relay.slack.messages;
    const elements = [
      { type: 'text', text: 'See ' },
      { type: 'link', text: HOSTILE, url },
      { type: 'text', text: ` of ${HOSTILE}` },
    ];
    expect(said?.blocks).toEqual([{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] }]);
    expect(said?.text).toBe(
      'See <https://alerts.example/?a=1&amp;b=&gt;| a  &lt;!channel&gt; &lt;https://evil.example x&gt;:1&gt;> of *a* &lt;!channel&gt; &lt;https://evil.example|x&gt;:1&gt;',
    );
    expect((await ask(relay, 'point javascript:x')).inTheEnd).toContain(':octagonal_sign:');
    expect(await relay.jobs('parked')).toMatchObject([
      { parked: { reason: "the step 'tell' has a link that does not begin with https://" } },
    ]);
  });

  it.each([
    [MIRA, 'Mira Novak is Mira Novak on 2026-11-20.'],
    ['U0NOBODY1', 'Jonas Weber: No user of the service has your e-mail address. If your account'],
  ])('knows who %s is, by one name and as the user of the service', async (userId, said) => {
    await start();
    expect((await ask(relay, 'who is it', { userId })).inTheEnd).toContain(said);
    const lists = relay.sandbox.requests;
    expect((await ask(relay, 'who is it', { userId })).inTheEnd).toContain(said);
    expect(relay.sandbox.requests).toBe(lists);
  });

  it('acts as its author with a tool, if they have linked an account', async () => {
    await start({ connection: { mcp: { accounts: 'required' } } });
    expect((await ask(relay, 'mine checkout')).inTheEnd).toContain('Link it in Slack with /pm link');
    await linkAccount(relay);
    expect((await ask(relay, 'mine checkout')).inTheEnd).toContain(TASK);
    expect(relay.sandbox.requests).toBe(0);
  });

  it('does not use the key if people act in their own name', async () => {
    await start({ connection: { mcp: { accounts: 'required' } } });
    expect((await ask(relay, `block "${TASK}" x`)).inTheEnd).toBe(
      `:warning: block "${TASK}"\nHere, people act in their own name, and block needs the key of the relay for task(). Tell your Partner Relay administrator.`,
    );
    expect((await ask(relay, 'shout a')).inTheEnd).toContain('{"text":"a"}');
    expect(relay.sandbox.requests).toBe(0);
    expect((await command(relay, 'help')).text).toContain('/pm shout');
  });
});

it.each([
  [{ usage: 'log <text…>', example: 'log x' }, 'the relay has the command log itself; use another word'],
  [{ usage: 'block <task>', example: 'block' }, "the example 'block' does not fit 'block <task>'"],
  [{ usage: 'block <task>', example: 'stop 4711' }, "the example 'stop 4711' does not fit 'block <task>'"],
  [{ usage: 'block [task…] <why>', example: 'block x' }, /has a parameter with … that is not the last/],
])('a file with the command %o is refused', ({ usage, example }, why) => {
  const file = { on: onCommand(usage, { does: 'is of a team', example }), run: async () => '' };
  expect(() => described('mine', file, [], exampleConfig())).toThrow(why);
});

describe("a team's command in a comment", () => {
  type Fields = Record<string, unknown>;
  const example = exampleOf('issue_comment', 'created') as Fields & { comment: Fields };
  const at = '2026-11-20T09:59:58Z';
  const comment = (body: string, of: Fields = {}) => {
    const written: Fields = { ...example.comment, created_at: at, updated_at: at, id: 1, body, ...of };
    return { ...example, comment: written, sender: written.user };
  };
  let github: GithubApi;
  beforeEach(async () => {
    github = await startGithubApi(() => relay.clock.now);
    // The repository allows no built-in commands in comments.
    const repositories = [{ name: 'Codertocat/Hello-World', connection: 'main' }];
    const people = [{ email: 'mira.novak@example.com', github: 'Codertocat' }];
    const config = defineConfig({ connections: { main: {} }, github: { apiUrl: github.url, repositories }, people });
    relay = await startRelay({ own, config, github: { token: 'ghp_test' } });
  });

  async function answers(event: object): Promise<string[]> {
    await relay.post('issue_comment', event);
    await relay.workToTheEnd();
    return github.comments.map(({ body }) => body.split('\n')[0] ?? '');
  }
  const LACKS = '⚠️ \\/note needs a text: /note \\<task\\> \\<text…\\>, for example /note task text.';
  const CHANGED = '⚠️ The comment no longer has this command, so nothing was done.';
  const stranger = { user: { login: 'stranger', type: 'User' }, author_association: 'NONE' };

  it.each<[string, string, string[], Fields?, string?]>([
    ['is carried out', `/note “${TASK}” as said`, [`✅ Noted on ${TASK}`]],
    ['is explained if it lacks a parameter', '/note 4711', [LACKS]],
    ['knows its author by `people`', '/who is it', ['✅ @\u200bCodertocat is Mira Novak on 2026-11-20']],
    ['is ignored if it is for Slack only', '/shout a', []],
    ['of a stranger is not answered', `/note “${TASK}” x`, [], stranger],
    ['is dropped once the comment has changed', `/note “${TASK}” x`, [CHANGED], {}, 'never mind'],
  ])('%s', async (_, body, said, of = {}, now = body) => {
    github.written.set(1, now);
    expect(await answers(comment(body, of))).toEqual(said);
  });
});
