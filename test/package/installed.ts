import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import root from '../../package.json' with { type: 'json' };

export const ROOT = join(import.meta.dirname, '../..');
const NODE = process.execPath;

/** Variables that a developer's shell may have set, and that npm sets for this repository's scripts. */
const NOT_OF_A_TEAM = /^(?:PARTNER|GITHUB|SLACK|RELAY)_|^npm_(?!config_)|^npm_config_(?:user_agent|local_prefix)$/;
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !NOT_OF_A_TEAM.test(name)));

/** Runs a program to its end. @returns its output @throws {Error} with the output, if it fails */
export function run(folder: string, words: readonly string[], variables: NodeJS.ProcessEnv = {}): Promise<string> {
  const [program = '', ...rest] = words;
  const env = { ...environment, PATH: `${dirname(NODE)}:${process.env.PATH}`, ...variables };
  return new Promise((resolve, reject) =>
    execFile(program, rest, { cwd: folder, env, maxBuffer: 1e8 }, (error, stdout, stderr) =>
      error ? reject(new Error(`${words.join(' ')}\n${stdout}${stderr}`)) : resolve(stdout + stderr),
    ),
  );
}

/** Packs this repository. @returns the paths of the package and its tarball */
export async function pack(folder = newFolder()): Promise<{ folder: string; files: string; tarball: string }> {
  await run(ROOT, [NODE, 'pack/pack.ts', folder]);
  return { folder, files: join(folder, 'dist/package'), tarball: join(folder, `${root.name}-${root.version}.tgz`) };
}

/** Several tests use the folder, so the caller removes it. */
export const newFolder = () => mkdtempSync(join(tmpdir(), 'partner-relay-package-'));

export const CDK = ['aws-cdk', 'aws-cdk-lib', 'constructs'] as const;

export const managers = {
  npm: ['npm', 'install'],
  pnpm: [NODE, join(ROOT, 'node_modules/pnpm/bin/pnpm.mjs'), 'add'],
};

/** Installs the tarball, and tools in this repository's versions. */
export async function install(
  folder: string,
  manager: keyof typeof managers,
  tarball: string,
  ...tools: (keyof typeof root.devDependencies)[]
): Promise<void> {
  const exact = tools.map((tool) => `${tool}@${root.devDependencies[tool]}`);
  await run(folder, [...managers[manager], '--ignore-scripts', '--prefer-offline', tarball, ...exact]);
}
