import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { basename } from 'node:path';
import { type AnyNode, parse } from 'acorn';

const CLOCK =
  'Date and performance give another time when this code runs again; use `at` of the event or of `asker`, or wait with the step until()';
const FLOATING = 'nothing waits for this, and a step that is under way when run returns parks the job; write await';
const CALLBACK = 'nothing waits for what this callback begins; write for (const one of all) await call(…)';
const GLOBALS = new Map(
  Object.entries({
    'Date.now performance': CLOCK,
    'crypto Math.random': 'this code may run again, with another value; use an id of the event in the input',
    'setTimeout setInterval setImmediate':
      'nothing waits for a timer, and a Lambda is frozen between jobs; wait with the step until()',
    fetch: 'each run makes this call again; use a step: call(), send() or github()',
    'Promise.all Promise.allSettled Promise.race Promise.any':
      'steps run one after the other; write for (const one of all) await call(…)',
  }).flatMap(([names, says]) => names.split(' ').map((name) => [name, says] as const)),
);
const STEPS = new Set('call list create found letGo send say comment github task user until ask as'.split(' '));
const EACH = new Set('forEach map flatMap filter some every find findIndex findLast findLastIndex'.split(' '));
const OF_PROMISES = new Set('then catch finally'.split(' '));

/** The kind of each name that the code declares or has in scope. Every other name is global. */
type Names = Map<string, 'steps' | 'step' | 'async' | 'other'>;
type Warn = (at: AnyNode, says: string) => void;

/**
 * Finds code in the team's files that a job cannot repeat, or that nothing waits for. Each warning begins with the file
 * and line. Only the syntax is checked, so a file without warnings may still have such a mistake.
 */
export const warningsIn = (files: readonly string[]): string[] =>
  files.flatMap((file) => {
    const found = new Set<string>();
    const warn: Warn = ({ loc }, says) => found.add(`automations/${basename(file)}:${loc?.start.line}: ${says}`);
    try {
      const javascript = javascriptOf(readFileSync(file, 'utf8'));
      visit(parse(javascript, { ecmaVersion: 'latest', sourceType: 'module', locations: true }), new Map(), warn);
    } catch {
      // Node reports the syntax error when the folder is read.
    }
    return [...found];
  });

/** Strips the types and keeps all line numbers. Suppresses Node's warning that this function is experimental. */
function javascriptOf(typescript: string): string {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(typescript);
  } finally {
    process.emitWarning = emitWarning;
  }
}

function visit(node: AnyNode, outer: Names, warn: Warn): void {
  const names = namesIn(node, outer);
  const ofGlobal = GLOBALS.get(globalOf(node, names) ?? '');
  if (ofGlobal) warn(node, ofGlobal);
  if (node.type === 'NewExpression' || node.type === 'CallExpression') {
    const [first] = node.arguments;
    // `new Date()` with arguments always returns the same time. `Date()` ignores its arguments.
    const isNow = node.type === 'CallExpression' || !first;
    if (isNow && globalOf(node.callee, names) === 'Date') warn(node, CLOCK);
    if (first && EACH.has(fieldOf(node.callee)) && isAsync(first, names)) warn(first, CALLBACK);
  }
  const isFloating =
    (node.type === 'ExpressionStatement' && isPromise(node.expression, names)) ||
    (node.type === 'UnaryExpression' && node.operator === 'void' && node.argument.type !== 'Literal') ||
    (node.type === 'VariableDeclarator' && node.init && isStep(node.init, names)) ||
    (node.type === 'AssignmentExpression' && isStep(node.right, names));
  if (isFloating) warn(node, FLOATING);
  for (const child of childrenOf(node)) visit(child, names, warn);
}

/** Returns the name of a global, such as `fetch` or `Math.random`. */
function globalOf(node: AnyNode, names: Names): string | undefined {
  if (node.type === 'Identifier') return names.has(node.name) ? undefined : node.name;
  const object = node.type === 'MemberExpression' && globalOf(node.object, names);
  return object ? `${object}.${fieldOf(node)}`.replace(/^globalThis\./, '') : undefined;
}

const fieldOf = (node: AnyNode) =>
  node.type === 'MemberExpression' && !node.computed && node.property.type === 'Identifier' ? node.property.name : '';

function isStep(node: AnyNode, names: Names): boolean {
  if (node.type !== 'CallExpression') return false;
  const { callee } = node;
  if (callee.type === 'MemberExpression') return is('steps', callee.object, names) && STEPS.has(fieldOf(callee));
  return is('step', callee, names);
}

const is = (what: 'steps' | 'step' | 'async', node: AnyNode, names: Names) =>
  node.type === 'Identifier' && names.get(node.name) === what;

function isPromise(node: AnyNode, names: Names): boolean {
  if (['ChainExpression', 'LogicalExpression', 'ConditionalExpression'].includes(node.type))
    return childrenOf(node).some((part) => isPromise(part, names));
  if (node.type !== 'CallExpression') return false;
  const isOfPromise = OF_PROMISES.has(fieldOf(node.callee)) || globalOf(node.callee, names)?.startsWith('Promise.');
  return isOfPromise || isStep(node, names) || isAsync(node.callee, names);
}

/** True for a function that returns a promise. */
function isAsync(node: AnyNode, names: Names): boolean {
  if (!isFunction(node)) return is('async', node, names);
  return node.async || (node.expression && isPromise(node.body, namesIn(node, names)));
}

const isFunction = (node: AnyNode) =>
  node.type === 'FunctionDeclaration' || node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression';

function namesIn(node: AnyNode, outer: Names): Names {
  const names: Names = new Map(outer);
  if (isFunction(node)) for (const parameter of node.params) declare(parameter, names, true);
  else if (node.type === 'CatchClause' && node.param) declare(node.param, names);
  else if (node.type === 'Program' || /^(Block|For\w*)Statement$/.test(node.type))
    for (const child of childrenOf(node)) declareOf(child, names);
  return names;
}

/** Adds the names declared by a statement or the head of a loop. */
function declareOf(node: AnyNode, names: Names): void {
  if (node.type === 'ExportNamedDeclaration' && node.declaration) declareOf(node.declaration, names);
  else if (node.type === 'ImportDeclaration') for (const { local } of node.specifiers) declare(local, names);
  else if ((node.type === 'FunctionDeclaration' || node.type === 'ClassDeclaration') && node.id)
    names.set(node.id.name, isAsync(node, names) ? 'async' : 'other');
  else if (node.type === 'VariableDeclaration')
    for (const { id, init } of node.declarations) {
      declare(id, names, init ? is('steps', init, names) : false);
      if (id.type === 'Identifier' && init && isAsync(init, names)) names.set(id.name, 'async');
    }
}

/** @param ofSteps true if the pattern takes fields from the steps */
function declare(pattern: AnyNode, names: Names, ofSteps = false): void {
  if (pattern.type === 'Identifier') names.set(pattern.name, pattern.name === 'steps' ? 'steps' : 'other');
  else if (pattern.type === 'AssignmentPattern') declare(pattern.left, names);
  else for (const part of childrenOf(pattern)) declare(part, names);
  if (!ofSteps || pattern.type !== 'ObjectPattern') return;
  for (const one of pattern.properties)
    if (
      one.type === 'Property' &&
      one.key.type === 'Identifier' &&
      STEPS.has(one.key.name) &&
      one.value.type === 'Identifier'
    )
      names.set(one.value.name, 'step');
}

/** Leaves out the names of fields and imports, which are not variables. */
function childrenOf(node: AnyNode): AnyNode[] {
  if (node.type === 'ImportDeclaration') return [];
  const isField = (name: string) => 'computed' in node && !node.computed && (name === 'property' || name === 'key');
  return Object.entries(node).flatMap(([name, value]) => (isField(name) ? [] : [value].flat().filter(isNode)));
}

const isNode = (value: unknown): value is AnyNode => typeof value === 'object' && value !== null && 'type' in value;
