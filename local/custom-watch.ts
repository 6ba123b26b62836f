import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CUSTOM_FOLDER, isAutomation, type ReadFolder } from '../lib/automations/custom/folder.ts';
import { warningsIn } from '../lib/automations/custom/warnings.ts';
import { SENTENCE_END } from '../lib/text.ts';
import type { CustomAutomations } from '../lib/triggers/custom-automation.ts';
import { triggerInWords } from './own-in-words.ts';
import { oneLine } from './terminal.ts';
import { watchFolders } from './watch-folders.ts';

interface CustomWatchOptions {
  /** Reads the folder with the current configuration. */
  read: () => Promise<ReadFolder>;
  use: (custom: CustomAutomations) => Promise<void>;
  /** Called with a sentence about each change. */
  tell: (message: string) => void;
}

/** What each file of the folder does, its faults and its warnings, one line each. */
export function customLines({ custom, faults, warnings, files }: ReadFolder, command?: string): string[] {
  const does = custom.list.map((one) => `automations/${one.name}.ts: ${triggerInWords(one, command)}`);
  const wrong = faults.map((fault) =>
    oneLine(
      fault.startsWith('automations/') ? `${fault}${SENTENCE_END.test(fault) ? '' : '.'} The file is left out.` : fault,
    ),
  );
  return [...does, ...wrong, ...warnings, ...warningsIn(files)];
}

/**
 * Makes the relay use the files of automations/ as people save, add and remove them. Other files that they import are
 * read only at a start.
 */
export function watchCustom(first: ReadFolder, { read, use, tell }: CustomWatchOptions, folder = CUSTOM_FOLDER) {
  let before = seenIn(first, textsIn(folder));
  let ofSettings = settingFaults(first);
  const check = async () => {
    files.add(folder);
    // Read before the files are loaded: a file that is saved meanwhile has then changed since.
    const texts = textsIn(folder);
    const found = await read();
    const wrong = settingFaults(found);
    for (const fault of wrong) if (!ofSettings.includes(fault)) tell(fault);
    ofSettings = wrong;
    const now = seenIn(found, texts);
    const changed = [...now].filter(([file, { text, does }]) => {
      const earlier = before.get(file);
      return earlier?.text !== text || earlier.does !== does;
    });
    const gone = [...before.keys()].filter((file) => !now.has(file));
    if (changed.length + gone.length === 0) return;
    await use(found.custom);
    for (const [file, { does, warnings }] of changed) {
      tell(`${file} ${before.has(file) ? 'has changed' : 'is new'}: ${does}`);
      for (const warning of warnings) tell(warning);
    }
    for (const file of gone) tell(`${file} was removed: it takes no more events`);
    before = now;
  };
  const files = watchFolders(
    (path) => path === folder || (dirname(path) === folder && isAutomation(basename(path))),
    () => check().catch((error) => tell(`the changed automations cannot be read: ${error}`)),
    (error) => tell(`the relay cannot watch automations/ for changes: ${error.message}`),
  );
  files.add(dirname(folder));
  files.add(folder);
  return { check, close: files.close };
}

/** Faults of relay.config.ts that only the files show: a permission for a command that does not exist. */
const settingFaults = ({ faults }: ReadFolder) => faults.filter((fault) => !fault.startsWith('automations/'));

function textsIn(folder: string): ReadonlyMap<string, string> {
  const names = existsSync(folder) ? readdirSync(folder).filter(isAutomation) : [];
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

/** For each file: its text, to notice changes, what it does or what is wrong with it, and its warnings. */
function seenIn(
  found: ReadFolder,
  texts: ReadonlyMap<string, string>,
): Map<string, { text: string; does: string; warnings: string[] }> {
  const lines = customLines(found);
  return new Map(
    found.files.map((path) => {
      const file = `automations/${basename(path)}`;
      const [line = '', ...warnings] = lines.filter((one) => one.startsWith(`${file}:`));
      return [file, { text: texts.get(basename(path)) ?? '', does: line.replace(`${file}: `, ''), warnings }];
    }),
  );
}
