import { CannotTell } from '../../lib/checks/check.ts';
import { messageOf } from '../../lib/text.ts';
import { askAws, type Question } from '../ask-aws.ts';

/**
 * @param otherwise what to do where it does not answer
 * @throws {CannotTell} without the right to ask, or where the service is not
 */
export async function askInJson(question: Omit<Question, 'body'>, input: object, otherwise: string): Promise<unknown> {
  const cannotTell = (why: string) => new CannotTell(`${question.service} does not tell: ${why}; ${otherwise}`);
  const response = await askAws({ ...question, body: JSON.stringify(input) }).catch((error: unknown) => {
    throw cannotTell(messageOf(error));
  });
  const answer = await response.text();
  if (response.ok) return JSON.parse(answer);
  const [, message = `it answered ${response.status}`] = /"message"\s*:\s*"([^"]*)"/i.exec(answer) ?? [];
  throw cannotTell(message);
}
