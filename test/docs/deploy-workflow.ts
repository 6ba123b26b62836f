import { readFileSync } from 'node:fs';

/** The workflow with which a team deploys, from docs/deploy.md. */
export function deployWorkflow(): string {
  const page = readFileSync(new URL('../../docs/deploy.md', import.meta.url), 'utf8');
  const [, shown] = /\n\n((?: {4}.*\n)*? {4}jobs:\n(?: {4}.*\n)+)/.exec(page) ?? [];
  if (shown === undefined) throw new Error('docs/deploy.md shows no workflow');
  return shown.replaceAll(/^ {4}/gm, '');
}
