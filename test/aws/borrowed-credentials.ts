import { CreateFunctionCommand, DeleteFunctionCommand, InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { Emulator } from './emulator.ts';
import type { Scratch } from './scratch.ts';
import { zipped } from './zip.ts';

export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string;
}

/** Gets the credentials of a role that functions may assume, from a function that returns its own. */
export async function borrowCredentials(
  { client }: Emulator,
  scratch: Scratch,
  { FunctionName, Role }: { FunctionName: string; Role: string | undefined },
): Promise<Credentials> {
  const lambda = new LambdaClient(client);
  await lambda.send(
    new CreateFunctionCommand({
      FunctionName,
      Runtime: 'nodejs24.x',
      Handler: 'index.handler',
      Role,
      Code: { ZipFile: await zipped(scratch, 'index.mjs', 'export const handler = async () => process.env;') },
    }),
  );
  const { Payload } = await lambda.send(new InvokeCommand({ FunctionName }));
  const variables = JSON.parse(Buffer.from(Payload ?? []).toString());
  await lambda.send(new DeleteFunctionCommand({ FunctionName }));
  return {
    accessKeyId: variables.AWS_ACCESS_KEY_ID,
    secretAccessKey: variables.AWS_SECRET_ACCESS_KEY,
    sessionToken: variables.AWS_SESSION_TOKEN,
  };
}
