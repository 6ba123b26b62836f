import { expiry } from '../../state/table/expiry.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import type { Asker } from './link-item.ts';

/**
 * How many sign-ins a person may begin within an hour. Each one takes requests of the budget that all people of an
 * instance share. A person who tries again after a failure needs two or three.
 */
export const MOST_BEGUN = 5;
const HOUR_MS = 3_600_000;

/** Counts a sign-in that begins. @returns when the person may begin one again; undefined if they may now */
export async function takeOfShare(
  { holder }: Pick<Asker, 'holder'>,
  table: Table,
  clock: () => number,
): Promise<number | undefined> {
  const now = clock();
  const hour = Math.floor(now / HOUR_MS);
  const counted = await table.update(
    keys.linkShare(holder.in, holder.id, String(hour)),
    {
      expression: 'ADD #begun :one SET #expiresAt = :expiresAt',
      values: { one: 1, expiresAt: expiry(now, 2 * HOUR_MS) },
    },
    { expression: 'attribute_not_exists(#begun) OR #begun < :most', values: { most: MOST_BEGUN } },
  );
  return counted ? undefined : (hour + 1) * HOUR_MS;
}
