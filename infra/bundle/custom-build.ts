import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { parse } from 'acorn';
import { buildSync, transformSync } from 'esbuild';
import type { ReadFolder } from '../../lib/automations/custom/folder.ts';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { SOURCE } from '../../lib/project.ts';
import { CONFIG_MODULE, CUSTOM_MODULE, forLambda, inRoot, withRequire } from './function-build.ts';

/** A team's automations, from the folder `automations/`. */
export type CustomFiles = Pick<ReadFolder, 'custom' | 'files'>;

/** A mistake in a team's file. The message begins with the file's path. */
export class CustomFilesError extends Error {
  override readonly name = 'CustomFilesError';
  /** The name of the automation, if the mistake affects only one. */
  readonly automation: string | undefined;

  constructor(message: string, automation?: string) {
    super(message);
    this.automation = automation;
  }
}

/** The imports that an `on` may have: docs/decisions/0009-small-bundles.md. */
const IMPORTABLE = {
  'partner-relay': join(import.meta.dirname, `../../lib/relay${SOURCE}`),
  'partner-relay/zod': join(import.meta.dirname, `../../lib/zod${SOURCE}`),
};
/** The limit for all `on` together, minified, without their imports from `partner-relay`. */
const MOST_ON_BYTES = 32_768;

/**
 * Writes the functions' parts of a team's automations: all `on` as one module, which loads on demand, and each `run` as
 * a module for the worker. If one `run` cannot be loaded, the others still can.
 *
 * @param given the folder that gets the files
 * @returns a function that adds a function's part to its folder, with the triggers as data
 * @throws {CustomFilesError} if an `on` loads more than a webhook may
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

/**
 * Writes the configuration beside a function. It is already checked, with its defaults, so that a cold start does not
 * check it again.
 */
export function writeConfig(config: RelayConfig, folder: string): void {
  writeFileSync(join(folder, CONFIG_MODULE), `export default ${jsonIn(config)};\n`);
}

/**
 * Code that parses the value from a text, because the name `__proto__` in an object literal would set the prototype.
 */
const jsonIn = (value: unknown) => `JSON.parse(${JSON.stringify(JSON.stringify(value))})`;

function emptied(given: string): string {
  // The CDK's path is relative to the current folder, which esbuild does not accept.
  const folder = resolve(given);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

/**
 * Returns the automations that {@link writeOn} accepts, and a fault for each other one.
 *
 * @param folder gets the written files
 */
export function withoutHeavy({ custom, faults, files, ...rest }: ReadFolder, folder: string): ReadFolder {
  const isGood = (file: string) => custom.list.some(({ name }) => name === nameOf(file));
  try {
    writeOn(files.filter(isGood), emptied(folder));
    return { custom, faults, files, ...rest };
  } catch (error) {
    if (!(error instanceof CustomFilesError)) throw error;
    const list = custom.list.filter(({ name }) => name !== error.automation);
    return withoutHeavy({ custom: { ...custom, list }, faults: [...faults, error.message], files, ...rest }, folder);
  }
}

const nameOf = (file: string) => basename(file, '.ts');

/**
 * Returns a file without its `run`, without the code that only `run` uses, and without the imports of that code.
 * Imports of the team's other files are resolved; imports of packages stay.
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
  // As TypeScript, because only there does esbuild drop unused imports.
  return transformSync(bundled?.text ?? '', { loader: 'ts', treeShaking: true }).code;
}

/** Removes the export `run` before its imports are resolved. */
function cut(javascript: string): string {
  const left: string[] = [];
  for (const node of parse(javascript, { ecmaVersion: 'latest', sourceType: 'module' }).body) {
    const text = javascript.slice(node.start, node.end);
    if (node.type !== 'ExportNamedDeclaration') left.push(text);
    else if (!node.declaration) {
      // esbuild writes each export without its own declaration in this form.
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

/** Writes all `on` as one module with its own zod, so that a start does not load the parts of zod that a team uses. */
function writeOn(files: readonly string[], folder: string): void {
  mkdirSync(join(folder, 'on'));
  for (const file of files) {
    const text = withoutRun(file);
    const found = importsOf(text).find((one) => !(one in IMPORTABLE));
    if (found !== undefined)
      throw new CustomFilesError(
        `automations/${nameOf(file)}.ts: code outside \`run\` uses '${found}', which each webhook would load; outside \`run\`, use only ${Object.keys(IMPORTABLE).join(' and ')}`,
        nameOf(file),
      );
    writeFileSync(join(folder, 'on', `${nameOf(file)}.js`), text);
  }
  // Each is loaded on demand, so that an error in one does not affect the others.
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

/** The packages and modules of Node that a bundled file imports. */
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

/**
 * Writes each `run` with a source map, so that an error names the line of the file. Node reads the map when it loads
 * the `run`.
 */
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
