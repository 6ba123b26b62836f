import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';

/** `stack-trace`: translates positions in a bundle into positions in the source. */
export function addStackTraceCommand(program: Command): void {
  program
    .command('stack-trace <map>')
    .description('read a stack trace of a deployed function from standard input and print it with source positions')
    .addHelpText(
      'after',
      `
The maps of the last deployment are in cdk.out/source-maps.

  pbpaste | npm run -s relay -- stack-trace cdk.out/source-maps/job-worker.mjs.map`,
    )
    .action(async (file: string) => {
      const map = new SourceMap(readMap(file));
      console.log(translate(await text(process.stdin), map).trimEnd());
    });
}

function readMap(file: string): SourceMapPayload {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload;
  } catch (cause) {
    throw new Error(`${file} is not a source map that can be read; name one of those in cdk.out/source-maps`, {
      cause,
    });
  }
}

function translate(trace: string, map: SourceMap): string {
  return trace.replaceAll(/[^\s(]*index\.mjs:(\d+):(\d+)/g, (place, line, column) => {
    const origin = map.findOrigin(Number(line), Number(column));
    return 'fileName' in origin
      ? `${origin.fileName.replace(/^(\.\.\/)+/, '')}:${origin.lineNumber}:${origin.columnNumber}`
      : place;
  });
}
