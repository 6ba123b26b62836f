/**
 * A list of whole numbers from 0 in few bytes: its length, then each number, seven bits to a byte and the lowest first.
 * Numbers below 128 take one byte, those below 16,384 two.
 */
export function pack(numbers: readonly number[]): Uint8Array {
  const bytes: number[] = [];
  for (const number of [numbers.length, ...numbers]) {
    let rest = number;
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push(128 + (rest % 128));
    bytes.push(rest);
  }
  return Uint8Array.from(bytes);
}

/** @throws {RangeError} for bytes that {@link pack} did not make */
export function unpack(bytes: Uint8Array): number[] {
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
  const [length, ...rest] = numbers;
  if (unit !== 1 || length !== rest.length) throw new RangeError('these bytes are no packed list');
  return rest;
}

/** {@link pack} for a list with many zeros: those in a row are one 0 and how many there are. */
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
  return pack(zeros > 0 ? [...runs, 0, zeros] : runs);
}

/** @throws {RangeError} for bytes that {@link packSparse} did not make */
export function unpackSparse(bytes: Uint8Array): number[] {
  const runs = unpack(bytes);
  const numbers: number[] = [];
  for (let at = 0; at < runs.length; at++) {
    const number = runs[at] ?? 0;
    if (number > 0) numbers.push(number);
    else numbers.push(...Array<number>(runs[++at] ?? -1).fill(0));
  }
  return numbers;
}

/** @throws {TypeError} for something else than bytes */
export function bytes(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new TypeError('expected bytes');
}
