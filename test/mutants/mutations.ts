import { parseAst } from 'vitest/node';

/** A realistic mistake in a file: `text` replaces the code from `start` to `end`. */
export interface Mutant {
  path: string;
  /** Counted from 1. */
  line: number;
  start: number;
  end: number;
  text: string;
  /** A description, such as `the condition is negated`. */
  words: string;
}

/** The fields of an ESTree node that the rules below read. */
interface Node {
  type: string;
  start: number;
  end: number;
  operator: string;
  directive?: string;
  value: unknown;
  left: Node;
  right: Node;
  test: Node;
  consequent: Node;
  alternate: Node | null;
  argument: Node | null;
  expression: Node;
  callee: Node;
  object: Node;
  property: Node;
}

/** Operators and methods that are easily confused. */
const SWAPPED = [
  ['<', '<='],
  ['<', '>'],
  ['<=', '>='],
  ['>', '>='],
  ['===', '!=='],
  ['&&', '||'],
  ['+', '-'],
  ['*', '/'],
  ['some', 'every'],
  ['min', 'max'],
] as const;

/** Methods whose result resembles the value that they are called on. */
const LEFT_OUT = ['filter', 'slice', 'sort', 'toSorted', 'toReversed', 'trim', 'toLowerCase'];

/** Calls whose arguments are only for readers. */
const WORDS_ONLY = /^log\.|\.(meta|describe)$/;

/** Types that contain an expression. Other types contain no code that runs. */
const AROUND_EXPRESSIONS = ['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression'];

/** All possible mistakes in a file. Texts, comments, types, imports and log lines stay unchanged. */
export function mutationsOf(path: string, source: string): readonly Mutant[] {
  const found: Mutant[] = [];
  const textOf = ({ start, end }: Node) => source.slice(start, end);

  function replace({ start, end }: { start: number; end: number }, text: string, words: string): void {
    found.push({ path, line: source.slice(0, start).split('\n').length, start, end, text, words });
  }

  /** Swaps a name at `from` or soon after it. */
  function swap(from: number, name: string): void {
    const start = source.indexOf(name, from);
    for (const pair of SWAPPED.filter((pair) => pair.some((each) => each === name))) {
      const text = pair[0] === name ? pair[1] : pair[0];
      replace({ start, end: start + name.length }, text, `\`${name}\` became \`${text}\``);
    }
  }

  function mutate(node: Node, parent: Node): void {
    const { type, operator, left, right, test, consequent, alternate, argument, value, callee } = node;
    if (type === 'BinaryExpression' && !(operator === '+' && [left, right].some(isText))) swap(left.end, operator);
    if (type === 'LogicalExpression') {
      if (operator === '??') replace(node, textOf(left), 'the fallback is missing');
      else swap(left.end, operator);
    }
    if (type === 'IfStatement') {
      replace(test, `!(${textOf(test)})`, 'the condition is negated');
      if (!alternate && parent.alternate !== node) replace(node, '', 'the statement is missing');
    }
    if (type === 'ConditionalExpression' && alternate) {
      const both = { start: consequent.start, end: alternate.end };
      replace(both, `${textOf(alternate)} : ${textOf(consequent)}`, 'the results are swapped');
    }
    if (type === 'ExpressionStatement' && !node.directive) replace(node, '', 'the statement is missing');
    if (type === 'AwaitExpression' && argument && parent.type === 'ExpressionStatement') {
      replace(node, textOf(argument), '`await` is missing');
    }
    if (type === 'ReturnStatement' && argument && ['CallExpression', 'AwaitExpression'].includes(argument.type)) {
      replace(node, `${textOf(argument)};`, '`return` is missing');
    }
    if (type === 'UnaryExpression' && operator === '!' && argument) {
      replace(node, textOf(argument), '`!` is missing');
    }
    if (type === 'CallExpression' && callee.type === 'MemberExpression') {
      const method = textOf(callee.property);
      if (LEFT_OUT.includes(method)) replace(node, textOf(callee.object), `\`${method}\` is missing`);
      else if (/^\w+$/.test(method)) swap(callee.property.start, method);
    }
    if (type === 'SpreadElement') {
      const comma = /^\s*,/.exec(source.slice(node.end))?.[0] ?? '';
      replace({ start: node.start, end: node.end + comma.length }, '', 'what is spread is missing');
    }
    if (type === 'Literal' && typeof value === 'boolean') replace(node, String(!value), `it is ${!value}`);
    if (type === 'Literal' && typeof value === 'number') {
      // Small numbers are off by one, large ones by a digit.
      const wrong = value < 100 ? value + 1 : value / 10;
      replace(node, String(wrong), `it is ${wrong}`);
    }
  }

  function walk(node: Node, parent: Node): void {
    if (node.type === 'ImportDeclaration') return;
    if (node.type.startsWith('TS') && !AROUND_EXPRESSIONS.includes(node.type)) return;
    const { type, callee } = node.type === 'ExpressionStatement' ? node.expression : node;
    if (type === 'CallExpression' && WORDS_ONLY.test(textOf(callee))) {
      walk(callee, node);
      return;
    }
    mutate(node, parent);
    for (const child of Object.values(node).flat()) if (isNode(child)) walk(child, node);
  }

  const program = parseAst(source, { lang: path.endsWith('x') ? 'tsx' : 'ts' }) as unknown as Node;
  walk(program, program);
  return found;
}

/** The file with the mistake. */
export const withMistake = (source: string, { start, end, text }: Mutant): string =>
  source.slice(0, start) + text + source.slice(end);

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string';

const isText = ({ type, value }: Node): boolean =>
  type === 'TemplateLiteral' || (type === 'Literal' && typeof value === 'string');
