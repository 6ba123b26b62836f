import { existsSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { faultLine } from '../faults/fault.ts';
import { projectFolder } from '../project.ts';
import { counted } from '../text.ts';
import { ConfigError, defineConfig, type RelayConfig, type RelayConfigInput } from './schema.ts';

/** An unusable configuration file. The message lists all faults, with the path of each setting. */
export class ConfigFileError extends Error {
  override readonly name = 'ConfigFileError';
}

/**
 * Returns the configuration file: `relay.config.ts` of this project, or the file named by `RELAY_CONFIG`, which may be
 * JSON.
 */
export function configFile(variables: Readonly<Record<string, string | undefined>> = process.env): string {
  return variables.RELAY_CONFIG ? resolve(variables.RELAY_CONFIG) : resolve(projectFolder(), 'relay.config.ts');
}

/**
 * Loads and checks a configuration.
 *
 * @throws {ConfigFileError} if the file is missing or cannot be run, or with all faults of its settings
 */
export async function loadConfig(file = configFile()): Promise<RelayConfig> {
  if (!existsSync(file)) throw new ConfigFileError(missingInWords(file));
  let exported: { default?: unknown };
  try {
    exported = await load(file);
  } catch (error) {
    if (error instanceof ConfigError) throw withFaults(file, error);
    throw new ConfigFileError(notRun(file, error), { cause: error });
  }
  if (exported.default === undefined) {
    throw new ConfigFileError(
      `${shortPath(file)} exports no configuration: it has to contain export default defineConfig({ … })`,
    );
  }
  try {
    // Checks again what defineConfig returns, because the file may also export a plain object, which is still
    // unchecked.
    return defineConfig(exported.default as RelayConfigInput);
  } catch (error) {
    throw error instanceof ConfigError ? withFaults(file, error) : error;
  }
}

/** Says where the relay looked for a configuration, and what to do. */
export function missingInWords(file: string): string {
  const folder = projectFolder();
  return file === resolve(folder, 'relay.config.ts')
    ? `there is no relay.config.ts in ${folder} or above it: npx partner-relay init writes one`
    : `there is no configuration: ${shortPath(file)} does not exist`;
}

/** Only reads a JSON file. Runs a module, with all its imports. */
async function load(file: string): Promise<{ default?: unknown }> {
  return file.endsWith('.json')
    ? { default: JSON.parse(readFileSync(file, 'utf8')) }
    : import(pathToFileURL(file).href);
}

function withFaults(file: string, error: ConfigError): ConfigFileError {
  const lines = error.faults.map(faultLine);
  return new ConfigFileError(`${shortPath(file)} has ${counted(lines.length, 'fault')}:\n  ${lines.join('\n  ')}`, {
    cause: error,
  });
}

/**
 * Says where and why a file cannot be run: it does not parse, imports something that does not exist, or throws.
 *
 * @param shown the path of the file for people
 */
export function notRun(file: string, error: unknown, shown = shortPath(file)): string {
  const { name, message, stack = '' } = error instanceof Error ? error : new Error(String(error));
  const what = name === 'SyntaxError' ? 'syntax error: ' : '';
  const place = file.endsWith('.json') ? undefined : placeIn(stack);
  if (!place) return `${shown}: ${what}${message}`;
  return `${place.file === file ? shown : `${shown}: ${shortPath(place.file)}`}:${place.at}: ${what}${message}`;
}

/**
 * Finds the first place in a stack outside Node and packages. A syntax error begins with it, `/relay.config.ts:3` or
 * `file:///relay.config.ts:3`, and a caret below the line marks the column, unless the file has ended. Other errors have
 * it in a frame.
 */
function placeIn(stack: string): { file: string; at: string } | undefined {
  const [, above, line, before] = /^(\S[^\n?]*\.[cm]?[jt]s)\S*:(\d+)\n(?:(?:.*\n)*?([ \t]*)\^)?/.exec(stack) ?? [];
  const [, frame, of] = /(file:(?!\S*\/node_modules\/)[^\s?]+\.[cm]?[jt]s)\S*?:(\d+:\d+)/.exec(stack) ?? [];
  const column = before === undefined ? '' : `:${before.length + 1}`;
  const [path, at = ''] = above === undefined ? [frame, of] : [above, `${line}${column}`];
  return path === undefined ? undefined : { file: path.startsWith('file:') ? fileURLToPath(path) : path, at };
}

/** Shortens a path to be relative to the current folder or the project, if the file is inside. */
function shortPath(file: string): string {
  const paths = [process.cwd(), projectFolder()].map((folder) => relative(folder, file));
  return paths.find((path) => !path.startsWith('..')) ?? file;
}
