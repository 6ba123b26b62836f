import { globSync, readFileSync } from 'node:fs';
import { type AnyNode, parse } from 'acorn';
import { transformSync } from 'esbuild';

const cwd = new URL('..', import.meta.url).pathname;

/** What people read, by where they read it. */
export const surfaces = {
  people: 'lib/{as-person,automations,commands,links,notices,people,platforms,replies,timesheets,intake/slack}/**/*.ts',
  operators: '{functions/*.ts,lib/*.ts,lib/{checks,config,engine,faults,operators,service,state,triggers}/**/*.ts}',
  terminal: '{cli,infra,local,pack}/**/*.{js,ts}',
  console: 'console/**/*.{ts,tsx}',
  tests: 'test/**/*.ts',
} as const;
export type Surface = keyof typeof surfaces;

/** The texts of a surface as one list, each below the file that has it. */
export function textsOf(surface: Surface): string {
  return globSync(surfaces[surface], { cwd })
    .sort()
    .flatMap((file) => {
      const texts = textsIn(file);
      return texts.length === 0 ? [] : [`${file}\n${texts.map((text) => `  ${text}\n`).join('')}`];
    })
    .join('\n');
}

/** The texts of two words or more in a file, in their order. What they take from elsewhere is `{…}`. */
export function textsIn(file: string): string[] {
  const source = readFileSync(`${cwd}${file}`, 'utf8');
  const { code } = transformSync(source, { loader: file.endsWith('x') ? 'tsx' : 'ts', jsx: 'automatic' });
  const texts: string[] = [];
  visit(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }), (node) => {
    if (node.type === 'Literal' && typeof node.value === 'string') texts.push(node.value);
    if (node.type === 'TemplateLiteral') texts.push(node.quasis.map(({ value }) => value.cooked).join('{…}'));
  });
  return texts.map((text) => text.replaceAll(/\s+/g, ' ').trim()).filter((text) => TWO_WORDS.test(text));
}

/** Words, and not a condition of DynamoDB or a style. */
const TWO_WORDS = /^(?!#|SET |REMOVE |attribute_|[^ ]*\{[a-z-]+:).*\p{L}{2}.* \p{L}{2}/u;

function visit(node: AnyNode, see: (node: AnyNode) => void): void {
  see(node);
  if (node.type === 'ImportDeclaration') return;
  if (node.type === 'Property' && node.key.type === 'Identifier' && node.key.name === 'className') return;
  const parts = Object.values(node).flat() as unknown[];
  for (const part of parts) if (typeof Object(part).type === 'string') visit(part as AnyNode, see);
}
