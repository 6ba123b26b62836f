import { createCipheriv, createHmac, createSecretKey, hash, type KeyObject, randomBytes } from 'node:crypto';
import { encryptionKey, IV_BYTES } from '../lib/service/partner/encryption.ts';
import { signRequest } from '../lib/service/partner/signed-request.ts';
import { amount, type Findings, percent } from './figures.ts';
import { compareRates } from './measure.ts';

const URL = 'https://pm.example.com/api/v1/partner/defects/create';
const TIMESTAMP_SECONDS = 1_795_168_800;
const AIM = 0.8;

/** The defect of a middling issue: 1 KB of JSON. */
const payload = {
  project_id: '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01',
  title: 'Export of the timesheet drops the last day of the month',
  description: [
    'Steps to reproduce:\n\n1. Open the timesheet of a month with 31 days.\n2. Choose "Export", then "CSV".',
    '3. Count the rows: the 31st is missing, although the sum at the bottom includes it.\n',
    'It happens in Europe/Berlin and in Asia/Kolkata, but not in UTC, so that a date is probably taken as midnight',
    'UTC somewhere and moved to the day before. The PDF of the same month is complete. Version 4.12.1, Firefox 145',
    'and Chrome 142; a colleague on 4.11.0 does not see it. The exported file and a screenshot are attached.\n',
    'Expected: 31 rows, whatever the time zone of the browser is. For now we add the missing row by hand before the',
    'file goes to payroll, which was forgotten twice already.',
    '\n---\nGitHub issue acme/web#1042 by @octocat: https://github.com/acme/web/issues/1042\nState: open',
    '[partner-relay 3f1b6a2d9c4e8f7a0b5d]',
  ].join('\n'),
  type: 'Bug',
  priority: 'Medium',
  severity: 'Major',
};

/**
 * The cost of a request to the service compared with the primitives it uses. The peer already has the payload as
 * JSON, and makes only the body and its signature: no headers, no path of a URL.
 */
export function measureSigning(): Findings {
  const secretKey = 'sk_sandbox_for_local_use_only';
  const iv = randomBytes(IV_BYTES);
  const nonce = randomBytes(12).toString('hex');
  const input = {
    url: URL,
    apiKey: 'pk_sandbox',
    secretKey,
    encryptionKey: encryptionKey(secretKey),
    payload,
    iv,
    nonce,
  };
  const signed = () => signRequest({ ...input, now: TIMESTAMP_SECONDS * 1_000, clockOffsetSeconds: 0 });

  const text = JSON.stringify(payload);
  const bareWith = (key: Uint8Array | KeyObject) => () => {
    const cipher = createCipheriv('aes-256-cbc', key, iv);
    const encrypted = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final()]).toString('base64');
    const bodyHash = hash('sha256', `{"encrypted_data":"${encrypted}"}`);
    const canonical = `POST\n/api/v1/partner/defects/create\n${TIMESTAMP_SECONDS}\n${nonce}\n${bodyHash}`;
    return createHmac('sha256', secretKey).update(canonical).digest('hex');
  };
  const keyBytes = hash('sha256', secretKey, 'buffer');
  const bare = bareWith(keyBytes);
  if (signed().headers['x-signature'] !== bare()) throw new Error('the bare primitives produce a different signature');

  const { here, peer, ratio } = compareRates(signed, bare);
  // Node takes four times as long with a key in bytes as with a KeyObject created before.
  const prepared = compareRates(signed, bareWith(createSecretKey(keyBytes)));
  return {
    figures: [
      {
        name: `sign and encrypt ${text.length} bytes`,
        unit: '/s',
        here,
        peer,
        ratio,
        aim: `${AIM * 100} % of the peer`,
        met: ratio >= AIM,
      },
    ],
    notes: [
      'sign and encrypt: the peer is node:crypto called bare, with the 32 bytes of the key and the payload as JSON',
      `  already; given the key as a KeyObject it makes ${amount(prepared.peer, '/s')}, of which here is ${percent(prepared.ratio)}`,
    ],
  };
}
