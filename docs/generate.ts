import { readFile, writeFile } from 'node:fs/promises';
import { configurationPage } from './configuration.ts';
import { withOperations } from './operations.ts';

// npm run docs: writes what the pages have from the code. test/docs/generated.test.ts checks that it is current.
const partnerApi = new URL('partner-api.md', import.meta.url);
await writeFile(partnerApi, withOperations(await readFile(partnerApi, 'utf8')));
await writeFile(new URL('configuration.md', import.meta.url), configurationPage());
