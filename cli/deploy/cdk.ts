import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { projectFolder, SOURCE } from '../../lib/project.ts';
import type { Define } from '../cli.ts';
import { runNode } from './run-node.ts';

/** `cdk`: calls the command line of the CDK. */
export const define: Define = (command, { stage }) =>
  command
    .description("call the CDK's own command line, as `cdk` in a folder with a cdk.json does")
    .usage('<command of the CDK> [options]')
    .argument('<words...>')
    .allowUnknownOption()
    .helpOption(false)
    .action(async (words: string[]) => {
      const cdk = cdkFolder();
      const name = stage();
      const given = [...words, ...(name === undefined ? [] : ['--context', `stage=${name}`])];
      process.exitCode = await runNode(cdkIn(cdk), existsSync('cdk.json') ? given : [...given, ...withoutFile(words)]);
    });

/** What cdk.json would say. */
function withoutFile(words: readonly string[]): string[] {
  const app = join(import.meta.dirname, `../../infra/app${SOURCE}`);
  const isGiven = (option: string) => words.some((word) => word === option || word.startsWith(`${option}=`));
  return [
    // The CDK takes away quotes that are around the whole, so a space is in front.
    ...(isGiven('--app') || isGiven('-a') ? [] : ['--app', ` "${process.execPath}" "${app}"`]),
    ...(words[0] === 'bootstrap' && !isGiven(TOOLKIT) ? [TOOLKIT, 'CDKToolkit-relay'] : []),
    ...['--context', '@aws-cdk/core:bootstrapQualifier=relay'],
  ];
}

const TOOLKIT = '--toolkit-stack-name';

/** The program, in the folder of the package `aws-cdk`. */
export const cdkIn = (folder: string) => join(folder, 'bin/cdk');

/**
 * The folder of the package `aws-cdk`. The CDK is for stages only, so a team installs it when it has one.
 *
 * @throws {Error} that says how to install it
 */
export function cdkFolder(): string {
  const { resolve } = createRequire(join(projectFolder(), 'package.json'));
  try {
    for (const name of ['aws-cdk-lib', 'constructs']) resolve(name);
    return dirname(resolve('aws-cdk/package.json'));
  } catch {
    throw new Error(
      'the AWS CDK is not installed in this folder: run npm install --save-dev aws-cdk aws-cdk-lib constructs',
    );
  }
}
