import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Attributes } from './expressions.ts';

/** The size of an item in bytes, by "DynamoDB item sizes and formats" of the developer guide. */
export function sizeOf(item: Attributes | undefined): number {
  let size = 0;
  for (const name in item) size += name.length + sizeOfValue(item[name]);
  return size;
}

function sizeOfValue(value: AttributeValue | undefined): number {
  if (value?.S !== undefined) return Buffer.byteLength(value.S);
  if (value?.N !== undefined) return Math.ceil(value.N.length / 2) + 1;
  if (value?.B !== undefined) return value.B.length;
  if (value?.M !== undefined) return 3 + Object.keys(value.M).length + sizeOf(value.M);
  if (value?.L !== undefined) return value.L.reduce((sum, one) => sum + 1 + sizeOfValue(one), 3);
  return 1;
}

/** One unit for each KB or part of one. */
export const writeUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / 1_024));

/** One unit for each 4 KB or part of them; half of that for an eventually consistent read. */
export const readUnits = (bytes: number, isConsistent: boolean): number =>
  Math.max(1, Math.ceil(bytes / 4_096)) * (isConsistent ? 1 : 0.5);
