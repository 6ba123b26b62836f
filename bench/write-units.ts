import { sum, unitsOf } from '../test/issue-units.ts';
import type { Figure } from './figure.ts';

const BODY_BYTES = [200, 2_000, 10_000, 30_000];

/** Counts what DynamoDB would charge, with the model of it that the simulation uses. */
export async function* measureWriteUnits(): AsyncGenerator<Figure> {
  for (const bodyBytes of BODY_BYTES) {
    const { taken, writes, read } = await unitsOf(bodyBytes);
    const kinds = [...writes].map(([kind, units]) => `${kind} ${units}`);
    yield {
      name: `write units, ${bodyBytes.toLocaleString('en')} bytes of text`,
      value: sum([...writes.values()]),
      detail: `${kinds.join(', ')}; ${taken} until it is queued; and ${read} read units`,
    };
  }
}
