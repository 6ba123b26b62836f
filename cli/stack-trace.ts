import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';

/** `stack-trace`: translates positions in a function's files into positions in the source. */
export function addStackTraceCommand(program: Command): void {
  program
    .command('stack-trace <folder>')
    .description('read a stack trace of a deployed function from standard input and print it with source positions')
    .addHelpText(
      'after',
      `
The source maps of the last deployment are in cdk.out/source-maps, in a folder for each function.

  pbpaste | npm run -s relay -- stack-trace cdk.out/source-maps/job-worker`,
    )
    .action(async (folder: string) => {
      // Each function has this file.
      readMap(folder, 'index.mjs');
      console.log(translate(await text(process.stdin), folder).trimEnd());
    });
}

function readMap(folder: string, name: string): SourceMap {
  const file = join(folder, `${name}.map`);
  try {
    return new SourceMap(JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload);
  } catch (cause) {
    throw new Error(
      `${file} is not a source map that can be read; name a folder of cdk.out/source-maps, from the same build as the function`,
      { cause },
    );
  }
}

function translate(trace: string, folder: string): string {
  return trace.replaceAll(/[^\s(]*?([\w-]+\.mjs):(\d+):(\d+)/g, (place, name: string, line, column) => {
    const origin = readMap(folder, name).findOrigin(Number(line), Number(column));
    return 'fileName' in origin
      ? `${origin.fileName.replace(/^(\.\.\/)+/, '')}:${origin.lineNumber}:${origin.columnNumber}`
      : place;
  });
}
