import { styleText } from 'node:util';
import type { Credential } from '../../lib/credentials/credential-check.ts';
import { secretFault } from '../../lib/intake/hooks/is-genuine.ts';
import { PartnerRefusal } from '../../lib/service/partner/errors.ts';
import { messageOf } from '../../lib/text.ts';
import type { Verification } from '../../lib/triggers/webhook.ts';
import { oneLine } from '../../local/terminal.ts';
import { awsErrorInWords } from '../aws-errors.ts';

/** `unknown`: it cannot be checked without creating something, or there is no data to check yet. */
export type FindingVerdict = 'good' | 'bad' | 'unknown';

/** The result of one check. */
export interface Finding {
  /** `main: users/list`, `slack: channel C0123ABCD` */
  what: string;
  verdict: FindingVerdict;
  /** What was found, and what to do if it is bad. Contains no secrets. */
  detail: string;
}

/** Thrown by a check that cannot tell whether something is right. */
export class CannotTell extends Error {
  override readonly name = 'CannotTell';
}

/**
 * Runs one check.
 *
 * @param look returns what is good; throws an error that says what is bad, or a {@link CannotTell}
 */
export async function check(what: string, look: () => Promise<string>): Promise<Finding> {
  try {
    return { what, verdict: 'good', detail: await look() };
  } catch (error) {
    if (error instanceof CannotTell) return { what, verdict: 'unknown', detail: error.message };
    const isLimit = error instanceof PartnerRefusal && error.status === 429;
    const detail = `${awsErrorInWords(error) ?? messageOf(error)}${isLimit ? '; something else uses up the limit of the key: try again later' : ''}`;
    return { what, verdict: isLimit ? 'unknown' : 'bad', detail };
  }
}

/**
 * Compares the secrets with which requests are verified with what they are used as.
 * @throws {Error | CannotTell} for one that is refused or weak
 */
export function compareStrength(verify: Pick<Verification, 'by'>, secrets: readonly string[]): void {
  const faults = secrets.flatMap((secret) => secretFault(verify, secret) ?? []);
  const fault = faults.find(({ isUsable }) => !isUsable) ?? faults[0];
  if (fault && !fault.isUsable) throw new Error(`its secret is refused: ${fault.what}; enter it again`);
  if (fault) throw new CannotTell(fault.what);
}

/** The same check of GitHub's or Slack's credentials that the relay itself makes every hour. */
export function checkCredential(credential: Credential): Promise<Finding> {
  return check(`${credential.name}: credentials`, async () => {
    const { verdict, why } = await credential.check(Number.POSITIVE_INFINITY);
    if (verdict === 'good') return why;
    throw verdict === 'bad' ? new Error(why) : new CannotTell(why);
  });
}

const SIGNS = { good: ['green', '✓'], bad: ['red', '✗'], unknown: ['yellow', '?'] } as const;

export function printFindings(findings: readonly Finding[]): void {
  const width = Math.max(...findings.map(({ what }) => what.length));
  for (const { what, verdict, detail } of findings) {
    const [colour, sign] = SIGNS[verdict];
    console.log(`${styleText(colour, sign, { stream: process.stdout })} ${what.padEnd(width)}  ${oneLine(detail)}`);
  }
}
