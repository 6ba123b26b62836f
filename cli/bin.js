#!/usr/bin/env node
// Plain JavaScript, because Node 20 has to run it, too.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { otherNodes, whichNode } from './which-node.js';

/** The relay may run for days, so its heap is small: docs/decisions/0021-database-process.md. */
const FLAGS = ['--max-semi-space-size=4', '--max-old-space-size=512'];

const require = module.createRequire(import.meta.url);
const { argv, env, execArgv, versions } = process;
const starts = argv[2] === 'start' && !argv.includes('--stage');
try {
  require.resolve('commander');
} catch {
  stop('Run npm ci first: it installs the packages of Partner Relay, and its Node.');
}
const which = whichNode(versions.node, otherNodes(process.cwd(), env));
if ('fault' in which) stop(which.fault);
const flags = starts ? FLAGS.filter((flag) => !execArgv.includes(flag)) : [];
if (which.path !== undefined || flags.length > 0) handOver(which.path ?? process.execPath, [...execArgv, ...flags]);
else await run();

async function run() {
  if (which.warning !== undefined && starts) console.error(which.warning);
  // Without Node's compile cache, a command spends half of its time on compiling.
  module.enableCompileCache();
  await import(existsSync(new URL('relay.ts', import.meta.url)) ? './relay.ts' : './relay.js');
}

/** @param {string} node @param {string[]} flags */
function handOver(node, flags) {
  const words = [...flags, ...argv.slice(1)];
  // Windows and Node 20 cannot replace a process.
  if (process.execve) process.execve(node, [node, ...words], env);
  const child = spawn(node, words, { stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // A terminal sends Ctrl+C to both processes. Without a terminal, only this process gets the signal.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  child.on('exit', (code) => process.exit(code ?? 1));
}

/** @param {string} problem */
function stop(problem) {
  console.error(problem);
  process.exit(1);
}
