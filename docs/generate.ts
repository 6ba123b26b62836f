import { writeFile } from 'node:fs/promises';
import { configurationPage } from './configuration.ts';

// npm run docs: writes the pages that are made from the code. test/docs/ checks that they are current.
await writeFile(new URL('configuration.md', import.meta.url), configurationPage());
