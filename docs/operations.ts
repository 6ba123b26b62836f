import * as z from 'zod';
import type { Operation } from '../lib/service/partner/operation.ts';
import { operations } from '../lib/service/partner/operations/operations.ts';
import { project } from '../lib/service/partner/operations/projects.ts';
import { withTable } from './made-table.ts';

/** Puts the table of operations, from lib/service/partner/operations/, into docs/partner-api.md. */
export function withOperations(page: string): string {
  return withTable(page, 'operations', operationTable());
}

function operationTable(): string {
  const rows = [...operations.values()].map((operation) => {
    const { name, evidence, success, effect } = operation;
    return [`\`${name}\``, evidence, payloadOf(operation), answerOf(operation), String(success), effect];
  });
  const head = ['operation', 'evidence', 'payload', 'answer', 'success', 'effect'];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function payloadOf({ name, payload, evidence }: Operation): string {
  const { fields, isOpen } = fieldsOf(payload, 'input');
  if (fields.length === 0) return evidence === 'documented' ? 'any object' : 'not shown';
  const isShown = (field: string) => evidence === 'documented' || SHOWN.has(`${name} ${field}`);
  return [...fields.map((field) => inWords(field, isShown(field))), ...(isOpen ? ['…'] : [])].join(', ');
}

/** The fields of an answer, or of a list's record. Only a project's fields are known. */
function answerOf({ data }: Operation): string {
  const { fields } = fieldsOf(data, 'output');
  const shown = fieldsOf(project, 'output').fields;
  if (fields.length === 0) return 'not shown';
  if (fields.join() === shown.join()) return 'a [project](#project)';
  return fields.map((field) => inWords(field, false)).join(', ');
}

/** Fields that docs/partner-api.md shows, although it does not show the other fields of their operation. */
const SHOWN = new Set(['tasks/list project_id']);

const inWords = (field: string, isShown: boolean) => `\`${field}\`${isShown ? '' : ' ?'}`;

function fieldsOf(schema: z.ZodType, io: 'input' | 'output') {
  const { items, ...record } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  const { properties = {}, additionalProperties } = typeof items === 'object' && !Array.isArray(items) ? items : record;
  return { fields: Object.keys(properties), isOpen: additionalProperties !== false };
}
