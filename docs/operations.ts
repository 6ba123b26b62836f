import * as z from 'zod';
import type { Operation } from '../lib/service/partner/operation.ts';
import { operations } from '../lib/service/partner/operations/operations.ts';
import { withTable } from './made-table.ts';

/** docs/partner-api.md with the table of the operations as lib/service/partner/operations/ declares them. */
export function withOperations(page: string): string {
  return withTable(page, 'operations', operationTable());
}

function operationTable(): string {
  const rows = [...operations.values()].map((operation) => {
    const { name, evidence, success, effect } = operation;
    return [`\`${name}\``, evidence, payloadOf(operation), String(success), effect];
  });
  const head = ['operation', 'evidence', 'payload', 'success', 'effect'];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function payloadOf({ payload, evidence }: Operation): string {
  const { properties = {}, additionalProperties } = z.toJSONSchema(payload, { io: 'input' });
  const fields = Object.keys(properties).map((field) => `\`${field}\``);
  if (fields.length === 0) return evidence === 'documented' ? 'any object' : 'not shown';
  return [...fields, ...(additionalProperties === false ? [] : ['…'])].join(', ');
}
