import type { Command } from 'commander';
import * as z from 'zod';
import type { RelayConfig } from '../lib/config/schema.ts';
import { createPartnerClient, type PartnerClient } from '../lib/partner/client.ts';
import { listDefects } from '../lib/partner/defects.ts';
import { PartnerError } from '../lib/partner/errors.ts';
import { type Operation, withOverride } from '../lib/partner/operation.ts';
import { operations } from '../lib/partner/operations.ts';
import { listTimelogs } from '../lib/partner/timelogs.ts';
import { listUsers } from '../lib/partner/users.ts';
import { validate } from '../lib/partner/validate.ts';
import { readEntry } from '../lib/timesheets/time-entry.ts';
import { examineStage } from './doctor-stage.ts';
import { printJson } from './print.ts';
import { type OpenTarget, partnerOf } from './target.ts';

/** One thing that was looked at. `unknown` is neither good nor bad: it could not be seen without creating something. */
interface Finding {
  what: string;
  verdict: 'good' | 'bad' | 'unknown';
  detail: string;
}

/** `doctor`: looks at everything that can be looked at without creating anything. */
export function addDoctorCommand(program: Command, open: OpenTarget): void {
  program
    .command('doctor')
    .description('check the configuration, the credentials and the assumed operations; creates nothing')
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) => {
      const { default: config } = await import('../relay.config.ts');
      const { repositories } = config.github;
      const findings: Finding[] = [
        {
          what: 'relay.config.ts',
          verdict: 'good',
          detail: `connections: ${Object.keys(config.connections).join(', ')}; repositories: ${repositories.map(({ name }) => name).join(', ') || 'none'}`,
        },
      ];
      for (const connection of Object.keys(config.connections)) {
        findings.push(...(await examineConnection(connection, config, open)));
      }
      if (program.opts<{ stage?: string }>().stage !== undefined) findings.push(...(await examineStage(config)));
      if (options.json) printJson(findings);
      else for (const finding of findings) print(finding);
      if (findings.some(({ verdict }) => verdict === 'bad')) process.exitCode = 1;
    });
}

async function examineConnection(name: string, config: RelayConfig, open: OpenTarget): Promise<Finding[]> {
  const client = createPartnerClient(await partnerOf(name, open));
  const credentials = await probe(`${name}: credentials`, async () => {
    await client.call(validate, { relay: 'doctor' });
    return 'validate decrypted what was sent: key, encryption and signature are right';
  });
  if (credentials.verdict === 'bad') return [credentials];

  const overrides = config.connections[name]?.operations ?? {};
  const project = config.github.repositories.find(({ connection }) => connection === name)?.issueToDefect?.projectId;
  const lists: [Operation, object][] = [
    [listUsers, { page: 1, per_page: 5 }],
    [listDefects, { page: 1, per_page: 5, ...(project && { project_id: project }) }],
    [listTimelogs, { page: 1, per_page: 5 }],
  ];
  const findings = [credentials];
  for (const [declared, payload] of lists) {
    const operation = withOverride(declared, overrides[declared.name]);
    findings.push(await probe(`${name}: ${operation.name}`, () => compareList(client, operation, payload)));
  }
  for (const operation of operations.values()) {
    if (operation.evidence !== 'assumed' || operation.effect !== 'create') continue;
    findings.push({
      what: `${name}: ${operation.name}`,
      verdict: 'unknown',
      detail: `assumed, and not tried, for it would create something; try it with: npm run -s relay -- call ${operation.name} '{…}'`,
    });
  }
  return findings;
}

/** Compares a few records of a list with the fields that the relay assumes of them. */
async function compareList(client: PartnerClient, operation: Operation, payload: object): Promise<string> {
  const { data } = await client.call({ ...operation, data: z.array(z.record(z.string(), z.unknown())) }, payload);
  const [row] = data;
  if (!row) return 'answers, but is empty: whether its fields are the assumed ones cannot be seen yet';
  if (operation.name === listTimelogs.name) return compareEntries(data);
  const wanted = fieldsRead(operation);
  const missing = wanted.filter((field) => !(field in row));
  if (missing.length > 0) {
    throw new Error(
      `lacks ${missing.join(', ')}; it has ${Object.keys(row).join(', ')}. Name the right fields in relay.config.ts, under operations`,
    );
  }
  return wanted.length > 0 ? `has ${wanted.join(', ')}` : 'answers; the relay assumes none of its fields';
}

/** Time entries are understood in several forms, so that they are read as reminders read them. */
function compareEntries(records: readonly Record<string, unknown>[]): string {
  const faults = records.map(readEntry).flatMap((entry) => ('unreadable' in entry ? [entry.unreadable] : []));
  const fields = Object.keys(records[0] ?? {}).join(', ');
  if (faults.length > 0) {
    throw new Error(
      `${faults.length} of ${records.length} cannot be read: ${[...new Set(faults)].join('; ')}. They have ${fields}. Name the right fields in relay.config.ts, under operations`,
    );
  }
  const optional = ['task_id', 'task_name', 'note'].filter((field) => records.every((record) => !(field in record)));
  return `${records.length} read: user, date and hours are there${optional.length > 0 ? `; without ${optional.join(', ')}` : ''}`;
}

function fieldsRead({ data }: Operation): string[] {
  const row = data instanceof z.ZodArray ? data.element : undefined;
  return row instanceof z.ZodObject ? Object.keys(row.shape) : [];
}

async function probe(what: string, look: () => Promise<string>): Promise<Finding> {
  try {
    return { what, verdict: 'good', detail: await look() };
  } catch (error) {
    const hint = error instanceof PartnerError && error.status === 404 ? '; is its path another one here?' : '';
    return { what, verdict: 'bad', detail: `${error instanceof Error ? error.message : error}${hint}` };
  }
}

function print({ what, verdict, detail }: Finding): void {
  const sign = { good: '✓', bad: '✗', unknown: '?' }[verdict];
  console.log(`${sign} ${what.padEnd(26)} ${detail}`);
}
