import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startChild } from '../child.ts';
import { newFolder } from '../new-folder.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Runs `partner-relay config check` on a file, in its folder, without a relay. */
async function check(file: string, text: string, ...options: string[]) {
  const folder = newFolder();
  await writeFile(join(folder, file), text);
  const child = startChild([join(root, 'cli/bin.js'), 'config', 'check', file, ...options], folder);
  return { code: await child.ended(), output: child.output() };
}

const importing = `import { defineConfig } from '${join(root, 'lib/config/schema.ts')}';`;
const withSettings = (...lines: string[]) => [importing, 'export default defineConfig({', ...lines, '});'].join('\n');

describe('partner-relay config check', () => {
  it('a good configuration is summarized, without a running relay', async () => {
    const { code, output } = await check('relay.config.ts', withSettings('connections: { main: {}, other: {} },'));
    expect(output).toContain('The configuration is valid. connections: main, other; repositories: none; Slack: off');
    expect(code).toBe(0);
  });

  it.each([
    [`${importing}\nexport default defineConfig({ connections: [1, 2 });\n`, /config\.ts:2:50: syntax error/],
    ['export default {', /config\.ts:1: syntax error: Unexpected/],
    ['export const config = {};', /config\.ts exports no configuration: .*export default/],
    ["import './nope.ts';\nexport default {};", /config\.ts: Cannot find module/],
    ['const none = [];\n\nexport default none[0].settings;', /config\.ts:3:24: Cannot read prop/],
    [
      'export default {\n  connections: { main: {} },\n  contct: 1,\n};',
      /config\.ts has 1 fault:\n {2}contct: this name is unknown; did you mean 'contact'\?/,
    ],
    [
      withSettings("connections: { main: {} }, slack: { connection: 'main', permissions: { lgo: {} } },"),
      /1 fault found:\n {2}slack\.permissions\.lgo: no command has this permission; did you mean 'log'\?/,
    ],
    [
      withSettings('connections: { main: { mcp: { limits: { perMinute: 1_000 } } } },'),
      /config\.ts has 1 fault:\n {2}connections\.main\.mcp\.limits\.perMinute: expected at most 120, because the service refuses more, found 1000/,
    ],
  ])('a configuration is refused with its file, and with its line if that is known: %j', async (text, expected) => {
    const { code, output } = await check('relay.config.ts', text);
    expect(output).toMatch(expected);
    expect(output).not.toMatch(/\n\s+at /);
    expect(code).toBe(1);
  });

  it('a login on GitHub without the id of its account is accepted, with a note', async () => {
    const settings = [
      "connections: { main: {} }, github: { repositories: [{ name: 'acme/web', connection: 'main' }] },",
      "people: [{ email: 'ada@example.com', github: 'ada' }],",
    ];
    const { code, output } = await check('relay.config.ts', withSettings(...settings));
    const hint = /is valid\..*\n\? github: people\.0 {2}it has no githubId: .*users\/ada, or set GITHUB_TOKEN/;
    expect(output).toMatch(hint);
    expect(code).toBe(0);
  });

  it('a configuration in JSON is the same, and only read', async () => {
    const written = withSettings('connections: { main: { limits: { perDay: 900 } } },');
    const { output: json } = await check('relay.config.ts', written, '--json');
    expect(JSON.parse(json)).toMatchObject({ connections: { main: { limits: { perMinute: 120, perDay: 900 } } } });
    expect(await check('proposed.json', json, '--json')).toEqual({ code: 0, output: json });
    const { code, output } = await check('proposed.json', `process.exit(0);\n${json}`);
    expect(output).toMatch(/proposed\.json: syntax error/);
    expect(code).toBe(1);
  });

  it('every fault has the path of its setting', async () => {
    const settings = [
      'connections: { main: {} },',
      "github: { repositories: [{ name: 'acme/web', connection: 'main', logtime: true }] },",
      "timesheets: { teams: [{ name: 'x', peple: 'all' }] },",
    ];
    const { output } = await check('relay.config.ts', withSettings(...settings));
    expect(output).toMatch(/config\.ts has \d faults:$/m);
    for (const fault of [
      'github.repositories.0.logtime: ',
      'timesheets.teams.0.peple: ',
      'timesheets.teams.0.hours: missing',
    ])
      expect(output).toContain(`\n  ${fault}`);
  });
});
