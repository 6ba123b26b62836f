import { isDeepStrictEqual } from 'node:util';
import { jobsByStatus, type Key } from '../../lib/table/keys.ts';
import type { Expression, Item, Table } from '../../lib/table/table.ts';

/**
 * The state table in the memory of this process: what the explorations need of it a hundred times faster than over the
 * wire. It knows the expressions that lib/ uses, and throws for any other; memory-table.test.ts holds it against the
 * embedded DynamoDB.
 */
export function createMemoryTable(): Table {
  const partitions = new Map<string, Map<string, Item>>();
  const at = ({ pk, sk }: Key) => partitions.get(pk)?.get(sk);
  const sorted = (pk: string) =>
    [...(partitions.get(pk) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => copy(item));
  function store(item: Key & Item): void {
    const partition = partitions.get(item.pk) ?? new Map<string, Item>();
    partitions.set(item.pk, partition.set(item.sk, item));
  }

  return {
    async get(key) {
      return copy(at(key));
    },
    async put(item, condition) {
      if (!holds(condition, at(item))) return false;
      store(copy(item));
      return true;
    },
    async update({ pk, sk }, change, condition) {
      const item = at({ pk, sk });
      if (!holds(condition, item)) return undefined;
      const next = { ...changed(copy(item) ?? {}, change), pk, sk };
      store(next);
      return copy(next);
    },
    async delete(key, condition) {
      if (!holds(condition, at(key))) return false;
      partitions.get(key.pk)?.delete(key.sk);
      return true;
    },
    async partition(pk) {
      return sorted(pk);
    },
    async lastOf(pk, limit) {
      return sorted(pk).reverse().slice(0, limit);
    },
    async *indexPages(index, condition, pageSize) {
      yield await this.queryIndex(index, condition, { limit: pageSize, newestFirst: false });
    },
    async queryIndex(_index, condition, { limit, newestFirst }) {
      const by = (item: Item) => Number(item[jobsByStatus.sort]);
      const found = [...partitions.values()]
        .flatMap((items) => [...items.values()])
        .filter((item) => jobsByStatus.partition in item && holds(condition, item))
        .sort((a, b) => (newestFirst ? by(b) - by(a) : by(a) - by(b)));
      return copy(found.slice(0, limit));
    },
  };
}

/** A copy as DynamoDB gives it back: of JSON and bytes, without what is undefined. */
function copy<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copy) as T;
  if (value instanceof Uint8Array) return value.slice() as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(entries.map(([name, one]) => [name, copy(one)])) as T;
}

function attributeAt(path: string, item: Item | undefined): unknown {
  return path.split('.').reduce<unknown>((value, name) => (value as Item | undefined)?.[name.slice(1)], item);
}

function operand(text: string, item: Item | undefined, values: Item): unknown {
  return text.startsWith(':') ? values[text.slice(1)] : attributeAt(text, item);
}

const TOKEN =
  /\s*(\(|\)|AND\b|OR\b|attribute_(?:not_)?exists\(#[\w.#]+\)|[#:][\w.#]+\s*(?:=|<>|<=|>=|<|>)\s*[#:][\w.#]+)/y;

/** A condition over AND, OR, brackets, comparisons and attribute_exists. */
function holds(condition: Expression | undefined, item: Item | undefined): boolean {
  if (!condition) return true;
  const { expression, values = {} } = condition;
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < expression.trimEnd().length) {
    const token = TOKEN.exec(expression)?.[1];
    if (token === undefined) throw new Error(`the table in memory does not know: ${expression}`);
    tokens.push(token);
  }
  const any = (): boolean => {
    let result = all();
    while (tokens[0] === 'OR') {
      tokens.shift();
      result = all() || result;
    }
    return result;
  };
  const all = (): boolean => {
    let result = one();
    while (tokens[0] === 'AND') {
      tokens.shift();
      result = one() && result;
    }
    return result;
  };
  const one = (): boolean => {
    const token = tokens.shift() ?? '';
    if (token !== '(') return isTrue(token, item, values);
    const result = any();
    tokens.shift();
    return result;
  };
  return any();
}

function isTrue(token: string, item: Item | undefined, values: Item): boolean {
  const [, not, path] = /^attribute_(not_)?exists\((.+)\)$/.exec(token) ?? [];
  if (path) return (attributeAt(path, item) === undefined) === (not !== undefined);
  const [, left = '', operator, right = ''] = /^(\S+?)\s*(=|<>|<=|>=|<|>)\s*(\S+)$/.exec(token) ?? [];
  const [a, b] = [operand(left, item, values), operand(right, item, values)];
  if (operator === '=') return a !== undefined && isDeepStrictEqual(a, b);
  if (operator === '<>') return a === undefined || !isDeepStrictEqual(a, b);
  if (typeof a !== typeof b || a === undefined || a === null || b === undefined || b === null) return false;
  if (operator === '<') return a < b;
  if (operator === '<=') return a <= b;
  return operator === '>' ? a > b : a >= b;
}

/** SET, REMOVE and ADD of numbers, as one expression. */
function changed(item: Item, { expression, values = {} }: Expression): Item {
  const parts = expression.split(/\b(SET|REMOVE|ADD)\b/).map((part) => part.trim());
  const before = copy(item);
  for (let at = 1; at < parts.length; at += 2) {
    for (const clause of (parts[at + 1] ?? '').split(/,\s*(?![^(]*\))/)) {
      const [target = '', source] = clause.split(/\s*=\s*|\s+/);
      const name = target.slice(1);
      if (parts[at] === 'REMOVE') delete item[name];
      else if (parts[at] === 'ADD') item[name] = Number(item[name] ?? 0) + Number(values[(source ?? '').slice(1)]);
      else setTo(item, name, operand(source ?? '', before, values), clause);
    }
  }
  return item;
}

function setTo(item: Item, name: string, value: unknown, clause: string): void {
  if (/[(+-]/.test(clause)) throw new Error(`the table in memory does not know: ${clause}`);
  if (value === undefined) delete item[name];
  else item[name] = copy(value);
}
