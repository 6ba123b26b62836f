import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Attributes } from './expressions.ts';

/** Bytes of an item, by "DynamoDB item sizes and formats" of its developer guide. */
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

/** A KB or a part of one is a unit. */
export const writeUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / 1_024));

/** 4 KB or a part of them are a unit; half of one where the read may be a little behind. */
export const readUnits = (bytes: number, isConsistent: boolean): number =>
  Math.max(1, Math.ceil(bytes / 4_096)) * (isConsistent ? 1 : 0.5);
