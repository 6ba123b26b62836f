import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/** An item or a part of one, in the wire format. */
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** The values of `#name` and `:value`. */
export interface Placeholders {
  names: Readonly<Record<string, string>>;
  values: Attributes;
}

export type Condition = (item: Attributes, given: Placeholders) => boolean;
/** Writes the changes into `next`; reads from the item as it was before. */
export type Update = (item: Attributes, next: Record<string, AttributeValue>, given: Placeholders) => void;
type Operand = (item: Attributes, given: Placeholders) => AttributeValue | undefined;

/**
 * The part of DynamoDB's expressions that the relay uses: comparisons, the functions about an attribute's existence and
 * contents, the size of a set, a default for a missing attribute, NOT, AND, OR and parentheses. Everything else is an
 * error.
 *
 * @throws {SyntaxError}
 */
export const parseCondition = remembered((text): Condition => {
  const tokens = new Tokens(text);
  const condition = disjunction(tokens);
  tokens.end();
  return condition;
});

/** The placeholders of an expression. */
export const placeholdersIn = remembered((text) => new Set(text.match(/[#:]\w+/g)));

/** SET for attributes and parts of them; REMOVE, ADD and DELETE for whole attributes. @throws {SyntaxError} */
export const parseUpdate = remembered((text): Update => {
  const tokens = new Tokens(text);
  const changes: Update[] = [];
  while (!tokens.atEnd()) {
    const change = clauses[tokens.next()];
    if (!change) throw tokens.error();
    do changes.push(change(tokens));
    while (tokens.take(','));
  }
  return (item, next, given) => {
    for (const change of changes) change(item, next, given);
  };
});

const clauses: Readonly<Record<string, (tokens: Tokens) => Update>> = {
  SET(tokens) {
    const path = tokens.next();
    const outer = path.split('.');
    const placeholder = outer.pop() ?? '';
    tokens.expect('=');
    const value = sum(tokens);
    return (item, next, given) => {
      let map = next;
      for (const other of outer) {
        const inner = { ...present(map[named(other, given)]?.M, path) };
        map[named(other, given)] = { M: inner };
        map = inner;
      }
      map[named(placeholder, given)] = present(value(item, given), path);
    };
  },
  REMOVE(tokens) {
    const placeholder = tokens.next();
    return (_item, next, given) => void delete next[named(placeholder, given)];
  },
  ADD(tokens) {
    const placeholder = tokens.next();
    const value = operand(tokens);
    return (item, next, given) => {
      const name = named(placeholder, given);
      const { N: number, SS: texts } = present(value(item, given), placeholder);
      next[name] = texts
        ? { SS: [...new Set([...(item[name]?.SS ?? []), ...texts])] }
        : { N: String(Number(item[name]?.N ?? 0) + Number(number)) };
    };
  },
  DELETE(tokens) {
    const placeholder = tokens.next();
    const value = operand(tokens);
    return (item, next, given) => {
      const name = named(placeholder, given);
      const { SS: texts = [] } = present(value(item, given), placeholder);
      const left = item[name]?.SS?.filter((text) => !texts.includes(text)) ?? [];
      // DynamoDB has no empty sets.
      if (left.length > 0) next[name] = { SS: left };
      else delete next[name];
    };
  },
};

function disjunction(tokens: Tokens): Condition {
  const some = [conjunction(tokens)];
  while (tokens.take('OR')) some.push(conjunction(tokens));
  return (item, given) => some.some((holds) => holds(item, given));
}

function conjunction(tokens: Tokens): Condition {
  const all = [comparison(tokens)];
  while (tokens.take('AND')) all.push(comparison(tokens));
  return (item, given) => all.every((holds) => holds(item, given));
}

function comparison(tokens: Tokens): Condition {
  if (tokens.take('(')) {
    const inner = disjunction(tokens);
    tokens.expect(')');
    return inner;
  }
  if (tokens.take('NOT')) {
    const inner = comparison(tokens);
    return (item, given) => !inner(item, given);
  }
  for (const [name, holds] of Object.entries(functions)) if (tokens.take(name)) return holds(...operands(tokens));
  const left = operand(tokens);
  if (tokens.take('BETWEEN')) {
    const from = operand(tokens);
    tokens.expect('AND');
    const to = operand(tokens);
    return (item, given) => {
      const value = left(item, given);
      return isNotBelow(value, from(item, given)) && isNotBelow(to(item, given), value);
    };
  }
  const holds = comparators[tokens.next()];
  if (!holds) throw tokens.error();
  const right = operand(tokens);
  return (item, given) => holds(left(item, given), right(item, given));
}

const absent: Operand = () => undefined;

const functions: Readonly<Record<string, (a?: Operand, b?: Operand) => Condition>> = {
  attribute_exists:
    (a = absent) =>
    (item, given) =>
      a(item, given) !== undefined,
  attribute_not_exists:
    (a = absent) =>
    (item, given) =>
      a(item, given) === undefined,
  contains:
    (a = absent, b = absent) =>
    (item, given) => {
      const { S: text, SS: texts } = a(item, given) ?? {};
      return (texts ?? text)?.includes(b(item, given)?.S ?? '') ?? false;
    },
};

type Comparator = (a: AttributeValue | undefined, b: AttributeValue | undefined) => boolean;

const ordered =
  (holds: (order: number) => boolean): Comparator =>
  (a, b) => {
    const order = a && b && orderOf(a, b);
    return order !== undefined && holds(order);
  };

const isNotBelow = ordered((order) => order >= 0);

const comparators: Readonly<Record<string, Comparator>> = {
  '=': ordered((order) => order === 0),
  // A missing attribute, or one of another type, differs.
  '<>': (a, b) => !(a && b) || orderOf(a, b) !== 0,
  '<': ordered((order) => order < 0),
  '<=': ordered((order) => order <= 0),
  '>': ordered((order) => order > 0),
  '>=': isNotBelow,
};

/** Negative if `a` comes first; undefined for values that have no order. */
export function orderOf(a: AttributeValue, b: AttributeValue): number | undefined {
  if (a.N !== undefined && b.N !== undefined) return Number(a.N) - Number(b.N);
  if (a.S !== undefined && b.S !== undefined) return Buffer.compare(Buffer.from(a.S), Buffer.from(b.S));
  if (a.BOOL !== undefined && b.BOOL !== undefined) return Number(a.BOOL) - Number(b.BOOL);
  return undefined;
}

/** An operand, or the sum or difference of two numbers. */
function sum(tokens: Tokens): Operand {
  const first = operand(tokens);
  if (!tokens.take('+')) return first;
  const second = operand(tokens);
  return (item, given) => {
    const [a, b] = [first, second].map((number) => present(number(item, given)?.N, 'an operand of +'));
    return { N: String(Number(a) + Number(b)) };
  };
}

/** Operands in parentheses, separated by commas. */
function operands(tokens: Tokens): Operand[] {
  const all: Operand[] = [];
  tokens.expect('(');
  do all.push(operand(tokens));
  while (tokens.take(','));
  tokens.expect(')');
  return all;
}

function operand(tokens: Tokens): Operand {
  const token = tokens.next();
  if (token === 'if_not_exists') {
    const [there = absent, otherwise = absent] = operands(tokens);
    return (item, given) => there(item, given) ?? otherwise(item, given);
  }
  if (token === 'size') {
    const [set = absent] = operands(tokens);
    return (item, given) => {
      const texts = set(item, given)?.SS;
      return texts && { N: String(texts.length) };
    };
  }
  if (token.startsWith(':')) return (_item, { values }) => present(values[token], token);
  if (!token.startsWith('#')) throw tokens.error();
  const path = token.split('.');
  return (item, given) => {
    let at: AttributeValue | undefined = { M: item as Record<string, AttributeValue> };
    for (const placeholder of path) at = at?.M?.[named(placeholder, given)];
    return at;
  };
}

function named(placeholder: string, { names }: Placeholders): string {
  return present(names[placeholder], placeholder);
}

function present<T>(value: T | undefined, token: string): T {
  if (value === undefined) throw new SyntaxError(`${token} stands for nothing`);
  return value;
}

const TOKEN = /\s*(#\w+(?:\.#\w+)*|:\w+|\w+|<>|<=|>=|[=<>(),+])/y;

class Tokens {
  readonly #text: string;
  readonly #tokens: string[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    TOKEN.lastIndex = 0;
    for (let end = 0; end < text.trimEnd().length; end = TOKEN.lastIndex) {
      const [, token] = TOKEN.exec(text) ?? [];
      if (token === undefined) throw new SyntaxError(`cannot be read from ${end} on: ${text}`);
      this.#tokens.push(token);
    }
  }

  atEnd(): boolean {
    return this.#at === this.#tokens.length;
  }

  next(): string {
    return this.#tokens[this.#at++] ?? '';
  }

  take(token: string): boolean {
    const taken = this.#tokens[this.#at] === token;
    if (taken) this.#at++;
    return taken;
  }

  expect(token: string): void {
    if (!this.take(token)) throw this.error();
  }

  end(): void {
    if (!this.atEnd()) throw this.error();
  }

  error(): SyntaxError {
    return new SyntaxError(`the model of DynamoDB does not read this: ${this.#text}`);
  }
}

/** Parses each text only once, because the relay uses few expressions often. */
function remembered<T>(parse: (text: string) => T): (text: string) => T {
  const parsed = new Map<string, T>();
  return (text) => {
    const known = parsed.get(text) ?? parse(text);
    parsed.set(text, known);
    return known;
  };
}
