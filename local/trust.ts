import { resolve } from 'node:path';
import tls from 'node:tls';
import { readCertificates } from '../lib/config/ca-file.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import { projectFolder } from '../lib/project.ts';

/**
 * Makes this process trust the configuration's certificate authorities, too. On AWS, `NODE_EXTRA_CA_CERTS` does this,
 * but Node reads it only at the start of a process.
 *
 * @throws {Error} if the file cannot be used
 */
export function trustCaFile({ caFile }: RelayConfig): void {
  if (caFile === undefined) return;
  const certificates = readCertificates(resolve(projectFolder(), caFile));
  // Some platforms have an older Node 24 (decision 0001), which cannot import this name.
  if (!('setDefaultCACertificates' in tls))
    throw new Error(`caFile needs Node 24.5 or newer, and this is ${process.version}`);
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), ...certificates]);
}
