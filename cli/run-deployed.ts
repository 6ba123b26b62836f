import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { ON_COMMAND } from '../lib/aws-limits.ts';
import { type ScheduleEvent, schedules } from '../lib/schedules.ts';
import { awsClient } from './aws.ts';

/** Runs a schedule of a deployed stage now. @throws {Error} with the error of the function */
export async function runDeployed(stage: string, slug: string, event: ScheduleEvent): Promise<unknown> {
  // The answer arrives when the function ends. A second try would run it again.
  const timeoutSeconds = schedules.find((schedule) => schedule.slug === slug)?.timeoutSeconds ?? 0;
  const client = awsClient({ tries: 1, tryMs: timeoutSeconds * 1_000 + ON_COMMAND.tryMs });
  const { Payload, FunctionError } = await new LambdaClient(client).send(
    new InvokeCommand({ FunctionName: `partner-relay-${stage}-${slug}`, Payload: JSON.stringify(event) }),
  );
  const answer = JSON.parse(Payload?.transformToString() || 'null');
  if (FunctionError)
    throw new Error(`${slug} failed: ${answer?.errorMessage ?? FunctionError}; see its log for details`);
  return answer;
}
