import { describe, expect, it } from 'vitest';
import { AccountNeeded, TryLater } from '../../lib/as-person/grants/errors.ts';
import { keys } from '../../lib/state/table/keys.ts';
import { failureOf, read, type SandboxWorld, startLinked, startSandboxWorld } from './world.ts';

const HOUR = 3_600_000;
const LEASE_MS = 20_000;

/** Whether a request is a refresh. */
const isRefresh = (url: unknown, init?: RequestInit) =>
  String(url).endsWith('/oauth/token') && String(init?.body).includes('grant_type=refresh_token');

/** A linked account whose access token has expired. */
async function startExpired(options: Parameters<typeof startSandboxWorld>[0] = {}): Promise<SandboxWorld> {
  const { world } = await startLinked(options);
  world.clock.now += HOUR;
  return world;
}

/** Starts a worker's call, and holds its first refresh: before it is sent, or when its answer has arrived. */
async function startHeld(world: SandboxWorld, moment: 'before' | 'after') {
  const released = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  let held = false;
  const fetch: typeof globalThis.fetch = async (url, init) => {
    if (held || !isRefresh(url, init)) return globalThis.fetch(url, init);
    held = true;
    const { signal: _, ...rest } = init ?? {};
    const answer = moment === 'after' ? await globalThis.fetch(url, rest) : undefined;
    reached.resolve();
    await released.promise;
    return answer ?? globalThis.fetch(url, rest);
  };
  const first = read(await world.worker({ fetch }));
  // The promise of a killed worker never resolves.
  first.catch(() => {});
  await reached.promise;
  return { first, release: released.resolve };
}

const rotate = (world: SandboxWorld, key = 'another key of the tests, long enough for it') =>
  world.stack.secrets.put(`${world.stack.secretPrefix}grants`, { key });

/** Returns the number of refreshes if ten workers make the same call at once. */
async function refreshesOfTen(world: SandboxWorld): Promise<number> {
  let refreshes = 0;
  const fetch: typeof globalThis.fetch = (url, init) => {
    if (isRefresh(url, init)) refreshes += 1;
    return globalThis.fetch(url, init);
  };
  // Time stands still, so that no lease ends.
  const sleep = () => new Promise((resolve) => setTimeout(resolve, 2));
  const workers = await Promise.all(Array.from({ length: 10 }, () => world.worker({ fetch, sleep })));
  const results = await Promise.all(workers.map(read));
  expect(results.filter(({ isError }) => isError)).toEqual([]);
  return refreshes;
}

describe('an access token that has expired', () => {
  it('is refreshed once for ten workers, and all continue with the new token', async () => {
    const world = await startExpired();
    expect(await refreshesOfTen(world)).toBe(1);
  });

  it('is refreshed once for ten workers that learn of it from the service', async () => {
    const world = await startExpired();
    const grant = await world.grant();
    // As if the service had revoked the token early.
    const { pk, sk } = grant as { pk: string; sk: string };
    const change = { expression: 'SET #renewAt = :later', values: { later: world.clock.now + HOUR } };
    await world.stores.table.update({ pk, sk }, change);
    expect(await refreshesOfTen(world)).toBe(1);
  });
});

describe('a refresh whose answer is lost', () => {
  const lost = { kind: 'cut', operation: '/oauth/token', call: 'refresh_token' } as const;

  it.each(['revokes the grant', 'is refused'] as const)(
    'asks the person to link again if the token was rotated, and its reuse %s',
    async (refreshReuse) => {
      const world = await startExpired({ mcp: { refreshReuse } });
      world.sandbox.setFault({ ...lost, when: 'after work', times: 1 });
      const worker = await world.worker();
      expect(await failureOf(read(worker))).toMatchObject({ name: 'AccountNeeded', reason: 'lost' });
      expect(await failureOf(read(worker))).toMatchObject({ name: 'AccountNeeded', reason: 'lost' });
      expect(await world.grant()).not.toHaveProperty('sealed');
      await world.link(worker);
      expect(await read(worker)).toMatchObject({ isError: false });
    },
  );

  const page = { kind: 'maintenance', status: 200, operation: '/oauth/token' } as const;
  it.each([
    ['the first never arrived', { ...lost, when: 'before work', times: 1 }, 'revokes the grant', 'works'],
    ['the service repeats its answer', { ...lost, when: 'after work', times: 1 }, 'is repeated', 'works'],
    ['the second is lost too', { ...lost, when: 'before work', times: 2 }, 'revokes the grant', 'lost'],
    ['a page comes in its place', { ...page, when: 'after work', times: 1 }, 'revokes the grant', 'lost'],
  ] as const)('is sent once more, but not a third time, if %s', async (_, fault, refreshReuse, outcome) => {
    const world = await startExpired({ mcp: { refreshReuse } });
    world.sandbox.setFault(fault);
    const call = read(await world.worker());
    if (outcome === 'works') expect(await call).toMatchObject({ isError: false });
    else expect(await failureOf(call)).toMatchObject({ reason: outcome });
  });
});

it.each([
  { kind: 'server-error', operation: '/oauth/token' },
  { kind: 'rate-limited', operation: '/oauth/token' },
  { kind: 'maintenance', operation: '/oauth/token' },
  { kind: 'maintenance', status: 404, operation: '/oauth/token' },
] as const)('a failure of the authorization server does not end a link: $kind at $operation', async (fault) => {
  const world = await startExpired();
  const worker = await world.worker();
  world.sandbox.setFault(fault);
  for (let times = 0; times < 4; times++) expect(await failureOf(read(worker))).toBeInstanceOf(TryLater);
  world.sandbox.clearFaults();
  expect(await read(worker)).toMatchObject({ isError: false });
});

describe('a worker that is killed during a refresh', () => {
  it.each([
    ['before the refresh leaves', 'before', 'works'],
    ['before the answer is written', 'after', 'lost'],
  ] as const)('%s', async (_, moment, outcome) => {
    const world = await startExpired();
    await startHeld(world, moment);
    const other = await world.worker();
    if (outcome === 'works') expect(await read(other)).toMatchObject({ isError: false });
    else expect(await failureOf(read(other))).toMatchObject({ name: 'AccountNeeded', reason: outcome });
  });

  it('ends the link if it happens twice', async () => {
    const world = await startExpired();
    for (let kills = 0; kills < 2; kills++) {
      await startHeld(world, 'before');
      world.clock.now += LEASE_MS;
    }
    expect(await failureOf(read(await world.worker()))).toMatchObject({ reason: 'lost' });
  });
});

describe('a worker that is slow during a refresh', () => {
  it('does not end what another worker has saved meanwhile', async () => {
    const world = await startExpired({ mcp: { refreshReuse: 'is refused' } });
    const { first, release } = await startHeld(world, 'before');
    world.clock.now += LEASE_MS;
    expect(await read(await world.worker())).toMatchObject({ isError: false });
    release();
    expect(await first).toMatchObject({ isError: false });
    expect(await world.grant()).not.toHaveProperty('deathCause');
  });

  it('revives a grant that another worker considered dead, with the tokens that it got', async () => {
    const world = await startExpired({ mcp: { refreshReuse: 'is refused' } });
    const { first, release } = await startHeld(world, 'after');
    world.clock.now += LEASE_MS;
    const other = await world.worker();
    expect(await failureOf(read(other))).toBeInstanceOf(AccountNeeded);
    release();
    expect(await first).toMatchObject({ isError: false });
    expect(await read(other)).toMatchObject({ isError: false });
  });

  it('does not ask for another link if its refused token is being renewed', async () => {
    const { world, worker: other } = await startLinked();
    const refusal = { status: 403, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } };
    let refused = false;
    let renewed = false;
    const late = await world.worker({
      async fetch(url, init) {
        if (refused || !String(url).endsWith('/mcp/partner')) return fetch(url, init);
        refused = true;
        return new Response('{}', refusal);
      },
      table: {
        ...world.stores.table,
        async update(key, change, condition) {
          if (!renewed && change.expression.includes('#deathCause =')) {
            renewed = true;
            world.clock.now += HOUR;
            await read(other);
          }
          return world.stores.table.update(key, change, condition);
        },
      },
    });
    expect(await read(late)).toMatchObject({ isError: false });
    expect(renewed).toBe(true);
  });

  it('drops its tokens if the person has linked again meanwhile', async () => {
    const world = await startExpired();
    const { first, release } = await startHeld(world, 'after');
    const linked = await world.link(await world.worker());
    release();
    expect(await first).toMatchObject({ isError: false });
    expect(await world.grant()).toMatchObject({ version: linked.version });
  });
});

describe('a grant', () => {
  it.each(['refused', 'lost'] as const)('that is dead, because it was %s, is not refreshed', async (cause) => {
    const { worker, grant } = await startLinked();
    const { grants } = worker;
    await grants.die(grant, cause);
    expect(await grants.claimRefresh(grant, 'a worker that read it before', LEASE_MS)).toBeUndefined();
  });

  it('stays valid if it is used at least once in 30 days', async () => {
    const { world, worker } = await startLinked();
    for (let days = 0; days < 100; days += 25) {
      world.clock.now += 25 * 24 * HOUR;
      expect(await read(worker)).toMatchObject({ isError: false });
    }
    world.clock.now += 31 * 24 * HOUR;
    expect(await failureOf(read(worker))).toMatchObject({ name: 'AccountNeeded', reason: 'refused' });
  });

  it('can be opened for a day after its key was rotated, and is sealed with the new key', async () => {
    const world = await startExpired();
    rotate(world);
    expect(await read(await world.worker())).toMatchObject({ isError: false });
    world.clock.now += 25 * HOUR;
    expect(await read(await world.worker())).toMatchObject({ isError: false });
    rotate(world, 'a third key of the tests, long enough for it');
    world.clock.now += 25 * HOUR;
    expect(await failureOf(read(await world.worker()))).toMatchObject({ reason: 'sealed with another key' });
  });

  it('is sealed with the new key by a process that outlives the old key', async () => {
    const world = await startExpired();
    const worker = await world.worker();
    expect(await read(worker)).toMatchObject({ isError: false });
    rotate(world);
    world.clock.now += 8 * HOUR;
    expect(await read(worker)).toMatchObject({ isError: false });
    world.clock.now += 22 * HOUR;
    expect(await read(await world.worker())).toMatchObject({ isError: false });
  });

  it('opens in a process that read the key just before its rotation', async () => {
    const { world, worker } = await startLinked();
    await read(worker);
    world.clock.now += 10_000;
    rotate(world);
    await world.link(await world.worker());
    expect(await read(worker)).toMatchObject({ isError: false });
  });

  it('opens only for its person and connection, and shows no token in the table', async () => {
    const { worker, grant } = await startLinked();
    const { accessToken } = await worker.grants.open(grant);
    expect(Buffer.from(grant.sealed ?? []).includes(accessToken)).toBe(false);
    for (const other of [{ holder: { in: 'slack', id: 'U0EVE' } as const }, { connection: 'other' }]) {
      await expect(worker.grants.open({ ...grant, ...other })).rejects.toThrow('belongs to something else');
    }
  });

  it.each(['issuer', 'tokenEndpoint', 'clientId', 'resource'])(
    'sends no token anywhere after its %s was changed in the table',
    async (field) => {
      const world = await startSandboxWorld();
      const sent: string[] = [];
      const worker = await world.worker({
        fetch(url, init) {
          sent.push(String(url));
          return fetch(url, init);
        },
      });
      const { holder, connection } = await world.link(worker);
      world.clock.now += HOUR;
      sent.length = 0;
      await world.stores.table.update(keys.grant(holder.in, holder.id, connection), {
        expression: `SET #${field} = :${field}`,
        values: { [field]: `${world.sandbox.url}/mcp` },
      });
      await expect(read(worker)).rejects.toMatchObject({ name: 'AccountNeeded', reason: 'sealed with another key' });
      expect(sent).toEqual([]);
    },
  );
});
