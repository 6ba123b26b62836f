import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { projectFolder, SOURCE } from '../../lib/project.ts';
import type { Define } from '../cli.ts';
import { runNode } from './run-node.ts';

/** `cdk`: runs the CDK's command line. */
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

/** Adds the options that a cdk.json would set. */
function withoutFile(words: readonly string[]): string[] {
  const app = join(import.meta.dirname, `../../infra/app${SOURCE}`);
  const isGiven = (option: string) => words.some((word) => word === option || word.startsWith(`${option}=`));
  return [
    // The CDK removes quotes around a whole value, so a space comes first.
    ...(isGiven('--app') || isGiven('-a') ? [] : ['--app', ` "${process.execPath}" "${app}"`]),
    ...(words[0] === 'bootstrap' && !isGiven(TOOLKIT) ? [TOOLKIT, 'CDKToolkit-relay'] : []),
    ...['--context', '@aws-cdk/core:bootstrapQualifier=relay'],
  ];
}

const TOOLKIT = '--toolkit-stack-name';

/** The program, in the folder of the package `aws-cdk`. */
export const cdkIn = (folder: string) => join(folder, 'bin/cdk');

/**
 * The folder of the package `aws-cdk`. Only stages need the CDK, so a team installs it with its first stage.
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
