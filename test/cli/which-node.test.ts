import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { whichNode } from '../../cli/which-node.js';
import { startChild } from '../child.ts';
import { newFolder } from '../new-folder.ts';

it.each<[string, string | undefined, string]>([
  ['24.21.0', '24.22.1', 'own'],
  ['24.23.0', '24.22.1', 'own'],
  ['24.21.0', '24.21.1', 'own'],
  ['24.21.0', '24.9.0', 'here, warned'],
  ['24.21.0', '20.20.2', 'here, warned'],
  ['24.21.0', '26.10.0', 'here, warned'],
  ['24.22.1', '20.20.2', 'here'],
  ['24.22.2', '24.22.2', 'here'],
  ['24.18.1', undefined, 'here, warned'],
  ['24.0.0', '24.18.0', 'none'],
  ['24.18.0', undefined, 'none'],
  ['20.20.2', '20.20.2', 'none'],
])('of Node %s here and the %s of the machine runs: %s', (here, own, runs) => {
  const which = whichNode(here, own);
  const install = expect.stringMatching(/Install Node 24\.22\.1 or a later 24/);
  if (runs === 'none') expect(which).toEqual({ fault: install });
  else if (runs.endsWith('warned')) {
    expect(which).toEqual({ runs: 'here', warning: install });
    const whose =
      own === undefined ? 'Your Node 24.18.1 has' : 'Node 24.21.0, which npm ci brought into this folder, has';
    expect(which).toHaveProperty('warning', expect.stringContaining(whose));
  } else expect(which).toEqual({ runs });
});

it.skipIf(process.platform === 'win32')("the machine's own Node takes the place of that of the folder", async () => {
  const own = join(newFolder(), 'node');
  writeFileSync(own, '#!/bin/sh\necho "own: $*"\n');
  chmodSync(own, 0o755);
  const child = startChild(
    ['--import', join(import.meta.dirname, '../../cli/installed.js'), 'cli/relay.ts', 'jobs'],
    process.cwd(),
    {
      npm_config_user_agent: 'npm/11.6.2 node/v24.99.0 linux x64',
      npm_node_execpath: own,
    },
  );
  expect(await child.ended()).toBe(0);
  expect(child.output()).toMatch(/^own: --import .*installed\.js .*cli\/relay\.ts jobs$/m);
});
