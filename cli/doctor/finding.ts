import { styleText } from 'node:util';
import { CannotTell, type Check, type Checks, type Finding } from '../../lib/checks/check.ts';
import { type Keyed, secretFault } from '../../lib/intake/hooks/is-genuine.ts';
import { PartnerError, PartnerUnanswered } from '../../lib/service/partner/errors.ts';
import { messageOf } from '../../lib/text.ts';
import { oneLine, withDocsHere } from '../../local/terminal.ts';
import { awsErrorInWords } from '../aws-errors.ts';

/** Runs the checks one after the other. */
export async function inOrder(checks: Checks): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const one of checks) {
    if (!one) continue;
    if ('length' in one) findings.push(...(await inOrder(one)));
    else if ('verdict' in one) findings.push(one);
    else {
      const finding = await find(one);
      findings.push(finding, ...(await inOrder(one.next?.(finding.verdict) ?? [])));
    }
  }
  return findings;
}

/** Runs the checks at once: for many checks that use no budget. */
export const atOnce = (checks: readonly Check[]): Promise<Finding[]> => Promise.all(checks.map(find));

async function find({ what, look }: Check): Promise<Finding> {
  try {
    return { what, verdict: 'good', detail: await look() };
  } catch (error) {
    if (error instanceof CannotTell) return { what, verdict: 'unknown', detail: error.message };
    const later = notNow(error);
    const detail = `${awsErrorInWords(error) ?? messageOf(error)}${later}`;
    return { what, verdict: later === '' ? 'bad' : 'unknown', detail };
  }
}

/** Why the error does not answer the check; empty if it does. */
function notNow(error: unknown): string {
  if (!(error instanceof PartnerError)) return '';
  if (error.status === 429) return '; other software uses the key, or its limit is lower: try again later';
  const isDown = error instanceof PartnerUnanswered || (error.status ?? 0) >= 500;
  return isDown ? '; not checked: try again later' : '';
}

/**
 * Checks whether the secrets are strong enough for the way they verify requests.
 * @throws {Error | CannotTell} for a secret that is refused or weak
 */
export function compareStrength(verify: Keyed, secrets: readonly string[]): void {
  const faults = secrets.flatMap((secret) => secretFault(verify, secret) ?? []);
  const fault = faults.find(({ isUsable }) => !isUsable) ?? faults[0];
  if (fault && !fault.isUsable) throw new Error(`its secret is refused: ${fault.what}; enter it again`);
  if (fault) throw new CannotTell(fault.what);
}

const SIGNS = { good: ['green', '✓'], bad: ['red', '✗'], unknown: ['yellow', '?'] } as const;

export function printFindings(findings: readonly Finding[]): void {
  const width = Math.max(...findings.map(({ what }) => what.length));
  for (const { what, verdict, detail } of findings) {
    const [colour, sign] = SIGNS[verdict];
    console.log(
      `${styleText(colour, sign, { stream: process.stdout })} ${what.padEnd(width)}  ${withDocsHere(oneLine(detail))}`,
    );
  }
}
