import { type Attributes, orderOf } from './expressions.ts';

/** A global secondary index. */
export interface IndexDefinition {
  name: string;
  partition: string;
  sort: string;
  /** The attributes in the index besides the keys; by default all. */
  attributes?: readonly string[];
}

/** The entries of a global secondary index, in order. */
export class IndexModel {
  readonly definition: IndexDefinition;
  /** Entries with the same sort key are in order of the table's key. */
  readonly sortKeys: readonly string[];
  readonly #partitions = new Map<string, Attributes[]>();
  readonly #entries = new Map<string, Attributes>();

  constructor(definition: IndexDefinition) {
    this.definition = definition;
    this.sortKeys = [definition.sort, 'pk', 'sk'];
  }

  /** The index entry of an item; undefined if the item lacks a key of the index. */
  entryOf(item: Attributes | undefined): Attributes | undefined {
    const { partition, sort, attributes } = this.definition;
    if (item?.[partition] === undefined || item[sort] === undefined) return undefined;
    if (!attributes) return item;
    const held = new Set([...attributes, partition, sort, 'pk', 'sk']);
    return Object.fromEntries(Object.entries(item).filter(([name]) => held.has(name)));
  }

  /** Replaces the entry with the same key. */
  apply(key: string, entry: Attributes | undefined): void {
    const last = this.#entries.get(key);
    if (last) {
      const entries = this.partition(last);
      entries.splice(this.#place(entries, last), 1);
      this.#entries.delete(key);
    }
    if (!entry) return;
    const entries = this.partition(entry);
    entries.splice(this.#place(entries, entry), 0, entry);
    this.#entries.set(key, entry);
  }

  /** The entries with the same partition key, in order of their sort keys. */
  partition(item: Attributes): Attributes[] {
    const value = item[this.definition.partition]?.S ?? '';
    const entries = this.#partitions.get(value) ?? [];
    this.#partitions.set(value, entries);
    return entries;
  }

  /** The position of an entry, existing or new. */
  #place(entries: readonly Attributes[], entry: Attributes): number {
    let [from, to] = [0, entries.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      const other = entries[middle];
      if (other && orderBy(this.sortKeys, other, entry) < 0) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

/** Compares by the first attribute that differs. Negative if `a` comes first. */
export function orderBy(names: readonly string[], a: Attributes, b: Attributes): number {
  for (const name of names) {
    const [one, other] = [a[name], b[name]];
    const order = one && other && orderOf(one, other);
    if (order) return order;
  }
  return 0;
}
