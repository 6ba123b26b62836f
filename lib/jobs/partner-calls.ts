import type * as z from 'zod';
import type { Result } from '../partner/answer.ts';
import type { Operation } from '../partner/operation.ts';
import type { Table } from '../table/table.ts';
import { type Creating, createCreations } from './creations.ts';
import type { Journal } from './journal.ts';
import { createReadings } from './readings.ts';
import { createRepeatableCalls, type RepeatableCallsOptions } from './repeatable-calls.ts';

/** Calls of the partner API as a job makes them: within the budget, and decided by what becomes of them. */
export interface PartnerCalls {
  /** Calls an operation that may be repeated harmlessly. */
  repeatable<P extends z.ZodType, D extends z.ZodType>(
    operation: Operation<P, D>,
    payload: z.input<P>,
  ): Promise<Result<z.output<D>>>;
  creating: Creating;
  /** Whether the waiting lines of the connection are to be moved on, once the run has ended. */
  lineIsDue(): boolean;
  /** Whether the run had something to send. */
  hasAsked(): boolean;
}

export interface PartnerCallsOptions extends RepeatableCallsOptions {
  table: Table;
  journal: Journal;
}

export function createPartnerCalls(options: PartnerCallsOptions): PartnerCalls {
  const { slots, sending, call } = createRepeatableCalls(options);
  const readings = createReadings({ ...options, slots, read: (operation, payload) => call(operation, payload, true) });
  return {
    repeatable: call,
    lineIsDue: slots.lineIsDue,
    hasAsked: slots.hasAsked,
    creating: createCreations({ ...options, slots, sending, readings }),
  };
}
