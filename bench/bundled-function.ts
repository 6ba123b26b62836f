import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';

/** A function bundled in one file, and its environment. */
export interface BundledFunction {
  /** Path of the file. */
  path: string;
  /**
   * The only environment variables, as on Lambda. NODE_OPTIONS or a compile cache of the caller would distort the
   *    result.
   */
  variables: Readonly<Record<string, string>>;
  isExpected(answer: APIGatewayProxyStructuredResultV2): boolean;
}

/** Variables as Lambda sets them for a function that it starts for an event. */
export function onLambda(variables: object): Readonly<Record<string, string>> {
  return { ...variables, AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand' };
}

/** The measured function and its peer. */
export interface Compared {
  here: BundledFunction;
  peer: BundledFunction;
}

/** @throws {Error} if the answer is not the expected one, because the measurement would be meaningless */
export function checkAnswer({ path, isExpected }: BundledFunction, answer: APIGatewayProxyStructuredResultV2): void {
  if (!isExpected(answer)) throw new Error(`${path} answered ${JSON.stringify(answer)}`);
}
