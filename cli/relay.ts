import './end-with-reader.ts';
import { messageOf } from '../lib/text.ts';
import { printable } from '../local/terminal.ts';
import { relayProgram } from './program.ts';
import { toPaste } from './to-paste.ts';
import { useProxy } from './use-proxy.ts';

try {
  useProxy();
  await relayProgram().parseAsync();
} catch (error) {
  const { awsErrorInWords } = await import('./aws-errors.ts');
  // Error messages never contain secrets, so they can be printed.
  console.error(printable(toPaste(`partner-relay: ${awsErrorInWords(error) ?? messageOf(error)}`)));
  process.exitCode = 1;
}
