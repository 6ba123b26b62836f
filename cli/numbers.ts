import { InvalidArgumentError } from 'commander';

/** Reads a count from the command line. @throws {InvalidArgumentError} for other texts */
export const readCount = (text: string): number => within(text, 1, Number.MAX_SAFE_INTEGER, 'an integer of at least 1');

/** Reads a number of calls, from 0, from the command line. @throws {InvalidArgumentError} for other texts */
export const readCalls = (text: string): number => within(text, 0, Number.MAX_SAFE_INTEGER, 'a whole number of calls');

/** Reads a port from the command line; 0 means any. @throws {InvalidArgumentError} for other texts */
export const readPort = (text: string): number => within(text, 0, 65_535, 'a number from 0 to 65535');

function within(text: string, least: number, most: number, expected: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= least && number <= most) return number;
  throw new InvalidArgumentError(`expected ${expected}.`);
}
