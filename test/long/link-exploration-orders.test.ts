import { expect, it } from 'vitest';
import { sequences, staged } from '../exploration/cases.ts';
import { explore, type Spacing } from '../exploration/explorer.ts';

const TIMEOUT_MS = 3_600_000;

it.each<[string, number[], Spacing]>([
  ['four events', [4], 'seconds apart'],
  ['up to three events', [1, 2, 3], 'one second, GitHub can be asked'],
  ['up to three events', [1, 2, 3], 'one second, nobody can be asked'],
])(
  'an issue has its defect, or a parked job says why not: %s %j, %s',
  async (what, lengths, spacing) => {
    const cases = lengths
      .flatMap(sequences)
      .flatMap((sequence) => [...staged(sequence)])
      .map((one) => ({ ...one, fault: undefined }));
    expect(await explore(`${what}, ${spacing}`, cases, spacing)).toEqual([]);
  },
  TIMEOUT_MS,
);
