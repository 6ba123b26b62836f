import type { Grant, Holder } from '../lib/as-person/grants/grant.ts';
import { createGrants } from '../lib/as-person/grants/grants.ts';
import { createVault } from '../lib/as-person/grants/vault.ts';
import { takesLinkedAccounts } from '../lib/config/links-accounts.ts';
import { inBatches } from '../lib/engine/line/batches.ts';
import { keys } from '../lib/state/table/keys.ts';
import type { PersonRow, RowPage } from './contract.ts';
import { findPage, textToFind } from './find-page.ts';
import type { ConsoleRelay } from './relay.ts';

/** A user of Slack or GitHub. */
type Known = Pick<PersonRow, 'platform' | 'id'>;

/**
 * Who is who in the service, and who has linked an account. The first page has the people of the configuration and those
 * who have linked an account; every page has those who asked for the jobs of the index. Others are found by their id.
 *
 * @throws {HttpError} for a cursor that cannot be read
 */
export async function listPeople(relay: ConsoleRelay, params: URLSearchParams): Promise<RowPage<PersonRow>> {
  const { runtime, stores } = relay;
  const { connections, people } = runtime.config;
  const wanted = textToFind(params).replace(/^@/, '');
  const cursor = params.get('cursor') || undefined;
  const names = Object.keys(connections);
  const grants = createGrants(stores.table, createVault(stores.secrets, runtime.randomBytes), runtime.clock);
  // Without accounts to link, the role of the person who looks may read none.
  const linking = takesLinkedAccounts(runtime.config);
  const [linked, found] = await Promise.all([
    cursor === undefined && linking ? Promise.all(names.map((name) => grants.list(name))) : [],
    findPage(relay, {}, cursor),
  ]);
  const known: Known[] = [
    ...(cursor === undefined ? people.flatMap(({ slack, github }) => [...slackId(slack), ...githubLogin(github)]) : []),
    ...linked.flat().flatMap(({ holder }) => platformOf(holder)),
    ...found.jobs.flatMap(({ asked }) => (asked?.by ? [{ platform: asked.by.in, id: asked.by.id }] : [])),
  ];
  const named = wanted === '' ? [] : [...slackId(wanted), ...githubLogin(wanted)];
  const [ofKnown, ofNamed] = await Promise.all([rowsOf(known), rowsOf(named)]);
  const rows = [
    ...ofKnown.filter(({ id, user }) => [id, user].some((text) => text?.toLowerCase().includes(wanted.toLowerCase()))),
    ...ofNamed.filter(({ user, linked }) => user !== undefined || linked),
  ];
  const different = new Map(rows.map((row) => [[row.platform, row.id.toLowerCase(), row.connection].join(' '), row]));
  return { rows: [...different.values()], ...(found.cursor !== undefined && { cursor: found.cursor }) };

  async function rowsOf(people: readonly Known[]): Promise<PersonRow[]> {
    const once = new Map(people.map((one) => [`${one.platform} ${one.id.toLowerCase()}`, one]));
    const wanted = [...once.values()].flatMap((person) => names.map((connection) => ({ person, connection })));
    return inBatches(wanted, ({ person, connection }) => rowOf(person, connection));
  }

  async function rowOf({ platform, id }: Known, connection: string): Promise<PersonRow> {
    const [user, grant] = await Promise.all([
      stores.table.get(keys.person(platform, id, connection)),
      linking ? grants.get(connection, { in: platform, id }) : undefined,
    ]);
    return {
      platform,
      id,
      connection,
      ...(user && { user: String(user.name) }),
      ...(grant && { linked: linkedBy(grant) }),
    };
  }
}

const slackId = (id: string | undefined): Known[] => (id === undefined ? [] : [{ platform: 'slack', id }]);
const githubLogin = (id: string | undefined): Known[] => (id === undefined ? [] : [{ platform: 'github', id }]);

/** An operator's own link belongs to this machine. */
const platformOf = ({ in: platform, id }: Holder): Known[] => (platform === 'operator' ? [] : [{ platform, id }]);

function linkedBy({ resource, scopes, linkedAt, death }: Grant): NonNullable<PersonRow['linked']> {
  return { resource, scopes: [...scopes], since: linkedAt, ...(death && { dead: death.cause }) };
}
