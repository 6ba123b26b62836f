import { existsSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { faultLine } from '../faults/fault.ts';
import { projectFolder } from '../project.ts';
import { counted } from '../text.ts';
import { ConfigError, defineConfig, type RelayConfig, type RelayConfigInput } from './schema.ts';

/** A configuration file that cannot be used. The message has every fault, with the path of its setting. */
export class ConfigFileError extends Error {
  override readonly name = 'ConfigFileError';
}

/** The configuration: `relay.config.ts` of this project, or the file that `RELAY_CONFIG` names, which can be JSON. */
export function configFile(variables: Readonly<Record<string, string | undefined>> = process.env): string {
  return variables.RELAY_CONFIG ? resolve(variables.RELAY_CONFIG) : resolve(projectFolder(), 'relay.config.ts');
}

/**
 * Loads and checks a configuration.
 *
 * @throws {ConfigFileError} if there is no such file, if it cannot be run, or with every fault of its settings
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
    // What defineConfig returns passes again. So does a plain object, which has not been checked yet.
    return defineConfig(exported.default as RelayConfigInput);
  } catch (error) {
    throw error instanceof ConfigError ? withFaults(file, error) : error;
  }
}

/** Says where a configuration was looked for, and what to do. */
export function missingInWords(file: string): string {
  const folder = projectFolder();
  return file === resolve(folder, 'relay.config.ts')
    ? `there is no relay.config.ts in ${folder} or above it: npx partner-relay init writes one`
    : `there is no configuration: ${shortPath(file)} does not exist`;
}

/** A file of JSON is only read. A module is run, with all that it imports. */
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

/** A file that does not parse, that imports something that does not exist, or that throws. */
function notRun(file: string, error: unknown): ConfigFileError {
  const { name, message, stack = '' } = error instanceof Error ? error : new Error(String(error));
  const what = name === 'SyntaxError' ? 'syntax error: ' : '';
  const place = file.endsWith('.json') ? undefined : placeIn(stack);
  return new ConfigFileError(`${placeText(place ?? { file })}: ${what}${message}`, { cause: error });
}

/**
 * The first place in a stack that is not Node's own. A syntax error has it in the first line, before the line of the
 * source: `/project/relay.config.ts:3` or `file:///project/relay.config.ts:3`. Other errors have it in a frame.
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

/** The path from the current folder or from the project, if the file is in one of them. */
function shortPath(file: string): string {
  for (const folder of [process.cwd(), projectFolder()]) {
    const path = relative(folder, file);
    if (!path.startsWith('..')) return path;
  }
  return file;
}
