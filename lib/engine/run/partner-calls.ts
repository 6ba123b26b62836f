import type * as z from 'zod';
import type { Result } from '../../service/partner/answer.ts';
import type { Operation } from '../../service/partner/operation.ts';
import type { Table } from '../../state/table/table.ts';
import type { Journal } from '../record/journal.ts';
import type { ReplacedTable } from '../record/replaced-table.ts';
import type { SendLog } from '../record/sends.ts';
import { type Creating, createCreations } from './creations.ts';
import { createReadings } from './readings.ts';
import { createRepeatableCalls, type Fence, type RepeatableCallsOptions } from './repeatable-calls.ts';
import type { Sending } from './sending.ts';

/** A job's calls to the partner API: within the budget, with decisions based on their outcomes. */
export interface PartnerCalls {
  /** Calls an operation that is safe to repeat. */
  repeatable<P extends z.ZodType, D extends z.ZodType>(
    operation: Operation<P, D>,
    payload: z.input<P>,
    log: SendLog,
    fence?: Fence,
  ): Promise<Result<z.output<D>>>;
  creating: Creating;
  /** True if the waiting lines of the connection should advance after the run. */
  lineIsDue(): boolean;
  /** True if the run had something to send. */
  hasAsked(): boolean;
  limited: Sending['limited'];
}

export interface PartnerCallsOptions extends RepeatableCallsOptions {
  table: Table;
  journal: Journal;
  replacedTable: ReplacedTable;
  /** When the job's event happened at the earliest; epoch milliseconds. */
  happenedAt: number;
}

export function createPartnerCalls(options: PartnerCallsOptions): PartnerCalls {
  const { slots, sending, call } = createRepeatableCalls(options);
  const readings = createReadings({
    ...{ ...options, slots },
    read: (log) => (operation, payload) =>
      call(operation, payload, { first: true, log, as: { calls: operation.name } }),
  });
  return {
    repeatable: (operation, payload, log, fence) => call(operation, payload, { first: false, log }, fence),
    lineIsDue: slots.lineIsDue,
    hasAsked: slots.hasAsked,
    limited: sending.limited,
    creating: createCreations({ ...options, slots, sending, readings }),
  };
}
