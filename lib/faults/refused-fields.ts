/** A limit, because a list may have thousands of rows with the same mistake. */
const MOST_FIELDS = 5;
const MOST_LEVELS = 8;

/**
 * Returns a name in a path if it looks like a field. The names in a record may be anything, such as people's addresses,
 * so others are not shown.
 */
export const shownName = (name: PropertyKey): string =>
  /^(?:[a-z_]\w{0,39}|\d{1,4})$/i.test(String(name)) ? String(name) : '…';

/** Lists the fields that a schema has refused, at most five, without their values: `data.event.title, user` */
export function refusedFields(issues: readonly { path: readonly PropertyKey[] }[]): string {
  const names = issues.map(({ path }) => path.slice(0, MOST_LEVELS).map(shownName).join('.') || 'the whole');
  const fields = [...new Set(names)];
  return [...fields.slice(0, MOST_FIELDS), ...(fields.length > MOST_FIELDS ? ['…'] : [])].join(', ');
}
