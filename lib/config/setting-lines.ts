import { resolve } from 'node:path';
import type {
  Expression,
  Identifier,
  Node,
  ObjectLiteralElementLike,
  ObjectLiteralExpression,
  SourceFile,
  SpreadAssignment,
} from 'typescript/unstable/ast';
import * as is from 'typescript/unstable/ast/is';
import { API } from 'typescript/unstable/sync';

/** A place in a source file; `line` counts from 1. */
export interface Place {
  file: string;
  line: number;
}

export type FindPlace = (path: readonly PropertyKey[]) => Place | undefined;

/** A node and its file: a configuration may import parts of itself. */
interface Found {
  node: Node;
  source: SourceFile;
}

/**
 * Finds the lines of settings in the source of a configuration, for the time of `look`. A setting that is missing has
 * the line of the object that should contain it.
 *
 * It reads literals, and follows names of constants and of relative imports. Where a setting comes from anything else,
 * such as a function, its line is not certain, and it has no place.
 */
export function withPlaces<T>(file: string, look: (find: FindPlace) => T): T {
  const sources = new Map<string, SourceFile | undefined>();
  const projects = new Map<string, string>();
  const api = new API({
    fs: {
      readFile: (name) => projects.get(name),
      fileExists: (name) => projects.has(name) || undefined,
    },
  });
  const open = (path: string): SourceFile | undefined => {
    if (!sources.has(path)) {
      const project = `/${sources.size}/tsconfig.json`;
      projects.set(project, projectOf(path));
      const opened = api.updateSnapshot({ openProjects: [project] }).getProject(project);
      sources.set(path, opened?.program.getSourceFile(path));
    }
    return sources.get(path);
  };
  try {
    return look((path) => {
      const source = open(file);
      const root = source && defaultExport(source);
      const found = root && descend({ node: root, source }, path, open);
      return found && placeOf(found);
    });
  } finally {
    api.close();
  }
}

/** A project of that file alone: neither the library nor what it imports needs to be read. */
function projectOf(path: string): string {
  return JSON.stringify({ compilerOptions: { noLib: true, noResolve: true, types: [] }, files: [path] });
}

type Open = (path: string) => SourceFile | undefined;

function defaultExport(source: SourceFile): Expression | undefined {
  const exported = source.statements.find(is.isExportAssignment)?.expression;
  // defineConfig({ … })
  return exported && is.isCallExpression(exported) ? exported.arguments[0] : exported;
}

function descend(from: Found, [key, ...rest]: readonly PropertyKey[], open: Open): Found | undefined {
  if (key === undefined) return from;
  const value = literalBehind(from, open);
  if (value === undefined) return undefined;
  if (is.isArrayLiteralExpression(value.node)) {
    const before = value.node.elements.slice(0, Number(key) + 1);
    const element = before[Number(key)];
    if (!element || before.some(is.isSpreadElement)) return undefined;
    return descend({ ...value, node: element }, rest, open);
  }
  if (!is.isObjectLiteralExpression(value.node)) return undefined;
  const property = propertyOf({ ...value, node: value.node }, String(key), open);
  if (property === 'uncertain') return undefined;
  // Missing: the object that should contain it.
  if (property === 'missing') return value;
  if (rest.length === 0) return property;
  const { node } = property;
  return descend({ ...property, node: is.isPropertyAssignment(node) ? node.initializer : node.name }, rest, open);
}

type FoundProperty = Found & { node: Exclude<ObjectLiteralElementLike, SpreadAssignment> };

/** The last property of that name, also in objects that are spread. */
function propertyOf(
  { node, source }: Found & { node: ObjectLiteralExpression },
  key: string,
  open: Open,
): FoundProperty | 'missing' | 'uncertain' {
  for (const property of [...node.properties].reverse()) {
    if (is.isSpreadAssignment(property)) {
      const spread = literalBehind({ node: property.expression, source }, open);
      if (!spread || !is.isObjectLiteralExpression(spread.node)) return 'uncertain';
      const found = propertyOf({ ...spread, node: spread.node }, key, open);
      if (found !== 'missing') return found;
    } else if (is.isComputedPropertyName(property.name)) {
      return 'uncertain';
    } else if (is.isPropertyNameLiteral(property.name) && property.name.text === key) {
      return { node: property, source };
    }
  }
  return 'missing';
}

/** The literal behind a name or a type assertion. */
function literalBehind({ node, source }: Found, open: Open): Found | undefined {
  if (is.isAsExpression(node) || is.isSatisfiesExpression(node) || is.isParenthesizedExpression(node)) {
    return literalBehind({ node: node.expression, source }, open);
  }
  if (!is.isIdentifier(node)) return { node, source };
  const declared = declaration(node.text, source) ?? imported(node, source, open);
  return declared && literalBehind(declared, open);
}

/** The value of a constant of the file. */
function declaration(name: string, source: SourceFile): Found | undefined {
  for (const statement of source.statements.filter(is.isVariableStatement)) {
    for (const { name: declared, initializer } of statement.declarationList.declarations) {
      if (is.isIdentifier(declared) && declared.text === name && initializer) return { node: initializer, source };
    }
  }
  return undefined;
}

/** The value of a constant that is imported from a file with a relative path. */
function imported({ text }: Identifier, source: SourceFile, open: Open): Found | undefined {
  for (const { importClause, moduleSpecifier } of source.statements.filter(is.isImportDeclaration)) {
    if (!is.isStringLiteral(moduleSpecifier) || !moduleSpecifier.text.startsWith('.')) continue;
    const other = () => open(resolve(source.fileName, '..', moduleSpecifier.text));
    const bindings = importClause?.namedBindings;
    if (importClause?.name?.text === text) {
      const from = other();
      const node = from?.statements.find(is.isExportAssignment)?.expression;
      return from && node && { node, source: from };
    }
    const specifier =
      bindings && is.isNamedImports(bindings) ? bindings.elements.find(({ name }) => name.text === text) : undefined;
    if (!specifier) continue;
    const from = other();
    return from && declaration((specifier.propertyName ?? specifier.name).text, from);
  }
  return undefined;
}

function placeOf({ node, source }: Found): Place {
  return { file: source.fileName, line: source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1 };
}
