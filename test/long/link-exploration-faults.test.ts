import { expect, it } from 'vitest';
import { distinctFaults, faults, sequences, staged } from '../exploration/cases.ts';
import { explore } from '../exploration/explorer.ts';

const TIMEOUT_MS = 3_600_000;

it.each([
  ['up to two events', [1, 2], faults],
  ['three events', [3], distinctFaults],
])(
  'an issue has its defect, or a parked job says why not: %s, and at most one fault',
  async (what, lengths, some) => {
    const cases = lengths
      .flatMap(sequences)
      .flatMap((sequence) => [...staged(sequence)])
      .flatMap((one) => [undefined, ...some].map((fault) => ({ ...one, fault })));
    expect(await explore(`${what} with at most one of ${some.length} faults`, cases)).toEqual([]);
  },
  TIMEOUT_MS,
);
