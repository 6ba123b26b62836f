import { CfnCondition, CfnOutput, CfnParameter, Fn, Stack } from 'aws-cdk-lib';
import { Construct } from 'constructs';

/**
 * Whether the stage runs its jobs. It is a parameter of the stack, because a deployment keeps the values of parameters.
 * So only `partner-relay stop` and `partner-relay start` change it.
 * https://docs.aws.amazon.com/cdk/v2/guide/parameters.html
 */
export class Running extends Construct {
  readonly #isRunning: CfnCondition;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const parameter = new CfnParameter(Stack.of(this), 'Running', {
      description: 'Leave this to npx partner-relay stop and npx partner-relay start.',
      allowedValues: ['true', 'false'],
      default: 'true',
    });
    this.#isRunning = new CfnCondition(this, 'IsRunning', {
      expression: Fn.conditionEquals(parameter.valueAsString, 'true'),
    });
    new CfnOutput(Stack.of(this), 'IsRunning', { value: parameter.valueAsString });
  }

  /** The first value while the stage runs, the second while it is stopped. */
  either(running: unknown, stopped: unknown) {
    return Fn.conditionIf(this.#isRunning.logicalId, running, stopped);
  }
}
