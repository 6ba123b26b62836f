import { loadConfig } from '../lib/config/config-file.ts';
import { resumedInWords, resumeForPerson } from '../lib/engine/operate/resume.ts';
import { inOneLine } from '../local/terminal.ts';
import type { Define } from './cli.ts';
import { operatorOf } from './operator.ts';
import { printJson, withIsoTimes } from './print.ts';

/** `resume`: resumes a paused or stopped connection at once. */
export const define: Define = (command, { open }) =>
  command
    .arguments('<connection>')
    .description('end the pause after a 429, close the breakers of failing operations, and continue waiting jobs now')
    .option('--json', 'as JSON, with times in ISO 8601')
    .action(async (connection: string, options: { json?: boolean }) => {
      const target = await open();
      const config = await loadConfig();
      const resumed = await resumeForPerson(connection, operatorOf(target), { ...target.stores, config });
      if (options.json) return printJson(withIsoTimes(resumed));
      for (const line of inOneLine(resumedInWords(connection, resumed))) console.log(line);
    });
