import { resolve } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { readCertificates } from '../lib/config/ca-file.ts';
import type { RelayConfig } from '../lib/config/schema.ts';

/**
 * Has this process trust the authorities of the configuration too. On AWS, `NODE_EXTRA_CA_CERTS` does that, which Node
 * reads only when a process starts.
 *
 * @throws {Error} for a file that cannot be used
 */
export function trustCaFile({ caFile }: RelayConfig): void {
  if (caFile === undefined) return;
  const certificates = readCertificates(resolve(import.meta.dirname, '..', caFile));
  setDefaultCACertificates([...getCACertificates('default'), ...certificates]);
}
