import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { messageOf } from '../text.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/**
 * Reads the certificates in the `caFile` of relay.config.ts, in PEM.
 *
 * @throws {Error} naming the file, if it cannot be read, or has no certificate or a malformed one
 */
export function readCertificates(file: string): string[] {
  try {
    const certificates = readFileSync(file, 'utf8').match(CERTIFICATE) ?? [];
    if (certificates.length === 0) throw new Error('it has no certificate in PEM');
    for (const certificate of certificates) new X509Certificate(certificate);
    return certificates;
  } catch (cause) {
    const reason = messageOf(cause);
    throw new Error(`the caFile of relay.config.ts, ${file}, cannot be used: ${reason}`, { cause });
  }
}
