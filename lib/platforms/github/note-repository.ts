import type { RelayConfig } from '../../config/schema.ts';
import { findRepository } from '../../config/settings.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import type { GithubDelivery } from './delivery.ts';

interface NoteRepositoryOptions {
  table: Table;
  config: RelayConfig;
  log: Pick<Console, 'warn'>;
}

/** What a payload says of its repository; a delivery of an organization has none. */
export const repositoryIn = ({
  payload,
}: GithubDelivery): { id?: unknown; full_name?: unknown; owner?: { id?: unknown } | null } =>
  Object(payload.repository);

export type NoteRepository = ReturnType<typeof createNoteRepository>;

/**
 * Notes GitHub's id of a configured repository, and of its owner, from a verified delivery, once per process. The ids give nobody else a right:
 * they find a repository that its owner has renamed. Never fails, because a later delivery makes up for it.
 */
export function createNoteRepository({ table, config, log }: NoteRepositoryOptions) {
  const noted = new Map<string, unknown>();
  return async (delivery: GithubDelivery): Promise<void> => {
    const { id, full_name, owner } = repositoryIn(delivery);
    const name = findRepository(config, String(full_name))?.name;
    if (name === undefined || !Number.isInteger(id) || noted.get(name) === id) return;
    try {
      await table.put({ ...keys.repository(name), name, id, ownerId: owner?.id });
      noted.set(name, id);
    } catch (error) {
      log.warn({ message: 'repository not noted', name, error: String(error) });
    }
  };
}
