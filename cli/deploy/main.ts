import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { messageOf } from '../../lib/text.ts';
import { printable } from '../../local/terminal.ts';
import { awsErrorInWords } from '../aws-errors.ts';
import { useProxy } from '../use-proxy.ts';
import { deployBuilt } from './deploy-built.ts';

// This is deploy.mjs in the folder that `build` writes: it deploys what is beside it.
try {
  useProxy();
  const { values } = parseArgs({
    options: { yes: { type: 'boolean' }, 'import-existing-resources': { type: 'boolean' } },
  });
  const { yes = false, 'import-existing-resources': isImporting = false } = values;
  await deployBuilt(import.meta.dirname, { isAsking: !yes && process.stdin.isTTY, isImporting, pause: setTimeout });
} catch (error) {
  console.error(printable(`partner-relay: ${awsErrorInWords(error) ?? messageOf(error)}`));
  process.exitCode = 1;
}
