import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { JobDetail, JobPage, LinkPage, Now } from '../../console/contract.ts';
import type { ActionResult } from '../../console/requests.ts';
import { isOver, type Job } from '../../lib/engine/record/job.ts';
import { createJobStore, type JobStore } from '../../lib/engine/record/job-store.ts';
import { openJournal } from '../../lib/engine/record/journal.ts';
import { takeDelivery } from '../../lib/intake/github/receive-delivery.ts';
import { createLinks, type Links } from '../../lib/links/links.ts';
import { keys } from '../../lib/state/table/keys.ts';
import { createTable, type Table } from '../../lib/state/table/table.ts';
import custom from '../../lib/triggers/custom-automation.ts';
import { signedByTool } from '../../local/examples/signed-request.ts';
import { type SlackStandIn, startSlackStandIn } from '../../local/slack/stand-in.ts';
import { defaultKey, type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { linkAccount } from '../account-link-browser.ts';
import { sandboxCommands } from '../as-person/linked.ts';
import { isWithoutBrowser } from '../chromium.ts';
import { askConsole as ask } from '../console/ask-console.ts';
import { type GithubApi, startGithubApi } from '../github-api.ts';
import { githubExamples, issueEvent, movedBy } from '../issue-events.ts';
import { exampleConfig } from '../relay.ts';
import { githubDelivery, SIGNING_SECRET } from '../requests.ts';
import { commandForm, postToSlack, command as typed } from '../slack-requests.ts';
import { openConsole } from '../web/console-page.ts';
import { borrowCredentials } from './borrowed-credentials.ts';
import { copyProject, type Deployment, type StackOutputs } from './deployment.ts';
import { type Answer, type Emulator, findEmulator } from './emulator.ts';
import { commandsOf } from './page-commands.ts';
import { createPeopleRoles, type PeopleRoles } from './people.ts';
import { openScratch, type Scratch } from './scratch.ts';

/** The latest time at which the test ends, and says what it was waiting for. */
const WHOLE_TEST_MS = 15 * 60_000;
const TWO_MINUTES_MS = 120_000;
/** The functions use the real clock, and ignore events that GitHub would no longer redeliver. */
const STARTED_AT = Date.now();
/** Most of GitHub's examples about issues are from the day before. */
const EXAMPLES_AT = Date.parse('2019-05-16T12:00:00Z');
/** A function reads a changed secret at most once a minute. */
const LOOK_AGAIN_MS = 61_000;
const BOT_TOKEN = 'xoxb-of-the-emulator';
const TEAM = {
  name: 'platform',
  connection: 'main',
  timeZone: 'Europe/Berlin',
  remindAt: '16:30',
  hours: { mon: 8, tue: 8, wed: 8, thu: 8, fri: 8 },
  people: ['mira.novak@example.com'],
};
const REPOSITORY = 'Codertocat/Hello-World';
const ADDED_REPOSITORY = 'Codertocat/Added-Later';

const deadline = AbortSignal.timeout(WHOLE_TEST_MS);

/** Repeats a check until it returns something. */
async function until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    await setTimeout(100, undefined, { signal: deadline }).catch(() => {
      throw new Error(`the time of the whole test was over, and there was still not: ${what}`);
    });
  }
}

/** One story in order: each part begins where the one before it ended. */
describe('the stack on an AWS emulator', () => {
  let scratch: Scratch;
  let emulator: Emulator;
  let sandbox: Sandbox;
  let github: GithubApi;
  let slack: SlackStandIn;
  let deployment: Deployment;
  let secretsManager: SecretsManagerClient;
  let sqs: SQSClient;
  let outputs: StackOutputs;
  let table: Table;
  let jobs: JobStore;
  let links: Links;
  let people: PeopleRoles<'Reader' | 'Operator'> | undefined;
  let webhookSecret: string = randomUUID();
  let hasFailed = false;

  beforeAll(async () => {
    scratch = await openScratch();
    emulator = await findEmulator(scratch, deadline);
    sandbox = await startSandbox({ mcp: { enabled: true } });
    github = await startGithubApi(Date.now);
    slack = await startSlackStandIn({ clock: Date.now, botToken: BOT_TOKEN });
    secretsManager = new SecretsManagerClient(emulator.client);
    sqs = new SQSClient(emulator.client);
    // An emulator that is already running may still have the stage of another run.
    const stage = `emulated-${randomBytes(3).toString('hex')}`;
    deployment = await copyProject(stage, { emulator, scratch, signal: deadline });
    await deployment.configure(config());
  });

  beforeEach(({ skip }) => skip(hasFailed, 'an earlier part of the story failed'));

  afterEach(({ task }) => {
    if (task.result?.state !== 'fail') return;
    hasFailed = true;
    console.error(`The emulator printed last:\n${emulator.log()}`);
  });

  afterAll(async () => {
    try {
      if (emulator?.isOwn === false) {
        await people?.remove();
        await deployment?.destroy();
      }
    } finally {
      await Promise.all([sandbox?.close(), github?.close(), slack?.close(), scratch?.close()]);
    }
  });

  const config = (also: string[] = []) => ({
    ...exampleConfig(
      {},
      {
        apiUrl: github.url,
        also,
        slack: { apiUrl: `${slack.url}/api` },
        timesheets: { teams: [TEAM] },
        connection: { mcp: { accounts: 'offered', commands: sandboxCommands() } },
      },
    ),
    contactChannel: 'C0PLATFORM',
  });

  function post(
    payload: unknown,
    { event = 'issues', secret = webhookSecret, url = outputs.GithubWebhookUrl } = {},
  ): Promise<Answer> {
    const { headers, body } = githubDelivery(event, payload, { secret });
    return emulator.send(url, headers, String(body));
  }

  /** The event of a new issue with the label `bug`. */
  const opened = (id: number, name?: string) => {
    const event = issueEvent('opened', { id, from: STARTED_AT, ...(name && { repository: name }) });
    // With the same id, it would be the other repository, renamed.
    return name ? { ...event, repository: { ...Object(event.repository), id: 4_711 } } : event;
  };

  /** Posts a delivery that the relay must accept. @returns the ids of its jobs */
  async function deliver(...delivery: Parameters<typeof post>): Promise<string[]> {
    const answer = await post(...delivery);
    expect(answer.status, answer.text).toBeOneOf([200, 202]);
    return JSON.parse(answer.text).jobs ?? [];
  }

  /** Posts a delivery that must make one job. @returns its id */
  async function deliverOne(...delivery: Parameters<typeof post>): Promise<string> {
    const [id, ...more] = await deliver(...delivery);
    expect(more).toEqual([]);
    if (id === undefined) throw new Error('the delivery was ignored');
    return id;
  }

  const ended = (id: string, store = jobs) =>
    until(`the end of ${id}`, async () => {
      const job = await store.get(id);
      return job && (isOver(job) || job.status === 'parked') && job;
    });

  const defectsOf = (issue: number, repository = REPOSITORY) =>
    sandbox.data.defects.filter(({ description }) =>
      description.includes(`https://github.com/${repository}/issues/${issue}\n`),
    );

  const deadLetters = (queueUrl: string) => queueUrl.replace(/\.fifo$/, '-dead.fifo');

  async function messagesIn(QueueUrl: string): Promise<{ visible: number; hidden: number }> {
    const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
    return {
      visible: Number(Attributes.ApproximateNumberOfMessages),
      hidden: Number(Attributes.ApproximateNumberOfMessagesNotVisible),
    };
  }

  async function emptyQueues(): Promise<void> {
    const queues = [outputs.InteractiveQueueUrl, outputs.BackgroundQueueUrl];
    for (const url of [...queues, ...queues.map(deadLetters)]) {
      await until(`an empty ${url}`, async () => {
        const { visible, hidden } = await messagesIn(url);
        return visible + hidden === 0;
      });
    }
  }

  async function enter(name: string, value: object | string): Promise<void> {
    const SecretString = typeof value === 'string' ? value : JSON.stringify(value);
    await secretsManager.send(new PutSecretValueCommand({ SecretId: outputs.SecretPrefix + name, SecretString }));
  }

  const enterWebhookSecret = () => enter('github-webhook', { webhookSecret });

  it('is bootstrapped and deployed by the CDK CLI', async () => {
    await deployment.bootstrap();
    await deployment.deploy();
    outputs = await deployment.outputs();
    table = createTable(new DynamoDBClient(emulator.client), outputs.TableName, Date.now);
    jobs = createJobStore(table, Date.now);
    links = createLinks(table, Date.now);
  });

  it('accepts nothing before its secrets are entered, and needs no deployment for them', async () => {
    const ping = () => post({ zen: 'Design for failure.' }, { event: 'ping' });
    expect(await ping()).toMatchObject({ status: 500 });
    await enter('github-webhook', { token: 'ghp_example' });
    expect(await ping()).toMatchObject({ status: 500 });
    await enter('github-webhook', 'no JSON');
    expect(await ping()).toMatchObject({ status: 500 });
    await enterWebhookSecret();
    await until('a function that reads the secret again', async () => (await ping()).status === 200);
    await enter('github', { token: 'ghp_example' });
    await enter('partner/main', { baseUrl: sandbox.url, ...defaultKey });
    await enter('instance/main', { baseUrl: sandbox.url });
    await enter('slack', { signingSecret: SIGNING_SECRET, botToken: BOT_TOKEN });
  });

  let neverQueued: string;
  it('has a job whose sender died before it was queued', async () => {
    const delivery = { event: 'issues', deliveryId: randomUUID(), payload: opened(2) };
    const jobs = createJobStore(table, () => Date.now() - TWO_MINUTES_MS);
    const [taken] = await takeDelivery(delivery, { config: exampleConfig(), custom, links, jobs });
    if (!taken || typeof taken === 'string' || !taken[0]) throw new Error('the delivery makes no job');
    const [{ draft, keepState }] = taken;
    await keepState?.();
    // As the webhook would have done some time ago.
    const { job } = await jobs.store(draft);
    expect(job.wakeAt).toBeLessThan(Date.now());
    neverQueued = job.id;
  });

  it("creates one defect from GitHub's examples about one issue, and accepts nothing that GitHub did not sign", async () => {
    expect(await post(opened(1), { secret: 'somebody else' })).toMatchObject({ status: 401 });

    const accepted = new Set<string>();
    const actions = new Set<unknown>();
    for (const { name, examples } of githubExamples) {
      if (name !== 'issues' && name !== 'ping') continue;
      for (const example of examples) {
        const { issue } = example as { issue?: { updated_at: string } };
        // Some examples are from years later, and GitHub sends no event from the future.
        const at = Math.max(EXAMPLES_AT, Date.parse(issue?.updated_at ?? '') || 0);
        for (const id of await deliver(movedBy(STARTED_AT - at, example), { event: name })) {
          accepted.add(id);
          actions.add(example.action);
        }
      }
    }
    expect(accepted.size).toBeGreaterThan(1);
    expect(actions).toEqual(new Set(['opened', 'labeled', 'edited', 'unlabeled', 'reopened']));
    for (const id of accepted) expect(await ended(id)).toMatchObject({ status: 'succeeded' });
    expect(defectsOf(1)).toHaveLength(1);
    await emptyQueues();
  });

  it('keeps the record of its work, and comments on the issue', async () => {
    const id = await deliverOne(opened(3));
    expect(await ended(id)).toMatchObject({ status: 'succeeded', attempts: 0 });

    const [defect] = defectsOf(3);
    expect(await links.get('issue-9003')).toMatchObject({ claim: { by: id }, defect: { id: defect?.defect_id } });
    const journal = await openJournal(table, id, Date.now);
    expect(journal.entries().map(({ step, status }) => [step, status])).toEqual([
      ['create-defect', 'done'],
      ['comment', 'done'],
    ]);
    const comments = github.comments.filter(({ issue }) => issue === 'Codertocat/Hello-World#3');
    expect(comments.map(({ body }) => body)).toEqual([expect.stringContaining(`\`${defect?.defect_id}\``)]);
    await emptyQueues();
  });

  /** The table, with the rights of a function. */
  async function tableOf(slug: string): Promise<Table> {
    const found = await new LambdaClient(emulator.client).send(
      new GetFunctionConfigurationCommand({ FunctionName: `partner-relay-${deployment.stage}-${slug}` }),
    );
    const credentials = await borrow(slug, found.Role);
    return createTable(new DynamoDBClient({ ...emulator.client, credentials }), outputs.TableName, Date.now);
  }

  const borrow = (name: string, Role: string | undefined) =>
    borrowCredentials(emulator, scratch, { FunctionName: `${deployment.stage}-probe-${name}`, Role });

  /** The parts that a person in Slack reaches, on the real clock. */
  const inSlack = () => ({
    slack,
    sandbox,
    slackUrl: z.string().parse(outputs.SlackWebhookUrl),
    clock: { now: Date.now() },
    fetch: emulator.fetch,
  });

  /** Types a command in Slack. @returns the immediate answer */
  const command = (text: string) => typed(inSlack(), text);

  const said = (what: RegExp) => until(String(what), async () => slack.messages.some(({ text }) => what.test(text)));

  it("carries out a person's request in Slack, opens the form, and accepts nothing that Slack did not sign", async () => {
    const forged = commandForm(inSlack(), 'done 101').toString();
    expect(await postToSlack(inSlack(), forged, { secret: 'somebody else' })).toMatchObject({ status: 401 });

    expect(await command('done 101')).toMatchObject({ status: 200, body: expect.stringContaining('Working on it') });
    await said(/Completed checklist item 101/);
    expect(await command('log 1h30m "Login with passkeys" wrote tests')).toMatchObject({ status: 200 });
    await said(/Logged 1h30m on Login with passkeys today/);
    expect(await command('defect')).toMatchObject({ status: 200, body: '' });
    await until('the projects in the form', async () => slack.views[0]?.replaced.length === 1);
    expect(await command('status')).toMatchObject({ status: 200, body: expect.stringContaining('Logged 1h30m') });
    await emptyQueues();
  });

  it('links an account with a browser, and calls tools with it', async () => {
    expect(await linkAccount(inSlack())).toContain('Your account is linked');
    const [person] = sandbox.mcp.people;

    await command('log 45m "Login with passkeys" as myself');
    await said(/Logged 45m on Login with passkeys in your name/);
    expect(sandbox.mcp.calls).toMatchObject([{ tool: 'find_tasks' }, { tool: 'log_time', user_id: person?.user_id }]);
    await emptyQueues();
  });

  it('refreshes an access token, and asks a person with a revoked link to link again', async () => {
    const refreshes = () => sandbox.mcp.audit.filter(({ calls }) => calls.includes('refresh_token')).length;
    sandbox.setFault({ kind: 'token-expired', operation: '/mcp/partner', times: 1 });
    await command('log 30m "Login with passkeys" refreshed');
    await said(/Logged 30m on Login with passkeys in your name/);
    expect(refreshes()).toBe(1);

    sandbox.mcp.revokeGrants();
    await command('log 15m "Login with passkeys" linked again');
    await said(/Link your account in Slack/);
    await linkAccount(inSlack());
    await command('log 15m "Login with passkeys" linked again');
    await said(/Logged 15m on Login with passkeys in your name/);
    await emptyQueues();
  });

  /** Parks the job of an issue: the service refuses it until a person decides. @returns its id */
  async function park(issue: number): Promise<string> {
    for (const key of sandbox.keys) key.scopes = [];
    const id = await deliverOne(opened(issue));
    expect(await ended(id)).toMatchObject({ status: 'parked' });
    for (const key of sandbox.keys) key.scopes = ['*'];
    return id;
  }

  let parked: string;
  it("notifies the contact's channel about parked jobs", async () => {
    parked = await park(14);
    await deployment.relay('run', 'job-sweep');
    await said(/A job has been parked/);
    expect(slack.messages.filter(({ text }) => text.includes('A job has been parked'))).toMatchObject([
      { channel: 'C0PLATFORM', text: expect.stringContaining(`--stage ${deployment.stage} `) },
    ]);
  });

  /** The ARN of a session with that role. */
  const sessionOf = (role: string) => expect.stringContaining(`:assumed-role/${role.split('/').at(-1)}/`);

  it('shows its console with the rights to read it, which allow no change', async () => {
    people = await createPeopleRoles(emulator, `${deployment.stage}-people`, {
      Reader: outputs.ConsoleReadPolicyArn,
      Operator: outputs.ConsoleOperatePolicyArn,
    });
    const reader = await borrow('reader', people.arns.Reader);
    const consoles = [deployment.console(reader), deployment.console(reader, '--operate')] as const;
    const [address, changing] = await Promise.all(consoles);
    const read = async <T>(path: string): Promise<T> => {
      const { status, answer } = await ask<T>(address, path);
      expect(status, `${path}: ${JSON.stringify(answer)}`).toBe(200);
      return answer;
    };
    const facts = { name: deployment.stage, operate: false, operator: sessionOf(people.arns.Reader), canTry: false };
    expect(await read('/api/relay')).toMatchObject(facts);
    // The service's address is in a secret that a reader may not read.
    const { counts, connections } = await read<Now>('/api/now');
    expect(counts).toMatchObject({ parked: { jobs: 1 } });
    expect(connections).toEqual([expect.not.objectContaining({ service: expect.anything() })]);
    expect((await read<JobPage>('/api/jobs?status=parked')).jobs).toMatchObject([{ id: parked }]);
    const { steps, next } = await read<JobDetail>(`/api/jobs/${parked}`);
    expect(steps).toMatchObject([{ step: 'create-defect', sends: [{ httpStatus: 403 }] }]);
    expect(next.actions).toContain('replay');
    expect(await read('/api/parked')).toMatchObject({ groups: [{ jobs: [{ id: parked }] }] });
    for (const links of ['/api/links', `/api/links?find=${encodeURIComponent(`${REPOSITORY}#3`)}`]) {
      expect((await read<LinkPage>(links)).links).toContainEqual(
        expect.objectContaining({ issue: `${REPOSITORY}#3`, defectId: String(defectsOf(3)[0]?.defect_id) }),
      );
    }

    const replay = { do: 'replay' };
    expect(await ask(address, `/api/jobs/${parked}`, replay)).toMatchObject({ status: 403 });
    const { answer } = await ask<ActionResult>(changing, `/api/jobs/${parked}`, replay);
    expect(answer.results).toEqual([{ id: parked, ok: false, text: expect.stringContaining('not authorized') }]);
    expect(await jobs.get(parked)).toMatchObject({ status: 'parked' });
    expect((await command('unlink')).text).toContain('forgotten');
  });

  it("accepts an operator's decisions in the console, under their name", async () => {
    if (!people) throw new Error('there are no roles');
    const other = await park(15);
    const address = await deployment.console(await borrow('operator', people.arns.Operator), '--operate');
    const [connection] = (await ask<Now>(address, '/api/now')).answer.connections;
    expect(connection).toMatchObject({ service: sandbox.url });
    const discard = { do: 'discard', reason: 'Nobody needs it.' };
    if (isWithoutBrowser) await ask(address, `/api/jobs/${parked}`, { do: 'replay' });
    else await replayInBrowser(address, parked);
    expect(await ask(address, `/api/jobs/${other}`, discard)).toMatchObject({ answer: { results: [{ ok: true }] } });
    const decidedBy = { by: sessionOf(people.arns.Operator) };
    const replayed = await until('the end of what was replayed', async () => {
      const job = await jobs.get(parked);
      return job?.status === 'succeeded' && job;
    });
    expect(replayed.decisions?.newest).toMatchObject([{ ...decidedBy, what: 'replayed' }]);
    expect(await ended(other)).toMatchObject({
      status: 'not-done',
      decisions: { newest: [{ ...decidedBy, what: 'discarded', reason: discard.reason }] },
    });
    expect([defectsOf(14), defectsOf(15)]).toMatchObject([[{}], []]);
    await emptyQueues();
  });

  async function replayInBrowser(address: string, id: string): Promise<void> {
    const { page, go, complaints } = await openConsole(address, { time: 'real' });
    await page.getByText('Live', { exact: true }).waitFor();
    await go(`jobs/${id}`);
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Replay' }).click();
    await page.getByText('Done').first().waitFor();
    expect(complaints).toEqual([]);
  }

  it('refuses each function the items of other functions', async () => {
    const key = (pk: string) => ({ pk, sk: 'of the test' });
    const refused = /not authorized/;
    const asWebhook = await tableOf('github-webhook');
    expect(await asWebhook.get(key('job#1'))).toBeUndefined();
    await expect(asWebhook.get(key('budget#main'))).rejects.toThrow(refused);
    await expect(asWebhook.put(key('person#1'))).rejects.toThrow(refused);
    await expect(asWebhook.put(key('budget#main'))).rejects.toThrow(refused);
    await expect(asWebhook.delete(key('job#1'))).rejects.toThrow(refused);
    await expect(asWebhook.partition('job#1')).rejects.toThrow(refused);

    const asPages = await tableOf('account-link');
    await expect(asPages.get(keys.grant('slack', 'U0MIRA001', 'main'))).rejects.toThrow(refused);

    const asSweep = await tableOf('job-sweep');
    await expect(asSweep.get(key('link#1'))).rejects.toThrow(refused);
  });

  it('creates no second defect from a repeated delivery', async () => {
    const { requests } = sandbox;
    const answer = await post(opened(3));
    expect(answer, answer.text).toMatchObject({ status: 200 });
    expect(JSON.parse(answer.text)).toMatchObject({ repeat: true });
    await emptyQueues();
    expect(sandbox.requests).toBe(requests);
    expect(defectsOf(3)).toHaveLength(1);
  });

  it('sets aside a message that crashes the worker a hundred times', async () => {
    const QueueUrl = outputs.InteractiveQueueUrl;
    const setVisibilityTimeout = (VisibilityTimeout: string) =>
      sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: { VisibilityTimeout } }));
    const read = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['VisibilityTimeout'] });
    const { Attributes: { VisibilityTimeout: deployed = '' } = {} } = await sqs.send(read);

    // A message becomes a dead letter after many receives, each after the visibility timeout, which would take hours.
    // So the timeout is short, and the test receives the message in between, because every receive counts.
    await setVisibilityTimeout('1');
    const message = { MessageBody: '{"not":"a job"}', MessageGroupId: 'broken', MessageDeduplicationId: 'broken' };
    await sqs.send(new SendMessageCommand({ QueueUrl, ...message }));
    await until('a worker that has the message', async () => (await messagesIn(QueueUrl)).hidden === 1);
    const receive = new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout: 0 });
    while ((await messagesIn(deadLetters(QueueUrl))).visible === 0) {
      deadline.throwIfAborted();
      await sqs.send(receive);
    }
    await setVisibilityTimeout(deployed);

    const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl: deadLetters(QueueUrl) }));
    expect(Messages.map(({ Body }) => Body)).toEqual([message.MessageBody]);
    for (const { ReceiptHandle } of Messages)
      await sqs.send(new DeleteMessageCommand({ QueueUrl: deadLetters(QueueUrl), ReceiptHandle }));
    await emptyQueues();
  });

  it('does not change with a second deployment', async () => {
    expect(await deployment.deploy()).toContain('(no changes)');
  });

  let underWay: string;
  let secretsReadBy: number;
  it('loses no job when a changed configuration is deployed', async () => {
    expect(await deliver(opened(4, ADDED_REPOSITORY))).toEqual([]);

    // The first job's call hangs while its worker is replaced. The others have not begun.
    sandbox.setFault({ kind: 'latency', ms: 30_000, operation: '/defects/create' });
    underWay = await deliverOne(opened(10));
    await until('a running job', async () => (await jobs.get(underWay))?.status === 'running');
    const others = [await deliverOne(opened(11)), await deliverOne(opened(12)), await deliverOne(opened(13))];

    await deployment.configure(config([ADDED_REPOSITORY]));
    expect(await deployment.deploy()).not.toContain('(no changes)');
    sandbox.clearFaults();

    others.push(await deliverOne(opened(4, ADDED_REPOSITORY)));
    for (const id of others) expect(await ended(id)).toMatchObject({ status: 'succeeded' });
    secretsReadBy = Date.now();
    for (const issue of [11, 12, 13]) expect(defectsOf(issue)).toHaveLength(1);
    expect(defectsOf(4, ADDED_REPOSITORY)).toHaveLength(1);
  });

  it('queues on schedule a job that was never queued', async () => {
    expect(await ended(neverQueued)).toMatchObject({ status: 'succeeded', generation: 2 });
    expect(defectsOf(2)).toHaveLength(1);
  });

  it('answers the command line, and replays a parked job', async () => {
    const id = await park(5);
    const listed = JSON.parse(await deployment.relay('jobs', '--status', 'parked', '--json'));
    expect(listed).toMatchObject([{ id }]);
    await deployment.relay('replay', id);
    expect(await ended(id)).toMatchObject({ status: 'succeeded' });
    expect(JSON.parse(await deployment.relay('job', id, '--json'))).toMatchObject({ id, status: 'succeeded' });
    expect(JSON.parse(await deployment.relay('budget', '--json'))).toMatchObject([{ connection: 'main' }]);
  });

  it('fires its schedules on request', async () => {
    const { checked } = JSON.parse(await deployment.relay('run', 'credential-check', '--json'));
    expect(checked.map(({ verdict }: { verdict: string }) => verdict)).toEqual(['good', 'good', 'good']);
    const redelivery = JSON.parse(await deployment.relay('run', 'github-redelivery', '--json'));
    expect(redelivery).toMatchObject({ refused: 0 });
    // A Friday. The people of the example have logged nothing in that week.
    const due = ['run', 'due-schedules', '--at', '2026-01-16T16:30'];
    expect(JSON.parse(await deployment.relay(...due, '--json'))).toMatchObject({ due: 1, jobs: [{ repeat: false }] });
    await said(/Your timesheet is missing 8h/);
    await emptyQueues();
  });

  it('accepts a rotated webhook secret without a deployment, and for some time the previous one', async () => {
    const before = webhookSecret;
    webhookSecret = randomUUID();
    await enterWebhookSecret();
    await until('a signature with the new secret that is taken', async () => (await post(opened(6))).status === 202);
    const ids = [await deliverOne(opened(6)), await deliverOne(opened(7), { secret: before })];
    for (const id of ids) expect(await ended(id)).toMatchObject({ status: 'succeeded' });
    expect(await post(opened(8), { secret: 'somebody else' })).toMatchObject({ status: 401 });
  });

  it('continues the job of a worker that was replaced', async () => {
    expect(await ended(underWay)).toMatchObject({ status: 'succeeded' });
    expect(defectsOf(10)).toHaveLength(1);
  });

  it('uses a rotated partner key without a deployment', async () => {
    // A worker that may not read the secret again yet would pause the connection for too long.
    await until('a worker that may look again', async () => Date.now() > secretsReadBy + LOOK_AGAIN_MS);
    const rotated = { ...defaultKey, apiKey: 'pk_rotated', secretKey: 'sk_rotated' };
    sandbox.keys.push(rotated);
    await enter('partner/main', { baseUrl: sandbox.url, ...rotated });
    sandbox.revokeKey(defaultKey.apiKey);
    expect(await ended(await deliverOne(opened(9)))).toMatchObject({ status: 'succeeded' });
    expect(defectsOf(9)).toHaveLength(1);
  });

  it('stores the jobs of a backfill with the command line', async () => {
    for (const issue of [20, 21, 22]) github.issues.set(`${REPOSITORY}#${issue}`, opened(issue).issue);
    const stored = await deployment.relay('backfill', REPOSITORY, '--go', '--json');
    expect(JSON.parse(stored)).toMatchObject({ stored: 3, parked: 0 });
  });

  /** A second stage. */
  let other: Deployment;
  const configureOther = (requestsPerSecond: number) => {
    // No account is linked there.
    const { connections } = exampleConfig();
    const { timesheets: _, contactChannel: __, ...rest } = config();
    return other.configure(
      { ...rest, connections },
      {
        httpApi: { requestsPerSecond },
        // The emulator's own network. It creates none with a NAT gateway, and no rules for endpoints.
        network: {
          existing: { vpcId: 'vpc-00000001', subnetIds: ['subnet-00000001'], securityGroupIds: ['sg-00000001'] },
        },
        rolePath: '/service/relay/',
        tags: { 'cost-center': '4711' },
      },
    );
  };

  it('is deployed behind an HTTP API, in a network, and by the rules of an account', async () => {
    other = await copyProject(`${deployment.stage}-2`, { emulator, scratch, signal: deadline });
    await configureOther(50);
    await other.deploy();
    const { GithubWebhookUrl, SecretPrefix } = await other.outputs();
    const SecretString = JSON.stringify({ webhookSecret });
    await secretsManager.send(new PutSecretValueCommand({ SecretId: `${SecretPrefix}github-webhook`, SecretString }));
    const ping = { zen: 'Keep it logically awesome.' };
    const sent = { event: 'ping', url: GithubWebhookUrl };
    expect(await post(ping, sent)).toMatchObject({ status: 200 });
    expect(await post(ping, { ...sent, secret: 'somebody else' })).toMatchObject({ status: 401 });
  });

  /** Deploys the second stage, and enters its missing secrets. @returns functions that reach it */
  async function deployOther(entered: Readonly<Record<string, object>>) {
    await other.deploy();
    const { GithubWebhookUrl, SlackWebhookUrl, HooksUrl, TableName } = await other.outputs();
    for (const [name, value] of Object.entries(entered)) {
      const typed = `echo '${JSON.stringify(value)}' | node cli/bin.js --stage ${other.stage} secrets set ${name}`;
      expect(await other.type(typed)).toContain('is stored');
    }
    const itsJobs = createJobStore(createTable(new DynamoDBClient(emulator.client), TableName, Date.now), Date.now);
    /** @returns the outcomes of the jobs in a webhook's or a command's answer */
    const outcomes = async (answer: string) => {
      const { jobs: named } = JSON.parse(answer) as { jobs: (string | { id: string })[] };
      const ids = named.map((one) => (typeof one === 'string' ? one : one.id));
      const all = await Promise.all(ids.map((id) => ended(id, itsJobs)));
      return all.map(({ automation, status }) => `${automation} ${status}`);
    };
    return { GithubWebhookUrl, SlackWebhookUrl: String(SlackWebhookUrl), HooksUrl, TableName, outcomes };
  }

  it("carries out a team's automations for each trigger, also after they were removed and restored", async () => {
    const secret = `whsec_${randomBytes(24).toString('base64')}`;
    const hook = { 'hooks/own-webhook': { secret } };
    const alert = (HooksUrl: string | undefined, id: string) => {
      const { headers, body } = signedByTool({ by: 'standard' }, JSON.stringify({ id, title: 'disk full' }), secret);
      return emulator.send(`${HooksUrl}/own-webhook`, headers, body);
    };
    for (const on of ['release.published', 'command', 'schedule', 'webhook'])
      await other.type(`node cli/bin.js new automation own-${on.replace('.published', '')} --on ${on}`);
    const { apiKey, secretKey } = sandbox.keys.at(-1) ?? defaultKey;
    const first = await deployOther({
      ...hook,
      'partner/main': { baseUrl: sandbox.url, apiKey, secretKey },
      slack: { signingSecret: SIGNING_SECRET, botToken: BOT_TOKEN },
    });

    const release = githubExamples
      .find(({ name }) => name === 'release')
      ?.examples.find((one) => one.action === 'published');
    const released = await post(release, { event: 'release', url: first.GithubWebhookUrl });
    expect(await first.outcomes(released.text)).toEqual(['own-release succeeded']);
    const slackUrl = first.SlackWebhookUrl;
    expect(await typed({ ...inSlack(), slackUrl }, 'own-command hello')).toMatchObject({ status: 200 });
    await said(/own-command saw hello/i);
    const monday = await other.relay('run', 'own-schedule', '--at', '2026-11-23T09:00', '--json');
    expect(await first.outcomes(monday)).toEqual(['own-schedule succeeded']);
    const alerted = await until('a function that has the secret', async () => {
      const answer = await alert(first.HooksUrl, '1');
      return answer.status === 200 && answer;
    });
    expect(await first.outcomes(alerted.text)).toEqual(['own-webhook succeeded']);

    // The table's limits depend on the limits of the API.
    await other.type('mv automations taken-out');
    await configureOther(20);
    const without = await deployOther({});
    expect(without.HooksUrl).toBeUndefined();
    // AWS changes the table in place, but MiniStack replaces it.
    expect(without.TableName === first.TableName).toBe(!emulator.isOwn);
    expect(await alert(first.HooksUrl, '2')).toMatchObject({ status: 404 });

    await other.type('mv taken-out automations');
    const again = await deployOther(hook);
    const back = await until('the webhook that is back', async () => {
      const answer = await alert(again.HooksUrl, '2');
      return answer.status === 200 && answer;
    });
    expect(await again.outcomes(back.text)).toEqual(['own-webhook succeeded']);
    if (!emulator.isOwn) await other.destroy();
  });

  it('creates the defects of the backfill, after the command that stored its jobs', async () => {
    await until('the end of the backfill', async () => [20, 21, 22].every((issue) => defectsOf(issue).length === 1));
  });

  it('follows the page about restoring the table, keeps events that arrive meanwhile, and finds forgotten ones', async () => {
    const restored = `${deployment.stage}-restored`;
    const existing = `partner-relay-${restored}`;
    const client = new DynamoDBClient(emulator.client);
    const since = new Date().toISOString();
    github.issues.set(`${REPOSITORY}#32`, opened(32).issue);
    const forgotten = await deliverOne(opened(32));
    expect(await ended(forgotten)).toMatchObject({ status: 'succeeded' });
    await emptyQueues();

    const asTyped = (shown: string) =>
      shown
        .replaceAll('prod-restored', restored)
        .replaceAll(/(?<=stage[ =])prod/g, deployment.stage)
        .replaceAll('<TableName>', outputs.TableName)
        .replaceAll(/2026-11-20T09:00(:00)?Z/g, since)
        .replaceAll('2026-11-20T09:40Z', new Date().toISOString());
    const commands = commandsOf('recovery.md', 'Restore the table');
    const saysThatItStopped = async (text: string) =>
      (await command(text)).body.includes('Your administrator has stopped Partner Relay');

    let kept = '';
    for (const shown of commands) {
      const isDeployment = shown.startsWith('npx partner-relay cdk deploy');
      if (isDeployment) {
        await deployment.configure(config([ADDED_REPOSITORY]), { table: { existing } });
        const copy = createTable(client, existing, Date.now);
        // The emulator restores the table's current items, including those from after the moment.
        await copy.delete(keys.job(forgotten));
        await copy.delete(keys.link('issue-9032'));
      }
      await deployment.type(asTyped(shown));
      if (shown.endsWith(' stop')) {
        kept = await deliverOne(opened(31));
        await until('the command that says so', () => saysThatItStopped('done 102'));
      }
      if (isDeployment) {
        table = createTable(client, existing, Date.now);
        jobs = createJobStore(table, Date.now);
        links = createLinks(table, Date.now);
        expect(await saysThatItStopped('status')).toBe(true);
        expect(await jobs.get(kept)).toMatchObject({ status: 'queued' });
        expect(defectsOf(31)).toEqual([]);
      }
    }

    const { TableNames } = await client.send(new ListTablesCommand({}));
    expect(TableNames).not.toContain(outputs.TableName);
    const [defect] = defectsOf(32);
    expect(await links.get('issue-9032')).toMatchObject({ life: 'made', defect: { id: defect?.defect_id } });
    expect(await ended(kept)).toMatchObject({ status: 'succeeded' });
    await said(/Completed checklist item 102/);
    const edited = issueEvent('edited', { id: 32, from: STARTED_AT, title: 'Known again', seconds: 9 });
    expect(await ended(await deliverOne(edited))).toMatchObject({ status: 'succeeded' });
    expect(defectsOf(32)).toEqual([expect.objectContaining({ title: expect.stringContaining('Known again') })]);
    expect(defectsOf(31)).toHaveLength(1);
  });

  it('ends with empty queues, and without unfinished jobs', async () => {
    await emptyQueues();
    const others: Job[] = [];
    for (const status of ['queued', 'running', 'waiting', 'parked'] as const) {
      others.push(...(await jobs.list(status, { limit: 100 })));
    }
    expect(others).toEqual([]);
  });
});
