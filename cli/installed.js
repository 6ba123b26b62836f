import { existsSync } from 'node:fs';
import module from 'node:module';

// Plain JavaScript without packages: it runs before anything is installed, on whatever Node the machine has.
const problem = existsSync(new URL('../node_modules/commander', import.meta.url))
  ? problemOfNode()
  : 'Run npm ci first: it installs the packages of Partner Relay, and its Node.';
if (problem !== undefined) {
  console.error(problem);
  process.exit(1);
}
// A command spends half of its time on compiling if Node does not keep the result.
module.enableCompileCache(`${import.meta.dirname}/../node_modules/.cache/compiled`);

function problemOfNode() {
  if (process.features.typescript) return undefined;
  return `Partner Relay needs Node 24, and this is ${process.version}. Run npm ci; where that brings no Node, install one.`;
}
