import { RemovalPolicy } from 'aws-cdk-lib';

/** One deployment of the relay in an account. */
export interface Stage {
  name: string;
  isProduction: boolean;
  /** What becomes of data when the stack is removed. */
  removalPolicy: RemovalPolicy;
}

/**
 * The stage of `-c stage=…`, `dev` by default. `prod` keeps its data and is protected.
 *
 * @throws {Error} for a name that cannot be part of the names of resources
 */
export function readStage(name: unknown): Stage {
  const text = String(name ?? 'dev');
  if (!/^[a-z][a-z0-9-]{0,19}$/.test(text)) {
    throw new Error(`the stage '${text}' is no name; expected up to 20 lowercase letters, digits and hyphens`);
  }
  const isProduction = text === 'prod';
  return {
    name: text,
    isProduction,
    removalPolicy: isProduction ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
  };
}
