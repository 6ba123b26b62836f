/** A number of a list, and its place there. */
export interface PlacedNumber {
  place: number;
  number: number;
}

/**
 * A list of whole numbers from 0 in few bytes: the zeros in a row are one 0 and how many there are. First comes how many
 * numbers that leaves, then each, seven bits to a byte and the lowest first.
 */
export function packSparse(numbers: readonly number[]): Uint8Array {
  const runs: number[] = [];
  let zeros = 0;
  for (const number of numbers) {
    if (number === 0) {
      zeros++;
      continue;
    }
    if (zeros > 0) runs.push(0, zeros);
    runs.push(number);
    zeros = 0;
  }
  if (zeros > 0) runs.push(0, zeros);
  const bytes: number[] = [];
  for (const number of [runs.length, ...runs]) {
    let rest = number;
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push(128 + (rest % 128));
    bytes.push(rest);
  }
  return Uint8Array.from(bytes);
}

/**
 * The numbers of a packed list without its zeros: hostile bytes can name more zeros than fit into memory.
 *
 * @returns undefined for something that {@link packSparse} did not make
 */
export function unpackSparse(packed: unknown): PlacedNumber[] | undefined {
  if (!(packed instanceof Uint8Array)) return undefined;
  const [length, ...runs] = wholeNumbers(packed);
  if (length !== runs.length) return undefined;
  const entries: PlacedNumber[] = [];
  let place = 0;
  const left = runs.values();
  for (const number of left) {
    if (number > 0) entries.push({ place: place++, number });
    else place += left.next().value ?? Number.NaN;
    if (!Number.isSafeInteger(place)) return undefined;
  }
  return entries;
}

function wholeNumbers(bytes: Uint8Array): number[] {
  const numbers: number[] = [];
  let number = 0;
  let unit = 1;
  for (const byte of bytes) {
    number += (byte % 128) * unit;
    unit *= 128;
    if (byte >= 128) continue;
    numbers.push(number);
    number = 0;
    unit = 1;
  }
  // The last number has no end.
  if (unit !== 1) numbers.push(number);
  return numbers;
}
