import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { parse } from 'acorn';
import { buildSync, transformSync } from 'esbuild';
import type { ReadFolder } from '../../lib/automations/custom/folder.ts';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { SOURCE } from '../../lib/project.ts';
import { CONFIG_MODULE, CUSTOM_MODULE, forLambda, inRoot, withRequire } from './function-build.ts';

/** A team's automations, as the folder `automations/` has them. */
export type CustomFiles = Pick<ReadFolder, 'custom' | 'files'>;

/** A mistake in a file of the team. The message begins with its path. */
export class CustomFilesError extends Error {
  override readonly name = 'CustomFilesError';
  /** The name of the automation, if the mistake is in one alone. */
  readonly automation: string | undefined;

  constructor(message: string, automation?: string) {
    super(message);
    this.automation = automation;
  }
}

/** What an `on` may import: docs/decisions/0009-small-bundles.md. */
const IMPORTABLE = {
  'partner-relay': join(import.meta.dirname, `../../lib/relay${SOURCE}`),
  'partner-relay/zod': join(import.meta.dirname, `../../lib/zod${SOURCE}`),
};
/** All `on` together, minified, without what they import of `partner-relay`. */
const MOST_ON_BYTES = 32_768;

/**
 * Writes what functions have of a team's automations: what `on` exports as one module that is loaded on demand, and each
 * `run` as another, for the worker. A `run` that cannot be loaded costs no other one.
 *
 * @param given the folder that gets the files
 * @returns adds to the folder of a function its own part, with the triggers as data
 * @throws {CustomFilesError} for an `on` that loads more than a webhook may
 */
export function writeCustom({ custom, files }: CustomFiles, given: string): (slug: string, target: string) => void {
  const folder = emptied(given);
  writeOn(files, folder);
  writeRuns(files, join(folder, 'runs'));
  return (slug, target) => {
    const isWorker = slug === 'job-worker';
    cpSync(join(folder, 'on.mjs'), join(target, 'on.mjs'));
    if (isWorker) cpSync(join(folder, 'runs'), join(target, 'runs'), { recursive: true });
    const run = isWorker
      ? "(name) => (process.setSourceMapsEnabled(true), import('./runs/' + name + '.mjs')).then((file) => file.run)"
      : "() => Promise.reject(new Error('only job-worker runs automations'))";
    writeFileSync(
      join(target, CUSTOM_MODULE),
      `export default { list: ${jsonIn(custom.list)}, on: (name) => import('./on.mjs').then((all) => all.on(name)), run: ${run} };\n`,
    );
  };
}

/** Writes the configuration beside a function: checked and with its defaults, so a cold start does not check it again. */
export function writeConfig(config: RelayConfig, folder: string): void {
  writeFileSync(join(folder, CONFIG_MODULE), `export default ${jsonIn(config)};\n`);
}

/** A text that is parsed, because the name `__proto__` in an object of JavaScript would set its prototype. */
const jsonIn = (value: unknown) => `JSON.parse(${JSON.stringify(JSON.stringify(value))})`;

function emptied(given: string): string {
  // The CDK names its folder from where it runs, and esbuild takes no such path.
  const folder = resolve(given);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

/**
 * What {@link writeOn} takes of a folder, with a fault for each automation that it does not take.
 *
 * @param folder gets what is written
 */
export function withoutHeavy({ custom, faults, files }: ReadFolder, folder: string): ReadFolder {
  const isGood = (file: string) => custom.list.some(({ name }) => name === nameOf(file));
  try {
    writeOn(files.filter(isGood), emptied(folder));
    return { custom, faults, files };
  } catch (error) {
    if (!(error instanceof CustomFilesError)) throw error;
    const list = custom.list.filter(({ name }) => name !== error.automation);
    return withoutHeavy({ custom: { ...custom, list }, faults: [...faults, error.message], files }, folder);
  }
}

const nameOf = (file: string) => basename(file, '.ts');

/**
 * A file without its `run`, what only `run` uses, and what only that imports. Imports of other files of the team are
 * resolved, those of packages are left.
 */
function withoutRun(file: string): string {
  const javascript = transformSync(readFileSync(file, 'utf8'), { loader: 'ts', format: 'esm' }).code;
  const [bundled] = buildSync({
    ...inRoot,
    stdin: { contents: cut(javascript), resolveDir: dirname(file), sourcefile: file },
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    write: false,
    logLevel: 'error',
  }).outputFiles;
  // TypeScript, because esbuild drops unused imports in no other language.
  return transformSync(bundled?.text ?? '', { loader: 'ts', treeShaking: true }).code;
}

/** Takes the export `run` away before anything resolves what it imports. */
function cut(javascript: string): string {
  const left: string[] = [];
  for (const node of parse(javascript, { ecmaVersion: 'latest', sourceType: 'module' }).body) {
    const text = javascript.slice(node.start, node.end);
    if (node.type !== 'ExportNamedDeclaration') left.push(text);
    else if (!node.declaration) {
      // esbuild writes each export this way that has no declaration of its own.
      const names = node.specifiers.filter(({ exported }) => 'name' in exported && exported.name !== 'run');
      const from = node.source ? ` from ${node.source.raw}` : '';
      left.push(`export { ${names.map(({ start, end }) => javascript.slice(start, end)).join(', ')} }${from};`);
    } else if (node.declaration.type === 'VariableDeclaration') {
      const { kind, declarations } = node.declaration;
      const others = declarations.filter(({ id }) => id.type !== 'Identifier' || id.name !== 'run');
      left.push(...others.map(({ start, end }) => `export ${kind} ${javascript.slice(start, end)};`));
    } else if (node.declaration.id.name !== 'run') left.push(text);
  }
  return left.join('\n');
}

/** Writes all `on` as one module with a zod of its own, so that what a team uses of zod is not loaded at the start. */
function writeOn(files: readonly string[], folder: string): void {
  mkdirSync(join(folder, 'on'));
  for (const file of files) {
    const text = withoutRun(file);
    const found = importsOf(text).find((one) => !(one in IMPORTABLE));
    if (found !== undefined)
      throw new CustomFilesError(
        `automations/${nameOf(file)}.ts: its on reaches the import of '${found}', which every webhook would load; import only ${Object.keys(IMPORTABLE).join(' and ')} there, and use the rest inside run`,
        nameOf(file),
      );
    writeFileSync(join(folder, 'on', `${nameOf(file)}.js`), text);
  }
  // Each runs only when it is asked for, so an error in one does not affect the others.
  const loads = files.map((file) => `'${nameOf(file)}': () => import('./on/${nameOf(file)}.js')`);
  const contents = `const loads = { ${loads.join(', ')} };\nexport const on = (name) => loads[name]().then((file) => file.on);`;
  const { outputFiles, metafile } = buildSync({
    ...forLambda,
    alias: IMPORTABLE,
    stdin: { contents, resolveDir: folder },
    absWorkingDir: folder,
    metafile: true,
    write: false,
  });
  const [output] = Object.values(metafile.outputs);
  const bytesOf = (file: string) => output?.inputs[`on/${nameOf(file)}.js`]?.bytesInOutput ?? 0;
  const [largest = ''] = files.toSorted((a, b) => bytesOf(b) - bytesOf(a));
  const bytes = files.reduce((sum, file) => sum + bytesOf(file), 0);
  if (bytes > MOST_ON_BYTES) {
    throw new CustomFilesError(
      `automations/${nameOf(largest)}.ts: with its on, those of all files have ${bytes} bytes, and webhooks load at most ${MOST_ON_BYTES}; move what only run needs into run`,
      nameOf(largest),
    );
  }
  writeFileSync(join(folder, 'on.mjs'), outputFiles[0]?.contents ?? '');
}

/** What a bundled file imports of packages and of Node. */
function importsOf(text: string): string[] {
  const { metafile } = buildSync({
    ...inRoot,
    stdin: { contents: text, resolveDir: import.meta.dirname },
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    metafile: true,
    write: false,
  });
  return Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
}

/** With source maps, so that an error has the line of the file. Node reads one when it loads a `run`. */
function writeRuns(files: readonly string[], folder: string): void {
  mkdirSync(folder);
  buildSync({
    ...forLambda,
    ...withRequire,
    alias: IMPORTABLE,
    entryPoints: [...files],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    splitting: true,
    sourcemap: 'linked',
    sourcesContent: false,
  });
}
