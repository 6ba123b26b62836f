import * as z from 'zod/mini';
import { expiry } from '../../state/table/expiry.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import { type IdType, idTypes, type Operation } from '../partner/operation.ts';
import { PAGE_SIZE, type Paging } from '../partner/pages.ts';

const item = z.object({
  pageSize: z._default(z.int().check(z.positive()), PAGE_SIZE),
  firstPage: z.optional(z.literal([0, 1])),
  ids: z._default(z.record(z.string(), z.enum(idTypes)), {}),
});
type Known = z.output<typeof item>;

/** The facts about an instance that its answers have shown and docs/partner-api.md does not. */
export type Learned = ReturnType<typeof createLearned>;

/** Reads and adds to the facts, for one run of a job. They expire after 30 days, because an instance may change. */
export function createLearned(table: Table, connection: string, clock: () => number) {
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
    paging: async (): Promise<Paging> => {
      const { pageSize, firstPage } = await read();
      return { size: pageSize, first: firstPage };
    },
    keepPaging: ({ size, first }: Paging) => keep({ pageSize: size, firstPage: first }),
    /** Learns the types of identifiers from the rows of a list. */
    async fromRows(data: unknown): Promise<void> {
      const shown = Object.entries(typesIn(data));
      if (shown.length === 0) return;
      const { ids } = await read();
      if (shown.some(([field, type]) => ids[field] !== type))
        await keep({ ids: { ...ids, ...Object.fromEntries(shown) } });
    },
    /**
     * Turns an identifier that a person typed into the value of an operation's field. For digits, the override decides
     * between number and text. Otherwise the service's lists decide: by this field, or else by all other fields if they
     * agree. Without any of these, digits become a number, unless that would change them: `007`.
     */
    async idFrom({ ids: overridden }: Operation, field: string, text: string): Promise<string | number> {
      const { ids } = await read();
      const [others, ...differing] = new Set(Object.values(ids));
      const type = overridden[field] ?? ids[field] ?? (differing.length === 0 ? others : undefined);
      const mayBeNumber = /^\d{1,15}$/.test(text) && type !== 'text';
      return mayBeNumber && (type === 'number' || String(Number(text)) === text) ? Number(text) : text;
    },
  };
}

/**
 * Returns the type of each identifier in the rows. Ignores text that is not digits, and fields that differ between
 * rows.
 */
export function typesIn(data: unknown): Record<string, IdType> {
  const members = (Array.isArray(data) ? data : []).flatMap((row: unknown) => Object.entries(row ?? {}));
  const ids = members.filter(([field, value]) => field.endsWith('_id') && /^\d+$/.test(String(value)));
  const types = [...Map.groupBy(ids, ([field]) => field)].flatMap(([field, all]) => {
    const [type, ...others] = new Set(all.map(([, value]): IdType => (typeof value === 'number' ? 'number' : 'text')));
    return type && others.length === 0 ? [[field, type] as const] : [];
  });
  return Object.fromEntries(types);
}
