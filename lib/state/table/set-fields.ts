import type { Expression, Item } from './table.ts';

/** The update that sets each field that has a value here, and removes others. */
export function setFields(fields: Readonly<Item>, remove: readonly string[] = []): Expression {
  const values = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const set = `SET ${Object.keys(values).map((name) => `#${name} = :${name}`)}`;
  return { expression: remove.length > 0 ? `${set} REMOVE ${remove.map((name) => `#${name}`)}` : set, values };
}
