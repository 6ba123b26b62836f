import * as z from 'zod/mini';
import { expiry } from '../../state/table/expiry.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import { type IdType, idTypes, type Operation } from '../partner/operation.ts';
import type { PageSizes } from '../partner/pages.ts';
import { PAGE_SIZE } from '../partner/paging.ts';

/** What the answers of an instance have shown about it, where docs/partner-api.md does not. */
export interface Learned extends PageSizes {
  /** Learns the types of identifiers from the rows of a list. */
  fromRows(data: unknown): Promise<void>;
  /**
   * An identifier that a person typed, for a field of the operation. Digits become a number or stay text, as the override
   * says, otherwise as the lists of the service write that field, or else all others. Without any of these, they become a
   * number, unless that would change them: `007`.
   */
  idFrom(operation: Operation, field: string, text: string): Promise<string | number>;
}

const item = z.object({
  pageSize: z._default(z.int().check(z.positive()), PAGE_SIZE),
  ids: z._default(z.record(z.string(), z.enum(idTypes)), {}),
});
type Known = z.output<typeof item>;

/** What one run of a job learns and knows. An instance may change, so after 30 days it is learned again. */
export function createLearned(table: Table, connection: string, clock: () => number): Learned {
  const key = keys.learned(connection);
  let known: Promise<Known> | undefined;

  function read(): Promise<Known> {
    known ??= table.get(key).then((kept) => item.safeParse(kept ?? {}).data ?? { pageSize: PAGE_SIZE, ids: {} });
    return known;
  }

  async function keep(news: Partial<Known>): Promise<void> {
    const all = { ...(await read()), ...news };
    known = Promise.resolve(all);
    await table.put({ ...key, ...all, expiresAt: expiry(clock()) });
  }

  return {
    pageSize: async () => (await read()).pageSize,
    keepPageSize: (pageSize) => keep({ pageSize }),
    async fromRows(data) {
      const shown = typesIn(data);
      const { ids } = await read();
      if (Object.entries(shown).some(([field, type]) => ids[field] !== type)) await keep({ ids: { ...ids, ...shown } });
    },
    async idFrom({ ids: overridden }, field, text) {
      const { ids } = await read();
      const [others, ...differing] = new Set(Object.values(ids));
      const type = overridden[field] ?? ids[field] ?? (differing.length === 0 ? others : undefined);
      const mayBeNumber = /^\d{1,15}$/.test(text) && type !== 'text';
      return mayBeNumber && (type === 'number' || String(Number(text)) === text) ? Number(text) : text;
    },
  };
}

/** The type of each identifier in the rows. Text that is not digits shows nothing, and neither do rows that differ. */
export function typesIn(data: unknown): Record<string, IdType> {
  const types: Record<string, Set<IdType>> = {};
  for (const row of Array.isArray(data) ? data : []) {
    for (const [field, value] of Object.entries(row ?? {})) {
      if (!field.endsWith('_id')) continue;
      const type = typeof value === 'number' ? 'number' : typeof value === 'string' && /^\d+$/.test(value) && 'text';
      if (type) types[field] = (types[field] ?? new Set<IdType>()).add(type);
    }
  }
  const clear = Object.entries(types).filter(([, seen]) => seen.size === 1);
  return Object.fromEntries(clear.flatMap(([field, seen]) => [...seen].map((type) => [field, type])));
}
