import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { operationToCall } from '../../cli/call.ts';
import { connectionOf } from '../../cli/connection-of.ts';
import { openPartner } from '../../cli/partner.ts';
import { NoRelay, type Target } from '../../cli/target.ts';
import { defineConfig } from '../../lib/config/schema.ts';
import { createBudget } from '../../lib/service/budget/budget.ts';
import { callWithinBudget } from '../../lib/service/connection/operator-calls.ts';
import { createPartnerClient } from '../../lib/service/partner/client.ts';
import { PartnerPayloadError } from '../../lib/service/partner/errors.ts';
import { validate } from '../../lib/service/partner/operation.ts';
import { keepSecret } from '../../local/kept-secrets.ts';
import { defaultKey } from '../../sandbox/sandbox.ts';
import { workInNewFolder } from '../new-folder.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { targetOf } from './run-command.ts';

const limits = { perMinute: 120, perDay: 5_000 };
const fields = { user_id: 'id', email: 'mail' };
const config = exampleConfig({}, { connection: { operations: { 'users/list': { path: 'people/all', fields } } } });

let relay: TestRelay;
let told: string[];
beforeEach(async () => {
  relay = await startRelay({
    config,
    sandbox: { clock: Date.now, rename: { '/users/list': { path: '/people/all', fields } } },
  });
  told = [];
});
afterEach(async () => {
  vi.unstubAllEnvs();
});

const open = async () => targetOf(relay);
const openMain = (target = open) => openPartner('main', config, target, (line) => void told.push(line));
const used = async () => (await createBudget({ table: relay.stores.table }).view('main', limits)).minute.used;

/** Sets the `PARTNER_…` variables. */
function nameInstance(apiKey: string): void {
  vi.stubEnv('PARTNER_BASE_URL', relay.sandbox.url);
  vi.stubEnv('PARTNER_API_KEY', apiKey);
  vi.stubEnv('PARTNER_SECRET_KEY', defaultKey.secretKey);
}

describe('call', () => {
  it.each(['users/list', '/users/list', '//users/list'])('call applies the override to %s', async (name) => {
    const call = await openMain();
    const { data } = await call(operationToCall(name, false, 'main', config), { per_page: 1 });
    expect(data).toMatchObject([{ user_id: expect.any(String), email: 'integration@example.com' }]);
    expect(relay.sandbox.audit.map(({ endpoint }) => endpoint)).toEqual(['/people/all']);
  });

  it('call --raw uses neither schema nor override', async () => {
    const call = await openMain();
    const { data } = await call(operationToCall('/people/all', true, 'main', config), { per_page: 1, any: ['thing'] });
    expect(data).toMatchObject([{ id: expect.any(String), mail: 'integration@example.com' }]);
    expect(operationToCall('users/list', true, 'main', config)).toMatchObject({ path: 'users/list', fields: {} });
  });

  it.each([
    [['main', 'other'], undefined, 'main'],
    [['only'], undefined, 'only'],
    [['main', 'other'], 'other', 'other'],
    [['first', 'second'], undefined, /^name a --connection: relay\.config\.ts has first, second$/],
    [['main', 'other'], 'othr', /no connection 'othr'; did you mean 'other'\?$/],
  ])('with the connections %j, --connection %s means %s', (names, given, meant) => {
    const several = defineConfig({ connections: Object.fromEntries(names.map((name) => [name, {}])) });
    if (typeof meant === 'string') expect(connectionOf(several, given)).toBe(meant);
    else expect(() => connectionOf(several, given)).toThrow(meant);
  });

  it('without a relay, a call goes to the instance of the secret that this machine keeps', async () => {
    workInNewFolder();
    const { apiKey, secretKey } = defaultKey;
    keepSecret('partner/main', { baseUrl: relay.sandbox.url, apiKey, secretKey });
    const call = await openMain(() => Promise.reject(new NoRelay()));
    expect((await call(validate, { text: 'echo' })).data).toEqual({ text: 'echo' });
    expect(told).toEqual([expect.stringContaining('no budget is shared')]);
  });

  const KEY = defaultKey.apiKey;
  const noRelay = () => Promise.reject(new Error('no relay is running in this folder'));
  it.each<[string, number, () => Promise<Target>, string | undefined]>([
    ['the key is that of the relay', 1, open, undefined],
    ['the variables name the key of the relay', 1, open, KEY],
    ['no relay runs', 0, noRelay, KEY],
    ['the relay uses another key', 0, open, 'pk_of_another_team'],
  ])('if %s, a call takes %i slots of its budget, and says whether it shares one', async (_, slots, target, apiKey) => {
    if (apiKey !== undefined) nameInstance(apiKey);
    const call = await openMain(target);
    expect(told).toEqual(slots === 1 ? [] : [expect.stringContaining('no budget is shared')]);
    await call(validate, {}).catch(() => {});
    expect(relay.sandbox.requests).toBe(1);
    expect(await used()).toBe(slots);
  });

  it('an invalid payload takes no slot', async () => {
    const call = await openMain();
    const update = operationToCall('defects/update', false, 'main', config);
    await expect(call(update, {})).rejects.toThrow(PartnerPayloadError);
    expect(await used()).toBe(0);
  });

  it('call signs again if the clocks differ', async () => {
    relay.sandbox.setFault({ kind: 'clock-skew', seconds: 1_200 });
    expect((await (await openMain())(validate, { again: true })).data).toEqual({ again: true });
    expect(await used()).toBe(2);
  });

  it('a call waits if the budget is used up, and says until when', async () => {
    const { clock, stores } = relay;
    const read = () => clock.now;
    const began = clock.now;
    const call = callWithinBudget({
      client: createPartnerClient({ baseUrl: relay.sandbox.url, ...defaultKey }),
      budget: createBudget({ table: stores.table, clock: read, random: () => 0.5 }),
      connection: 'main',
      limits: { perMinute: 2, perDay: 10 },
      clock: read,
      sleep: async (ms) => {
        clock.now += ms;
      },
      tell: (line) => void told.push(line),
    });
    for (let calls = 0; calls < 3; calls++) await call(validate, { calls });
    const waiting = /^waiting until 2026-11-\d\d \d\d:0\d:\d\d \S+ for the budget of main: /;
    expect(told).toContainEqual(expect.stringMatching(waiting));
    expect(clock.now - began).toBeGreaterThan(30_000);
    expect(relay.sandbox.requests).toBe(3);
  });
});
