import { existsSync } from 'node:fs';
import module from 'node:module';
import { whichNode } from './which-node.js';

// Plain JavaScript without packages: it runs before anything is installed, on whatever Node the machine has.
if (!existsSync(new URL('../node_modules/commander', import.meta.url)))
  stop('Run npm ci first: it installs the packages of Partner Relay, and its Node.');
const { npm_config_user_agent: npm = '', npm_node_execpath: ownNode = '' } = process.env;
const [, own] = /\bnode\/v([\d.]+)/.exec(npm) ?? [];
// Windows cannot replace a process, and has the Node of this folder.
const which = whichNode(process.versions.node, process.execve && ownNode !== process.execPath ? own : undefined);
if ('fault' in which) stop(which.fault);
if (which.runs === 'own')
  process.execve(ownNode, [ownNode, ...process.execArgv, ...process.argv.slice(1)], process.env);
if (which.warning && process.argv[1]?.endsWith('start.ts')) console.error(which.warning);
// A command spends half of its time on compiling if Node does not keep the result.
module.enableCompileCache(`${import.meta.dirname}/../node_modules/.cache/compiled`);

/** @param {string} problem */
function stop(problem) {
  console.error(problem);
  process.exit(1);
}
