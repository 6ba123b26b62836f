import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import type { RelayConfig } from '../../config/schema.ts';
import { findRepository } from '../../config/settings.ts';
import { changeItem } from '../../state/table/counted-item.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import type { GithubDelivery } from './delivery.ts';

/** A configured repository, as seen in verified deliveries. */
const known = z.object({
  name: z.string(),
  /** GitHub's ids of the repository and its owner. */
  id: z.optional(z.int()),
  ownerId: z.optional(z.int()),
  /**
   * The repository's name in its newest event, if it differs from the configured one, and whether the owner is the
   * same.
   */
  calledNow: z.optional(z.string()),
  isRenamed: z.optional(z.boolean()),
  /** The owner of another repository that now has the configured name. */
  otherOwnerId: z.optional(z.int()),
});
type Known = z.output<typeof known>;

/** The repository of an event. Deliveries of an organization have none. */
const seen = z.object({ full_name: z.string(), id: z.int(), owner: z.object({ id: z.int() }) });

export interface MovedRepository {
  /** The configured name in relay.config.ts. */
  name: string;
  /** The repository's current name, or the configured name if another repository has it now. */
  calledNow: string;
  /** True if the owner is the same, possibly with another login. */
  isRenamed: boolean;
  /** GitHub's id of the owner of the other repository that has the configured name. */
  otherOwnerId?: number;
}

/** Compares the owners of two names by their logins. */
export const haveSameOwner = (name: string, other: string): boolean => ownerOf(name) === ownerOf(other);

/** Says what happens to the repository's events, and what to do. */
export function movedInWords({ name, calledNow, isRenamed, otherOwnerId }: MovedRepository): string {
  if (isRenamed)
    return `${name} is now called ${calledNow}. Its events are still handled. Change its name in relay.config.ts.`;
  if (otherOwnerId === undefined)
    return `${name} is now ${calledNow}, and has another owner. Its events are ignored. Change its name in relay.config.ts, or remove it.`;
  return `${name} is now another repository, of another owner. Its events are ignored. Change the name in relay.config.ts to that of yours, or remove it. If the new one is yours, set ownerId: ${otherOwnerId} for it.`;
}

const ownerOf = (name: string) => name.replace(/\/.*/, '').toLowerCase();

/**
 * Decides what to do with an event, and what to remember about the repository.
 * @param configuredOwner the repository's `ownerId` in relay.config.ts, which overrides the remembered one
 */
export function decide(
  noted: Known,
  { full_name, id, owner }: z.output<typeof seen>,
  configuredOwner?: number,
): { becomes: 'taken' | 'followed' | 'stopped'; note: Known } {
  const { name } = noted;
  const ownerId = configuredOwner ?? noted.ownerId;
  const isSameOwner = ownerId === undefined ? haveSameOwner(name, full_name) : owner.id === ownerId;
  if (full_name.toLowerCase() === name.toLowerCase()) {
    const isSame = id === noted.id && configuredOwner === undefined;
    return isSame || isSameOwner
      ? { becomes: 'taken', note: { name, id, ownerId: owner.id } }
      : { becomes: 'stopped', note: { ...noted, otherOwnerId: owner.id } };
  }
  if (id !== noted.id) return { becomes: 'stopped', note: noted };
  const note = { ...noted, calledNow: full_name, isRenamed: isSameOwner };
  return { becomes: isSameOwner ? 'followed' : 'stopped', note };
}

/**
 * Returns the delivery, with the configured name if the repository was renamed. Verified deliveries with the configured
 * name have shown its id.
 * @returns undefined if the repository has another owner now, or if another owner's repository has its name
 */
export async function asConfigured(
  delivery: GithubDelivery,
  { table, config, log }: { table: Table; config: RelayConfig; log: Pick<Console, 'info'> },
): Promise<GithubDelivery | undefined> {
  const repository = seen.safeParse(delivery.payload.repository).data;
  if (!repository) return delivery;
  const isKnown = ({ id }: Known) => id === repository.id;
  const name =
    findRepository(config, repository.full_name)?.name ?? (await readKnown(table, config)).find(isKnown)?.name;
  if (name === undefined) return delivery;
  let becomes = 'stopped';
  const changed = await changeItem(table, keys.repository(name), known, (noted) => {
    const decided = decide({ ...noted, name }, repository, findRepository(config, name)?.ownerId);
    becomes = decided.becomes;
    return isDeepStrictEqual(noted, decided.note) ? undefined : decided.note;
  });
  if (changed && becomes !== 'taken')
    log.info({ message: 'a repository has another name or owner than in relay.config.ts', ...changed });
  if (becomes === 'stopped') return undefined;
  const payload = { ...delivery.payload, repository: { ...Object(delivery.payload.repository), full_name: name } };
  return becomes === 'taken' ? delivery : { ...delivery, payload };
}

/** Lists the configured repositories that have another name or owner now. */
export async function movedRepositories(table: Table, config: RelayConfig): Promise<MovedRepository[]> {
  const all = await readKnown(table, config);
  return all.flatMap(({ name, calledNow, isRenamed = false, otherOwnerId }) => [
    ...(calledNow === undefined ? [] : [{ name, calledNow, isRenamed }]),
    ...(otherOwnerId === undefined || otherOwnerId === findRepository(config, name)?.ownerId
      ? []
      : [{ name, calledNow: name, isRenamed: false, otherOwnerId }]),
  ]);
}

async function readKnown(table: Table, config: RelayConfig): Promise<Known[]> {
  const items = await table.partition(keys.repository('').pk);
  return items.flatMap((item) => known.safeParse(item).data ?? []).filter(({ name }) => findRepository(config, name));
}
