import { github } from 'partner-relay';
import * as z from 'partner-relay/zod';
import { describe, expect, it } from 'vitest';
import { requeueJob } from '../../lib/engine/line/sweep.ts';
import type { Steps } from '../../lib/triggers/steps.ts';
import type { Draft } from '../../lib/triggers/trigger.ts';
import { issueEvent } from '../issue-events.ts';
import { commentPayload } from '../kill/github-payloads.ts';
import { exampleConfig, PROJECT, startRelay, type TestRelay } from '../relay.ts';
import { opened } from './opened.ts';

let relay: TestRelay;

const REPOSITORY = 'Codertocat/Hello-World';
const SECRET = 'words of the payload';
const published = { title: SECRET, action: 'published', repository: { full_name: REPOSITORY } };
const DAY = 86_400_000;
const NOON = Date.parse('2026-11-20T12:00:00Z');

const STRAY = 'automations/mine.ts left a promise or a timer behind, and it failed';
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Returns the rejections that would end the process, as a listener of Lambda's runtime gets them. */
async function rejectionsHeard(act: () => Promise<void>): Promise<unknown[]> {
  const heard: unknown[] = [];
  const listener = (error: unknown) => heard.push(error);
  process.on('unhandledRejection', listener).on('uncaughtException', listener);
  try {
    await act();
    await turn();
  } finally {
    process.off('unhandledRejection', listener).off('uncaughtException', listener);
  }
  return heard;
}

type Drafts = Draft<object> | readonly Draft<object>[];
const onRelease = (job: () => Drafts | string) => ({
  on: github('release.published', { input: { title: z.optional(z.string()) }, job }),
  run: async () => 'done',
});
const happened = (id: number, rest: object = {}) => ({ happened: [id] as const, input: {}, ...rest });

const throwing = () => {
  throw new Error(`no item for ${SECRET}`);
};
const wrongTitle = { happened: [2], input: { title: 1 } } as Draft<object>;

describe('an event', () => {
  const now = Date.parse('2026-11-20T10:00:00Z');
  const later = () => happened(1, { at: now + 40 * DAY });
  it.each<[string, () => Drafts, number, number, string]>([
    ['that is said to happen later makes no job', later, 500, 0, 'and the clock is'],
    ['with a time in seconds makes no job', () => happened(1, { at: now / 1_000 }), 500, 0, 'in seconds'],
    ['with a second draft that is invalid makes no job', () => [happened(1), wrongTitle], 500, 0, 'title'],
    ['with a draft twice makes one job', () => [happened(1), happened(1)], 202, 1, ''],
    ['shows nothing of a thrown text in the log', throwing, 500, 0, 'Error at '],
  ])('%s', async (_, job, status, jobs, said) => {
    relay = await startRelay({ own: { mine: onRelease(job) } });
    expect((await relay.post('release', published)).status).toBe(status);
    expect(await relay.jobs()).toHaveLength(jobs);
    const log = JSON.stringify(relay.log);
    expect(log).toContain(said);
    expect(log).not.toContain(SECRET);
  });

  it('with an async job that fails makes no job, and ends no process', async () => {
    const failing = async () => Promise.reject(new Error(SECRET));
    relay = await startRelay({ own: { mine: onRelease(failing as never) } });
    const heard = await rejectionsHeard(async () => {
      expect((await relay.post('release', published)).status).toBe(500);
    });
    expect(heard).toEqual([]);
    const error = expect.stringMatching(/^Error at /);
    expect(relay.log).toContainEqual(expect.objectContaining({ message: STRAY, error }));
    expect(JSON.stringify(relay.log)).not.toContain(SECRET);
  });

  it('is the same for each file, whatever another file does to it', async () => {
    const taking = github('issues.opened', {
      input: {},
      job({ issue }: { issue: { id?: number } }) {
        const { id } = issue;
        delete issue.id;
        return { happened: [Number(id)], input: {} };
      },
    });
    const file = { on: taking, run: async () => 'done' };
    relay = await startRelay({ own: { a: file, b: file, c: file } });
    expect((await relay.post('issues', issueEvent('opened', { labels: [] }))).status).toBe(202);
    const ids = (await relay.jobs()).map(({ id }) => id.slice(0, 2));
    expect(ids.sort()).toEqual(['a-', 'b-', 'c-']);
    expect((await relay.post('issues', issueEvent('opened', { labels: [] }))).status).toBe(200);
  });

  it('makes only the missing job once a file is repaired, and none for another hook or 31 days later', async () => {
    let isBroken = true;
    const throwing = onRelease(() => {
      if (isBroken) throw new Error('a mistake');
      return happened(1);
    });
    const other = onRelease(() => happened(1));
    relay = await startRelay({ own: { a: throwing, b: other } });
    const made = async () => (await relay.jobs()).map(({ automation }) => automation);
    expect((await relay.post('release', published)).status).toBe(500);
    expect(await made()).toEqual(['b']);
    isBroken = false;
    expect((await relay.post('release', published)).status).toBe(202);
    expect((await made()).sort()).toEqual(['a', 'b']);
    expect((await relay.post('release', published, { 'x-github-delivery': 'of another hook' })).status).toBe(200);
    await relay.workToTheEnd();
    relay.clock.now += 31 * DAY;
    expect((await relay.post('release', published)).answer.jobs).toEqual([]);
  });
});

type CustomRun = (steps: Steps) => Promise<string>;

/** Starts a job of an opened issue with this code. A test may replace the code in `file.run`. */
async function start(run: CustomRun) {
  const file = { on: opened as unknown, run: (_: unknown, steps: Steps) => run(steps) };
  const config = exampleConfig();
  const fetched: string[] = [];
  const runtime = {
    fetch(...given: Parameters<typeof fetch>) {
      fetched.push(String(given[0]));
      return fetch(...given);
    },
  };
  relay = await startRelay({ own: { mine: file }, config, github: { token: 'ghp_test' }, runtime });
  await relay.post('issues', issueEvent('opened', { labels: [], title: SECRET }));
  const defects = relay.sandbox.data.defects.length;
  const made = () => relay.sandbox.data.defects.length - defects;
  const replay = async (reason: string, at = relay.clock.now) => {
    const [job] = await relay.jobs('parked');
    if (job) await requeueJob(job, relay.stores, { at, by: 'mira', what: 'replayed', reason });
  };
  return { file, made, replay, fetched };
}

/** Expects that the only job is parked for this reason. */
const isParked = async (reason: unknown, kind: unknown = expect.anything()) =>
  expect(await relay.jobs()).toMatchObject([{ status: 'parked', parked: { reason, kind } }]);

const COMPLETE = 'work-items/checklist/items/complete';
const done = (id: number) => ({ item_id: id, is_completed: true });
const defect = { project_id: PROJECT, title: 'Made once' };
const tomorrow = '2026-11-21T10:00:00Z';
const waits: CustomRun = async ({ create, until }) => {
  await create('defect', 'defects/create', defect);
  await until('later', tomorrow);
  return 'done';
};

const renamed: CustomRun = async ({ create }) => `made ${(await create('bug', 'defects/create', defect)).id}`;
const inOrder =
  (...steps: string[]): CustomRun =>
  async ({ create, until }) => {
    for (const step of steps) await create(step, 'defects/create', defect);
    await until('later', tomorrow);
    return 'done';
  };

const becameMessage: CustomRun = async (steps) => {
  await steps.say('defect', { channel: 'C0PLATFORM' }, 'hello');
  await steps.until('later', tomorrow);
  return renamed(steps);
};
const becameCall: CustomRun = async (steps) => {
  await steps.call('defect', COMPLETE, done(101));
  return renamed(steps);
};
const byPath: CustomRun = async ({ send }) => {
  await send('by path', '/defects/create', defect);
  return 'sent';
};
const CARRIED_OUT = "the step 'defect' of this job has carried out";
const WAS_CREATION = "the step 'defect' was defects/create";

it.each<[string, CustomRun, CustomRun, 'lost' | 'whole', string]>([
  ['a creation that is renamed', waits, renamed, 'whole', CARRIED_OUT],
  ['one without an answer that is renamed', waits, renamed, 'lost', CARRIED_OUT],
  ['one without an answer that became a message', waits, becameMessage, 'lost', WAS_CREATION],
  ['one without an answer that became a call', waits, becameCall, 'lost', WAS_CREATION],
  ['a creation that is sent by its path', waits, byPath, 'whole', 'use create()'],
  ['two in the other order', inOrder('a', 'b'), inOrder('b', 'a'), 'whole', "reaches 'b' without it"],
])('changed code does nothing twice: %s', async (_, before, after, answer, reason) => {
  const { file, made } = await start(before);
  if (answer === 'lost') relay.sandbox.setFault({ kind: 'cut', when: 'after work', operation: '/defects/create' });
  await relay.work();
  const first = made();
  expect(first).toBeGreaterThan(0);
  relay.sandbox.clearFaults();
  file.run = (_, steps) => after(steps);
  await relay.workToTheEnd();
  await isParked(expect.stringContaining(reason));
  expect(made()).toBe(first);
});

type Acts = (steps: Steps) => Promise<unknown>;
const doing =
  (act: Acts): CustomRun =>
  async (steps) => {
    await act(steps);
    return 'done';
  };
const keeps =
  (kept: unknown): Acts =>
  ({ call }) =>
    call('read', 'tasks/list', { project_id: PROJECT }, () => kept as null);

const parks = (step: string, reason: string, act: Acts) =>
  it(`the job parks at once if a step ${step}`, async () => {
    await start(doing(act));
    await relay.work();
    await isParked(expect.stringContaining(reason));
  });
parks('keeps undefined in a list', 'keeps a list with undefined', keeps([1, undefined, 2]));
parks('keeps a big number', 'keeps a bigint', keeps(1n));
parks('keeps a function', 'keeps a function', keeps({ at: () => 1 }));
parks('keeps NaN', 'keeps a NaN', keeps([Number.NaN]));
parks('keeps 33 KB', 'at most 32768', keeps('x'.repeat(33_000)));
parks('keeps a row of 3 KB', 'at most 2048', ({ list }) =>
  list('rows', 'tasks/list', { project_id: PROJECT }, () => 'x'.repeat(3_000)),
);
parks('is named as the page of a list', "'task 1' is used twice", async ({ list, call }) => {
  await list('task', 'tasks/list', { project_id: PROJECT }, () => 1);
  await call('task 1', 'tasks/list', { project_id: PROJECT }, () => 1);
});
parks('comes twice in a loop', "'tell' is used twice", async ({ say }) => {
  for (const text of ['a', 'b']) await say('tell', { channel: 'C0PLATFORM' }, text);
});
for (const name of ['reply', 'not done', 'say that it is parked: 1', 'ask: asked'])
  parks(`is named ${name}`, `the relay itself names a step '${name}'`, ({ say }) =>
    say(name, { channel: 'C0PLATFORM' }, 'hello'),
  );
for (const path of [
  '/repos/acme/web',
  `/repos/${REPOSITORY}/../../acme/web`,
  `/repos/${REPOSITORY}/%2e%2e/%2E%2E/acme/web`,
  `/repos/${REPOSITORY}/..%2f..%2Facme/web`,
  `/repos/${REPOSITORY}/contents/%2e%2e%5cweb`,
  `//${REPOSITORY}`,
  `https://${REPOSITORY}`,
  `/users/${REPOSITORY}`,
  `\\\\evil/repos/${REPOSITORY}`,
  `/repos/${REPOSITORY}\n/../../acme/web`,
  `https://api/repos/${REPOSITORY}/branches`,
])
  parks(`reads ${JSON.stringify(path)}`, "the step 'read' n", ({ github }) =>
    github('read', path, z.unknown() as never),
  );
const noPaths = [
  '../v1/admin',
  'https://evil.example',
  'tasks/%2e%2e/x',
  'a?b',
  'a b',
  'defects/create/',
  'constructor',
];
for (const path of noPaths) {
  const reason = `the step 'sent' cannot be sent: operation path '${path}'`;
  parks(`sends to ${path}`, reason, ({ send }) => send('sent', path, {}));
}
for (const time of [NOON / 1_000, NOON * 1_000_000, -5, '2300-01-01T00:00:00Z', 'soon']) {
  const reason = `the step 'later' waits until '${time}', which is not a time between 2000 and 2100`;
  parks(`waits until ${time}`, reason, ({ until }) => until('later', time));
}
parks('has a name of 201 characters', 'has a name of 201 characters; 200 is the most', ({ call }) =>
  call('x'.repeat(201), 'tasks/list', { project_id: PROJECT }),
);

it.each(['{branch}', '{+authorization}', '{headers}', ':owner', '%7Bx%7D', 'a#b'])(
  'a path of GitHub keeps %s',
  async (text) => {
    const { fetched } = await start(async ({ github }) => {
      await github('read', `/repos/${REPOSITORY}/branches/${text}?ref=${text}`, z.unknown() as never);
      return 'read it';
    });
    await relay.workToTheEnd();
    const { pathname, search } = new URL(fetched.find((url) => url.includes('/branches/')) ?? '');
    const plain = decodeURIComponent(text);
    expect(decodeURIComponent(pathname + search)).toBe(`/repos/${REPOSITORY}/branches/${plain}?ref=${plain}`);
  },
);

const ends = (step: string, act: Acts) =>
  it(`a run ends with a step ${step}`, async () => {
    await start(doing(act));
    await relay.work();
    expect(await relay.jobs()).toMatchObject([{ status: 'waiting', dueAt: Date.parse(tomorrow) }]);
    expect(relay.slack.messages).toEqual([]);
  });
ends('that its code catches', async ({ until, say }) => {
  await until('later', tomorrow).catch(() => undefined);
  await say('tell', { channel: 'C0PLATFORM' }, 'too early').catch(() => undefined);
});
ends('that its code does not wait for', async ({ until }) => {
  void until('later', tomorrow);
});

const ids = [101, 102, 103];
const outOfTurn = 'Steps run one after the other: await each, in a list with for (const one of all)';

/** @param completed the number of complete items */
const fails = (step: string, reason: string | RegExp, completed: number, act: Acts) =>
  it(`no process ends, and no job succeeds, because of a step ${step}`, async () => {
    const heard = await rejectionsHeard(async () => {
      await start(doing(act));
      await relay.workToTheEnd();
    });
    expect(heard).toEqual([]);
    await isParked(typeof reason === 'string' ? reason : expect.stringMatching(reason));
    const items = relay.sandbox.data.checklistItems.filter(({ item_id }) => ids.includes(Number(item_id)));
    expect(items.filter(({ is_completed }) => is_completed)).toHaveLength(completed);
    expect(relay.slack.messages).toEqual([]);
  });
const second = `the step 'complete 102' begins while 'complete 101' is under way. ${outOfTurn}`;
fails('of an async forEach', second, 1, async ({ call, say }) => {
  ids.forEach(async (id) => {
    await call(`complete ${id}`, COMPLETE, done(id));
    await say(`tell ${id}`, { channel: 'C0PLATFORM' }, `completed ${id}`);
  });
});
fails('of Promise.all', second, 1, ({ call }) =>
  Promise.all(ids.map((id) => call(`complete ${id}`, COMPLETE, done(id)))),
);
fails(
  'of a chain, in which the second one fails',
  `run returned while the step 'first' was under way. ${outOfTurn}`,
  1,
  async ({ call, say }) => {
    void (async () => {
      await call('first', COMPLETE, done(101));
      await say('second', { email: 'nobody@example.com' }, 'lost');
    })();
  },
);
fails(
  'whose promise is in a variable, and waited for too late',
  `the step 'second' begins while 'first' is under way. ${outOfTurn}`,
  1,
  async ({ call, say }) => {
    const later = call('first', COMPLETE, done(101));
    await say('second', { channel: 'C0PLATFORM' }, 'hello');
    await later;
  },
);
const tooLate = `the step 'late' begins after run has returned. ${outOfTurn}`;
fails('that begins right after run has returned', tooLate, 0, async ({ call }) => {
  void turn().then(() => call('late', COMPLETE, done(101)));
});
const refused = /^(run returned while|work-items\/checklist\/items\/complete: refused with status 404)/;
fails('that is refused', refused, 0, async ({ call }) => {
  void call('refused', COMPLETE, done(999));
  await turn();
});
const mistake = /^TypeError at automations\/mine\.ts/;
fails('that its code waits for behind a mistake of its own', mistake, 1, async ({ call }) => {
  void (async () => {
    await turn();
    (undefined as unknown as CustomRun[]).forEach(() => {});
  })();
  await call('first', COMPLETE, done(101));
  await turn();
});
fails('in front of which a timer throws', mistake, 0, async ({ call }) => {
  setImmediate(() => (undefined as unknown as CustomRun[]).forEach(() => {}));
  await turn();
  await turn();
  await call('first', COMPLETE, done(101));
});

it('the log has the file of a promise that fails after the job has ended, and no part of a payload', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await start(async ({ call }) => {
    void released.then(() => call('late', COMPLETE, done(101)));
    void released.then(() => Promise.reject(new Error(SECRET)));
    return 'done';
  });
  await relay.workToTheEnd();
  expect(await relay.jobs()).toMatchObject([{ status: 'succeeded' }]);
  release();
  await turn();
  const [job] = await relay.jobs();
  for (const error of [/^the step 'late' begins after run has returned/, /^Error at /])
    expect(relay.log).toContainEqual({ message: STRAY, jobId: job?.id, error: expect.stringMatching(error) });
  expect(JSON.stringify(relay.log)).not.toContain(SECRET);
  expect(relay.sandbox.audit).toEqual([]);
});

it('a creation without an answer that nothing awaits is sent again, and then the job parks', async () => {
  const { made } = await start(async ({ create }) => {
    void create('defect', 'defects/create', defect);
    return 'done';
  });
  relay.sandbox.setFault({ kind: 'cut', when: 'on arrival', operation: '/defects/create', times: 1 });
  await relay.workToTheEnd();
  expect(made()).toBe(1);
  await isParked(expect.stringContaining("step 'defect' was under"), 'needs an operator');
});

it('an error that a run throws is tried again, and its text is not shown', async () => {
  await start(async ({ call }) => {
    await call('read', 'tasks/list', { project_id: PROJECT }, () => JSON.parse(SECRET));
    return 'done';
  });
  await relay.workToTheEnd();
  expect(await relay.jobs()).toMatchObject([{ parked: { reason: expect.stringContaining('SyntaxError at ') } }]);
  expect(JSON.stringify(relay.log)).not.toContain(SECRET);
});

it('each question has its own answer, whatever the clock of the person who answers shows', async () => {
  const { replay } = await start(async ({ ask }) => {
    const first = await ask('first', 'May it?');
    const second = await ask('second', 'Sure?');
    return `${first.answer}, ${second.answer}`;
  });
  await relay.work();
  await replay('yes', relay.clock.now - 600_000);
  await relay.work();
  expect(await relay.jobs()).toMatchObject([{ parked: { reason: expect.stringMatching(/^Sure\?/) } }]);
  await replay('very', relay.clock.now + 600_000);
  await relay.work();
  expect(await relay.jobs()).toMatchObject([{ status: 'succeeded', outcome: 'yes, very' }]);
});

it("a team's jobs use at most two workers of a queue, even when an operator resumes them early", async () => {
  const { file } = await start(waits);
  file.on = github('issues.opened', {
    input: { title: z.string() },
    job: ({ issue: { id, title } }) =>
      Array.from({ length: 20 }, (_, part) => ({ happened: [id, part], entity: `part ${part}`, input: { title } })),
  });
  await relay.post('issues', issueEvent('opened', { id: 2, labels: [], title: 'Waits' }));
  await relay.work();
  for (const job of await relay.jobs('waiting'))
    await requeueJob(job, relay.stores, { at: relay.clock.now, by: 'mira', what: 'resumed' });
  await relay.post('issues', issueEvent('opened', { id: 3 }));
  const received: string[] = [];
  for (const queue of relay.stack.queues)
    for (let message = queue.receive(); message; message = queue.receive())
      received.push(JSON.parse(message.body).jobId.replace(/-[0-9a-f]{20}$/, ''));
  expect(received.filter((name) => name === 'mine')).toHaveLength(2);
  expect(received.filter((name) => name !== 'mine')).toEqual(['issue-to-defect']);
});

it("an outsider's text gives no command if a team's comment quotes it with a person's token", async () => {
  const quoting = github('issues.opened', {
    by: 'anyone',
    input: { body: z.string(), issue: z.number() },
    job: ({ issue }) => ({ happened: [issue.id], input: { body: issue.body ?? '', issue: issue.number } }),
  });
  const thanks = {
    on: quoting,
    run: async ({ body, issue }: { body: string; issue: number }, { comment }: Steps) => {
      await comment('thanks', { repository: REPOSITORY, issue }, `Thank you! We read:\n\n${body}`);
      return 'thanked';
    },
  };
  relay = await startRelay({ own: { thanks }, github: { token: 'ghp_x' } });
  const by = { user: { login: 'mallory', id: 666, type: 'User' }, author_association: 'NONE' };
  const sender = { sender: by.user };
  const body = 'Hello\n/done 101\n';
  await relay.post('issues', issueEvent('opened', { id: 5, labels: [], body, ...by, extra: sender }));
  await relay.workToTheEnd();
  const [made] = relay.github.comments;
  expect(made?.body).toContain('\n\\/done 101\n');
  // GitHub delivers it as a comment of the person, who may give commands. An older version did not escape the slash.
  for (const [id, body = ''] of [made?.body, made?.body.replace('\\/', '/')].entries()) {
    relay.github.written.set(600_001 + id, body);
    const { answer } = await relay.post('issue_comment', commentPayload(id + 1, body));
    expect(answer).toMatchObject({ jobs: [], ignored: 'commands in comments of the relay are ignored' });
  }
});
