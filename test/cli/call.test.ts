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
  await relay.close();
});

const open = async () => targetOf(relay);
const openMain = (target = open) => openPartner('main', config, target, (line) => void told.push(line));
const used = async () => (await createBudget({ table: relay.stores.table }).view('main', limits)).minute.used;

/** The `PARTNER_…` variables with the sandbox's key, or another one. */
function nameInstance(apiKey = relay.sandbox.keys[0]?.apiKey ?? ''): void {
  vi.stubEnv('PARTNER_BASE_URL', relay.sandbox.url);
  vi.stubEnv('PARTNER_API_KEY', apiKey);
  vi.stubEnv('PARTNER_SECRET_KEY', relay.sandbox.keys[0]?.secretKey ?? '');
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
  ])('of the connections %j, --connection %s means %s', (names, given, meant) => {
    const several = defineConfig({ connections: Object.fromEntries(names.map((name) => [name, {}])) });
    if (typeof meant === 'string') expect(connectionOf(several, given)).toBe(meant);
    else expect(() => connectionOf(several, given)).toThrow(meant);
  });

  it('without a relay, a call goes to the instance of the secret that is kept on this machine', async () => {
    workInNewFolder();
    const [key] = relay.sandbox.keys;
    keepSecret('partner/main', { baseUrl: relay.sandbox.url, apiKey: key?.apiKey, secretKey: key?.secretKey });
    const call = await openMain(() => Promise.reject(new NoRelay()));
    expect((await call(validate, { text: 'echo' })).data).toEqual({ text: 'echo' });
    expect(told).toEqual([expect.stringContaining('no budget is shared')]);
  });

  it("call takes a slot of the budget behind people's commands", async () => {
    const call = await openMain();
    await call(validate, {});
    expect(await used()).toBe(1);
    expect(told).toEqual([]);
  });

  it('call shares the budget of the relay that uses the same key', async () => {
    nameInstance();
    await (await openMain())(validate, {});
    expect(await used()).toBe(1);
    expect(told).toEqual([]);
  });

  it.each<[string, () => Promise<Target>, string | undefined]>([
    ['no relay runs', () => Promise.reject(new Error('no relay is running in this folder')), undefined],
    ['the relay uses another key', open, 'pk_of_another_team'],
  ])('call says that no budget is shared if %s', async (_, target, apiKey) => {
    nameInstance(apiKey);
    const call = await openMain(target);
    expect(told).toEqual([expect.stringContaining('no budget is shared')]);
    await call(validate, {}).catch(() => {});
    expect(relay.sandbox.requests).toBe(1);
    expect(await used()).toBe(0);
  });

  it('an invalid payload takes no slot', async () => {
    const call = await openMain();
    await expect(call(operationToCall('defects/update', false, 'main', config), {})).rejects.toThrow(
      PartnerPayloadError,
    );
    expect(await used()).toBe(0);
  });

  it('call signs again if the clocks differ', async () => {
    relay.sandbox.setFault({ kind: 'clock-skew', seconds: 1_200 });
    expect((await (await openMain())(validate, { again: true })).data).toEqual({ again: true });
    expect(await used()).toBe(2);
  });

  it('call waits if the budget is used up, and says until when', async () => {
    const { clock, stores } = relay;
    const read = () => clock.now;
    const began = clock.now;
    const [key = defaultKey] = relay.sandbox.keys;
    const call = callWithinBudget({
      client: createPartnerClient({ baseUrl: relay.sandbox.url, ...key }),
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
    expect(told).toContainEqual(
      expect.stringMatching(/^waiting until 2026-11-\d\d \d\d:0\d:\d\d \S+ for the budget of main: /),
    );
    expect(clock.now - began).toBeGreaterThan(30_000);
    expect(relay.sandbox.requests).toBe(3);
  });
});
