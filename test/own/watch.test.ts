import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { readCustomAutomations } from '../../lib/automations/custom/folder.ts';
import { defineConfig, type RelayConfig } from '../../lib/config/schema.ts';
import type { CustomAutomations } from '../../lib/triggers/custom-automation.ts';
import type { CommandSteps } from '../../lib/triggers/steps.ts';
import { watchConfig } from '../../local/config-watch.ts';
import { customLines, watchCustom } from '../../local/custom-watch.ts';
import { newFolder, withPackage } from '../new-folder.ts';
import { exampleConfig } from '../relay.ts';

const text = (on: string) => `import * as relay from 'partner-relay';
export const on = relay.${on};
export const run = async () => 'done';
`;

it('a saved, added or removed file of automations/ is used at once, and announced on one line', async () => {
  const folder = join(withPackage(newFolder()), 'automations');
  const save = (name: string, content: string) => writeFile(join(folder, `${name}.ts`), content);
  let config = exampleConfig();
  const read = () => readCustomAutomations(config, folder);
  const told: string[] = [];
  let used: CustomAutomations | undefined;
  const use = async (custom: CustomAutomations) => {
    used = custom;
  };
  const { close } = watchCustom(await read(), { read, use, tell: (line) => told.push(line) }, folder);
  onTestFinished(close);
  const tells = (line: string) => vi.waitFor(() => expect(told).toContain(line), { timeout: 60_000 });

  await mkdir(folder);
  await save('monday', text("schedule('0 9 * * MON', 'Europe/Berlin')"));
  await tells('automations/monday.ts is new: at 0 9 * * MON in Europe/Berlin');
  expect(used?.list).toMatchObject([{ name: 'monday', cron: '0 9 * * MON' }]);

  await save('monday', text("schedule('0 10 * * MON', 'Europe/Berlin')"));
  await tells('automations/monday.ts has changed: at 0 10 * * MON in Europe/Berlin');
  expect(used?.list).toMatchObject([{ name: 'monday', cron: '0 10 * * MON' }]);

  await save('block', text("command('block <task>', { does: 'blocks', example: 'block 4711' })"));
  await tells('automations/block.ts is new: on /pm block <task>');

  await save('monday', text("schedule('1 9 * * MON', 'Europe/Berlin')"));
  await tells(
    "automations/monday.ts has changed: the cron expression '1 9 * * MON' has a minute that the relay does not check: it looks every 15 minutes. Its minutes can be 0, 15, 30 and 45. The file is left out.",
  );
  expect(used?.list).toMatchObject([{ name: 'block' }]);

  await save('block', `${text("command('block <task>', { does: 'blocks', example: 'block 4711' })")}void Date.now();`);
  await tells(
    'automations/block.ts:4: nothing waits for this, and a step that is under way when run returns parks the job; write await',
  );
  expect(told.at(-3)).toBe('automations/block.ts has changed: on /pm block <task>');

  config = defineConfig({ ...exampleConfig(), slack: undefined });
  await save('block', text("command('block <task>', { does: 'blocks', example: 'block 4711' })"));
  await tells(
    "automations/block.ts: nobody can use 'block' without slack in relay.config.ts; add slack: { connection: 'main' }",
  );

  await save('alert', text("webhook({ body: {}, input: {}, job: () => 'no' })"));
  await tells('automations/alert.ts is new: on POST /hooks/alert, verified by Standard Webhooks');
  config = defineConfig({ ...exampleConfig(), slack: { connection: 'main', permissions: { blok: {} } } });
  await save('block', text("command('block <task>', { does: 'blocks', example: 'block 4711', permission: 'block' })"));
  await save('monday', text("schedule('0 9 * * MON', 'Europe/Berlin')"));
  await tells("slack.permissions.blok: no command has this permission; did you mean 'block'?");
  config = exampleConfig();
  await save('monday', text("schedule('1 9 * * MON', 'Europe/Berlin')"));
  await rm(join(folder, 'block.ts'));
  await tells('automations/block.ts was removed: it takes no more events');
  expect(customLines(await read())).toEqual([
    'automations/alert.ts: on POST /hooks/alert, verified by Standard Webhooks',
    expect.stringMatching(/^automations\/monday\.ts: the cron expression .*\. The file is left out\.$/),
  ]);
});

it('the last of several saves counts, also if they follow within milliseconds', async () => {
  const folder = withPackage(newFolder());
  const file = join(folder, 'monday.ts');
  const saying = (save: number) => text("schedule('0 9 * * MON', 'UTC')").replace('done', `save ${save}`);
  await writeFile(file, saying(1));
  const read = () => readCustomAutomations(exampleConfig(), folder);
  let used = await read();
  const use = async (custom: CustomAutomations) => {
    used = { ...used, custom };
  };
  const saving = async () => {
    const found = await read();
    // Another save comes while the file is loaded.
    if (saves < 9) await writeFile(file, saying(++saves));
    return found;
  };
  let saves = 2;
  const { check, close } = watchCustom(used, { read: saving, use, tell: () => {} }, folder);
  onTestFinished(close);
  await writeFile(file, saying(saves));
  for (let looks = 0; looks < 12; looks++) await check();
  const run = await used.custom.run('monday');
  expect(await run({}, {} as CommandSteps)).toBe('save 9');
});

it('a promise that a file leaves behind while it is loaded ends no process', async () => {
  const folder = withPackage(newFolder());
  const rejecting = `${text("schedule('0 9 * * MON', 'UTC')")}void Promise.reject(new Error());`;
  await writeFile(join(folder, 'monday.ts'), rejecting);
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => said.mockRestore());
  expect(await readCustomAutomations(exampleConfig(), folder)).toMatchObject({
    custom: { list: [{ name: 'monday' }] },
  });
  const message = 'automations/monday.ts left a promise or a timer behind, and it failed';
  await vi.waitFor(() => expect(said).toHaveBeenCalledWith(expect.objectContaining({ message })));
});

it('a changed configuration that causes faults in files of automations/ is reported with them', async () => {
  const folder = withPackage(newFolder());
  const [file, automations] = [join(folder, 'relay.config.json'), join(folder, 'automations')];
  await mkdir(automations);
  await writeFile(join(automations, 'monday.ts'), text("schedule('0 9 * * MON', 'Europe/Berlin')"));
  await writeFile(join(automations, 'alert.ts'), text("webhook({ body: {}, input: {}, job: () => 'no' })"));
  await writeFile(file, JSON.stringify({ connections: { main: {} } }));
  vi.stubEnv('RELAY_CONFIG', file);
  const told: string[] = [];
  const stop = watchConfig(defineConfig({ connections: { main: {} } }), [file], {
    use: () => Promise.reject(new Error('only a start takes other connections')),
    customFaults: async (config: RelayConfig) => (await readCustomAutomations(config, automations)).faults,
    tell: (line) => told.push(line),
  });
  onTestFinished(() => {
    stop();
    vi.unstubAllEnvs();
  });
  await writeFile(file, JSON.stringify({ connections: { main: {}, other: {} } }));
  const several = 'relay.config.ts has several connections; name one of them';
  const expected =
    'restart the relay to apply this change: a connection was added, removed or renamed; connections.<name>.mcp.accounts changed. 2 faults to repair first: ' +
    `automations/alert.ts: ${several}, as a field of webhook({ … }): { connection: 'main' }; ` +
    `automations/monday.ts: ${several} as the third argument of schedule(…): { connection: 'main' }`;
  await vi.waitFor(() => expect(told).toEqual([expected]), { timeout: 60_000 });
});
