import { setImmediate } from 'node:timers/promises';
import { ResourceNotFoundException, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { type LocalStack, type LocalStackOptions, startLocalStack } from '../local/stack.ts';
import { carryOutTwice, LOSES_ONE_IN, losingAnswers } from './lost-answers.ts';
import { queueAnswers } from './simulation/aws-wire.ts';

interface Command {
  input: { SecretId?: string; VersionStage?: string };
}
interface Client {
  config: { endpoint?: () => Promise<{ port?: number }> };
}
type Send = (this: Client, command: Command, ...others: unknown[]) => Promise<object>;
/** By the port of the stack. */
type Answers = Map<string, (command: Command) => object>;

const reached = new WeakSet<Send>();
const queues: Answers = new Map();
const secrets: Answers = new Map();
const isLost = losingAnswers(LOSES_ONE_IN);

/** A stack whose queues and secrets every client of this process reaches without a socket, as it reaches tables of tests. */
export async function startStack(options: LocalStackOptions): Promise<LocalStack> {
  const stack = await startLocalStack(options);
  const { port } = new URL(stack.variables.AWS_ENDPOINT_URL_SQS);
  queues.set(port, queueAnswers(new Map(stack.queues.map((queue) => [queue.name, queue]))));
  secrets.set(port, ({ input: { SecretId = '', VersionStage = 'AWSCURRENT' } }) => {
    const version = stack.secrets.get(SecretId, VersionStage);
    if (!version) throw new ResourceNotFoundException({ message: SecretId, $metadata: {} });
    return { SecretString: version.value, CreatedDate: new Date(version.createdAt) };
  });
  reach(SQSClient.prototype as unknown as { send: Send }, queues);
  reach(SecretsManagerClient.prototype as unknown as { send: Send }, secrets);
  return {
    ...stack,
    async close() {
      queues.delete(port);
      secrets.delete(port);
      await stack.close();
    },
  };
}

function reach(prototype: { send: Send }, answers: Answers): void {
  const { send } = prototype;
  if (reached.has(send)) return;
  const sendToStack: Send = async function (command, ...others) {
    const endpoint = await this.config.endpoint?.();
    const answer = answers.get(String(endpoint?.port));
    if (!answer) return send.call(this, command, ...others);
    const carryOut = async () => {
      await setImmediate();
      return answer(command);
    };
    return isLost(command.input) ? carryOutTwice(carryOut) : carryOut();
  };
  reached.add(sendToStack);
  // The clients inherit their sending, so that an own one hides it. keepAnswers() takes it away.
  Object.defineProperty(prototype, 'send', { value: sendToStack, configurable: true });
}
