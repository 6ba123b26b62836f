/**
 * The oldest Node 24 without a known advisory of high severity: the security release of 2026-10-21, which fixes
 * CVE-2026-111497 and three others. https://github.com/nodejs/node/blob/main/doc/changelogs/CHANGELOG_V24.md
 */
const WITHOUT_ADVISORY = '24.22.1';
/**
 * What is accepted until npm has that for each platform: the security release of 2026-07-27.
 * https://nodejs.org/en/blog/vulnerability/july-2026-security-releases
 */
const OLDEST = '24.18.1';

/**
 * Which Node runs: the machine's own if it has no known advisory or is the newer one, and otherwise that of this folder.
 *
 * @param {string} here the version that runs, `24.21.0`: in an npm script that of this folder, if it has one
 * @param {string | undefined} own the version that npm runs on
 * @returns {{ runs: 'own' } | { runs: 'here', warning?: string } | { fault: string }} sentences say what to install
 */
export function whichNode(here, own) {
  const isBetter = own !== undefined && own !== here && (isAtLeast(own, WITHOUT_ADVISORY) || !isAtLeast(here, own));
  if (isBetter && own.startsWith('24.') && isAtLeast(own, OLDEST)) return { runs: 'own' };
  const install = `Install Node ${WITHOUT_ADVISORY} or a later 24, from https://nodejs.org or your package manager`;
  if (!isAtLeast(here, OLDEST)) return { fault: `Partner Relay needs a newer Node than ${here}. ${install}.` };
  if (isAtLeast(here, WITHOUT_ADVISORY)) return { runs: 'here' };
  return {
    runs: 'here',
    warning: `${own === undefined || own === here ? `Your Node ${here}` : `Node ${here}, which npm ci brought into this folder,`} has known vulnerabilities of high severity. ${install}; it is then used.`,
  };
}

/** @param {string} version @param {string} least */
function isAtLeast(version, least) {
  return version.localeCompare(least, 'en', { numeric: true }) >= 0;
}
