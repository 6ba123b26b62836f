import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';

/** A function in one file, and how it is run. */
export interface BundledFunction {
  /** Path of the file. */
  path: string;
  /**
   * These variables and no others, as on Lambda: NODE_OPTIONS or a compile cache of whoever runs the bench would count
   * in.
   */
  variables: Readonly<Record<string, string>>;
  isExpected(answer: APIGatewayProxyStructuredResultV2): boolean;
}

/** What is measured, and what it is measured against. */
export interface Compared {
  here: BundledFunction;
  peer: BundledFunction;
}

/** @throws {Error} for an answer that is not the expected one, for it would say nothing about what was to be measured */
export function checkAnswer({ path, isExpected }: BundledFunction, answer: APIGatewayProxyStructuredResultV2): void {
  if (!isExpected(answer)) throw new Error(`${path} answered ${JSON.stringify(answer)}`);
}
