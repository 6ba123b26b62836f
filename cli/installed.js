// Plain JavaScript without packages: it runs before anything is installed, on whatever Node the machine has.
const problem = hasPackages()
  ? problemOfNode()
  : 'Run npm ci first: it installs the packages of Partner Relay, and its Node.';
if (problem !== undefined) {
  console.error(problem);
  process.exit(1);
}

function hasPackages() {
  try {
    return import.meta.resolve('commander') !== undefined;
  } catch {
    return false;
  }
}

function problemOfNode() {
  if (process.features.typescript) return undefined;
  return `Partner Relay needs Node 24, and this is ${process.version}. Run npm ci; where that brings no Node, install one.`;
}
