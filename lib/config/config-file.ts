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
    throw error instanceof ConfigError ? withFaults(file, error) : notRun(file, error);
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

/** The error for a file that does not parse, imports a missing file, or throws. */
function notRun(file: string, error: unknown): ConfigFileError {
  const { name, message, stack = '' } = error instanceof Error ? error : new Error(String(error));
  const what = name === 'SyntaxError' ? 'syntax error: ' : '';
  const place = file.endsWith('.json') ? undefined : placeIn(stack);
  return new ConfigFileError(`${placeText(place ?? { file })}: ${what}${message}`, { cause: error });
}

/**
 * Finds the first place in a stack outside Node. A syntax error has it in the first line: `/project/relay.config.ts:3`
 * or `file:///project/relay.config.ts:3`. Other errors have it in a frame.
 */
function placeIn(stack: string): { file: string; line: number } | undefined {
  const [, path, line] =
    /^(\S.*\.[cm]?[jt]s):(\d+)\n/.exec(stack) ?? /(file:\/\/\S+\.[cm]?[jt]s):(\d+):\d+/.exec(stack) ?? [];
  if (path === undefined) return undefined;
  return { file: path.startsWith('file:') ? fileURLToPath(path) : path, line: Number(line) };
}

function placeText({ file, line }: { file: string; line?: number }): string {
  return line === undefined ? shortPath(file) : `${shortPath(file)}:${line}`;
}

/** Shortens a path to be relative to the current folder or the project, if the file is inside. */
function shortPath(file: string): string {
  for (const folder of [process.cwd(), projectFolder()]) {
    const path = relative(folder, file);
    if (!path.startsWith('..')) return path;
  }
  return file;
}
