import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { enumerated, parsedJson } from '../../lib/text.ts';

/** The files of a team's folder besides its configuration and tests. */
const TEXTS = {
  'package.json': '{\n  "private": true,\n  "type": "module"\n}\n',
  'tsconfig.json': '{\n  "extends": "partner-relay/tsconfig.json",\n  "include": ["*.ts", "automations"]\n}\n',
  '.gitignore': 'node_modules/\n.relay/\ncdk.out/\n',
};

/** Writes the missing files. Of the existing ones, it changes only the type in package.json. */
export function completeFolder(folder: string, tests: string, tell: (line: string) => void): void {
  const left: string[] = [];
  for (const [name, text] of Object.entries({ 'relay.config.test.ts': tests, ...TEXTS })) {
    const file = join(folder, name);
    if (!existsSync(file)) {
      writeFileSync(file, text, { flag: 'wx' });
      tell(`${file} is written.`);
    } else if (name === 'package.json' && becomesModule(file)) {
      tell(`${file} has "type": "module" now, because relay.config.ts is an ES module.`);
    } else left.push(name);
  }
  if (left.length > 0) tell(`Left as they were: ${enumerated(left)}.`);
}

/** Sets the type within the text, so that npm's formatting stays. @returns whether the file was changed */
function becomesModule(file: string): boolean {
  const text = readFileSync(file, 'utf8');
  const given = Object(parsedJson(text));
  const { type } = given;
  if (type === 'module') return false;
  const [start = '', space = ''] = /^\s*\{(\s*)/.exec(text) ?? [];
  const field = `${space}"type": `;
  const isEmpty = text[start.length] === '}';
  const changed =
    type === undefined
      ? text.replace('{', `{${field}"module"${isEmpty ? '' : ','}`)
      : text.replace(`${field}"${type}"`, `${field}"module"`);
  const isKept = type === undefined || Object(parsedJson(changed)).type === 'module';
  writeFileSync(file, isKept ? changed : `${JSON.stringify({ ...given, type: 'module' }, null, 2)}\n`);
  return true;
}
