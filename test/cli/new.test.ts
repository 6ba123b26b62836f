import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCustomAutomations } from '../../lib/automations/custom/folder.ts';
import { warningsIn } from '../../lib/automations/custom/warnings.ts';
import { newFolder, withPackage } from '../new-folder.ts';
import { exampleConfig } from '../relay.ts';
import { runRelay } from './run-command.ts';

/** A team's folder of automations. */
function customFolder(): string {
  const project = withPackage(newFolder());
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  return join(project, 'automations');
}

const newAutomation = (folder: string, ...words: string[]) =>
  runRelay({ readConfig: async () => exampleConfig(), customFolder: folder }, 'new', 'automation', ...words);

describe('relay new automation', () => {
  it.each([
    [
      'release.published',
      /on release\.published of GitHub[\s\S]*have GitHub send release events[\s\S]*send release\.published/,
    ],
    ['push', /on push of GitHub/],
    ['issues.labeled', /send issues\.labeled/],
    ['star.created', /name in happened what tells one event from another/],
    ['command', /on \/pm mine <text…>[\s\S]*send slack '\/pm mine hello'/],
    ['schedule', /at 0 9 \* \* MON in [\s\S]*run mine --at \d{4}-/],
    ['webhook:stripe', /on POST \/hooks\/mine[\s\S]*docs\.stripe\.com[\s\S]*secrets set hooks\/mine/],
    ['webhook:hubspot', /write the address of your webhook in place of/],
    ['webhook', /on POST \/hooks\/mine[\s\S]*secrets set hooks\/mine[\s\S]*send hook mine/],
  ])('--on %s writes a file without a fault or a warning, and says what to do next', async (on, expected) => {
    const folder = customFolder();
    expect(await newAutomation(folder, 'mine', '--on', on)).toMatch(expected);
    const { faults, files } = await readCustomAutomations(exampleConfig(), folder);
    expect([...faults, ...warningsIn(files)]).toEqual([]);
    expect(readdirSync(folder)).toEqual(on === 'star.created' ? ['mine.ts'] : ['mine.test.ts', 'mine.ts']);
    await expect(newAutomation(folder, 'mine', '--on', on)).rejects.toThrow('automations/mine.ts already exists');
  });

  it.each([
    ['find', 'push', "automations/find.ts: the relay has 'find' itself"],
    ['My_own', 'push', 'its name may have only lowercase letters'],
    ['../mine', 'push', 'its name may have only lowercase letters'],
    ['a/mine', 'command', 'its name may have only lowercase letters'],
    ["mine', process.exit(), '", 'command', 'its name may have only lowercase letters'],
    ['mine', "push', globalThis.ran = true, '", 'GitHub has no event'],
    ['mine', 'webhook:strip', "there is no sender 'strip'; did you mean 'stripe'?"],
    ['mine', 'webhook:constructor', 'there is no sender'],
    ['mine', 'releas.published', "GitHub has no event 'releas.published'; did you mean 'release.published'?"],
  ])('refuses %s --on %s, and leaves no file', async (name, on, why) => {
    const folder = customFolder();
    await expect(newAutomation(folder, name, '--on', on)).rejects.toThrow(why);
    expect(existsSync(folder)).toBe(false);
    expect(globalThis).not.toHaveProperty('ran');
  });
});
