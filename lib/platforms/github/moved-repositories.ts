import * as z from 'zod/mini';
import type { RelayConfig } from '../../config/schema.ts';
import { findRepository } from '../../config/settings.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import type { GithubDelivery } from './delivery.ts';

const told = z.object({ id: z.int(), full_name: z.string() });
/** A configured repository: GitHub's id of it, and the name that its newest event has, if that is another one. */
const known = z.object({ name: z.string(), id: z.int(), calledNow: z.optional(z.string()) });

export interface MovedRepository {
  /** As relay.config.ts has it. */
  name: string;
  calledNow: string;
}

interface NamesOptions {
  table: Table;
  config: RelayConfig;
  log: Pick<Console, 'warn'>;
}

/** A renamed repository has the same owner. */
export const isRenamed = ({ name, calledNow }: MovedRepository): boolean => ownerOf(name) === ownerOf(calledNow);

/** What happens to its events, and what to do. */
export const movedInWords = (moved: MovedRepository): string =>
  isRenamed(moved)
    ? `${moved.name} is called ${moved.calledNow} now. Its events are taken all the same. Change its name in relay.config.ts.`
    : `${moved.name} is ${moved.calledNow} now, of another owner. Its events are not taken. Change its name in relay.config.ts, or remove it.`;

const ownerOf = (name: string) => name.replace(/\/.*/, '').toLowerCase();

/**
 * Finds by GitHub's id the repositories that have another name than in relay.config.ts. The id is noted from verified
 * events that have the configured name. It gives nobody else a right: only a repository of the configured owner is
 * followed, and under the configured name the settings decide alone.
 */
export function createRepositoryNames({ table, config, log }: NamesOptions) {
  const noted = new Map<string, string>();

  async function note(name: string, id: number, calledNow?: string): Promise<void> {
    const says = `${id} ${calledNow}`;
    if (noted.get(name) === says) return;
    await table.put({ ...keys.repository(name), name, id, ...(calledNow !== undefined && { calledNow }) });
    noted.set(name, says);
    if (calledNow !== undefined)
      log.warn({ message: 'a repository has another name than in relay.config.ts', name, calledNow });
  }

  return {
    /** The delivery, with the configured name of a repository that was renamed. */
    async asConfigured(delivery: GithubDelivery): Promise<GithubDelivery> {
      const { data } = told.safeParse(delivery.payload.repository);
      if (!data || findRepository(config, data.full_name)) return delivery;
      const all = await readKnown(table, config);
      const found = all.find(({ id }) => id === data.id);
      if (!found) return delivery;
      const { name } = found;
      await note(name, data.id, data.full_name);
      if (!isRenamed({ name, calledNow: data.full_name })) return delivery;
      const repository = { ...Object(delivery.payload.repository), full_name: name };
      return { ...delivery, payload: { ...delivery.payload, repository } };
    },
    /** Notes the id of a configured repository, once per process. Never fails: a later delivery makes up for it. */
    async noteId({ payload }: GithubDelivery): Promise<void> {
      const { data } = told.safeParse(payload.repository);
      const configured = data && findRepository(config, data.full_name);
      if (!configured || noted.get(configured.name)?.startsWith(`${data.id} `)) return;
      await note(configured.name, data.id).catch((error: unknown) =>
        log.warn({ message: 'repository not noted', name: configured.name, error: String(error) }),
      );
    },
  };
}

export type RepositoryNames = ReturnType<typeof createRepositoryNames>;

/** The repositories of relay.config.ts that have another name now. */
export async function movedRepositories(table: Table, config: RelayConfig): Promise<MovedRepository[]> {
  const all = await readKnown(table, config);
  return all.flatMap(({ name, calledNow }) => (calledNow === undefined ? [] : [{ name, calledNow }]));
}

async function readKnown(table: Table, config: RelayConfig): Promise<z.output<typeof known>[]> {
  const items = await table.partition(keys.repository('').pk);
  return items.flatMap((item) => known.safeParse(item).data ?? []).filter(({ name }) => findRepository(config, name));
}
