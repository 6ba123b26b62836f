import * as z from 'zod/mini';
import type { RelayConfig } from '../../config/schema.ts';
import { findRepository } from '../../config/settings.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import type { GithubDelivery } from './delivery.ts';
import { repositoryIn } from './note-repository.ts';

/** A configured repository: GitHub's ids of it and of its owner, and the name that its newest event has, if that is another one. */
const known = z.object({
  name: z.string(),
  id: z.int(),
  ownerId: z.optional(z.int()),
  calledNow: z.optional(z.string()),
  isRenamed: z.optional(z.boolean()),
});

export interface MovedRepository {
  /** As relay.config.ts has it. */
  name: string;
  calledNow: string;
  /** It has the same owner, who may have another login now. */
  isRenamed: boolean;
}

/** Whether two names have the same owner, as far as their logins show it. */
export const haveSameOwner = (name: string, other: string): boolean => ownerOf(name) === ownerOf(other);

/** What happens to its events, and what to do. */
export const movedInWords = (moved: MovedRepository): string =>
  moved.isRenamed
    ? `${moved.name} is called ${moved.calledNow} now. Its events are taken all the same. Change its name in relay.config.ts.`
    : `${moved.name} is ${moved.calledNow} now, of another owner. Its events are not taken. Change its name in relay.config.ts, or remove it.`;

const ownerOf = (name: string) => name.replace(/\/.*/, '').toLowerCase();

/**
 * The delivery, with the configured name of a repository that was renamed. GitHub's id of it is known from verified
 * deliveries with the configured name. Only a repository of the configured owner is followed.
 */
export async function asConfigured(
  delivery: GithubDelivery,
  { table, config, log }: { table: Table; config: RelayConfig; log: Pick<Console, 'info'> },
): Promise<GithubDelivery> {
  const { id, full_name, owner } = repositoryIn(delivery);
  const found = (await readKnown(table, config)).find((one) => one.id === id);
  if (!found || typeof full_name !== 'string') return delivery;
  const { name, ownerId } = found;
  const isRenamed = ownerId === undefined ? haveSameOwner(name, full_name) : owner?.id === ownerId;
  const moved = { name, calledNow: full_name, isRenamed };
  if (found.calledNow !== full_name || found.isRenamed !== isRenamed) {
    await table.put({ ...keys.repository(found.name), ...found, ...moved });
    log.info({ message: 'a repository has another name than in relay.config.ts', ...moved });
  }
  if (!isRenamed) return delivery;
  const repository = { ...repositoryIn(delivery), full_name: found.name };
  return { ...delivery, payload: { ...delivery.payload, repository } };
}

/** The repositories of relay.config.ts that have another name now. */
export async function movedRepositories(table: Table, config: RelayConfig): Promise<MovedRepository[]> {
  const all = await readKnown(table, config);
  return all.flatMap(({ name, calledNow, isRenamed }) =>
    calledNow === undefined ? [] : [{ name, calledNow, isRenamed: isRenamed ?? haveSameOwner(name, calledNow) }],
  );
}

async function readKnown(table: Table, config: RelayConfig): Promise<z.output<typeof known>[]> {
  const items = await table.partition(keys.repository('').pk);
  return items.flatMap((item) => known.safeParse(item).data ?? []).filter(({ name }) => findRepository(config, name));
}
