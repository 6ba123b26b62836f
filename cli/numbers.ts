import { InvalidArgumentError } from 'commander';

/** A count on the command line. @throws {InvalidArgumentError} if it is none */
export const readCount = (text: string): number => within(text, 1, Number.MAX_SAFE_INTEGER, 'an integer of at least 1');

/** How many calls, on the command line; it may be none. @throws {InvalidArgumentError} if it is none */
export const readCalls = (text: string): number => within(text, 0, Number.MAX_SAFE_INTEGER, 'a whole number of calls');

/** A port on the command line, 0 for any. @throws {InvalidArgumentError} if it is none */
export const readPort = (text: string): number => within(text, 0, 65_535, 'a number from 0 to 65535');

function within(text: string, least: number, most: number, expected: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= least && number <= most) return number;
  throw new InvalidArgumentError(`expected ${expected}.`);
}
