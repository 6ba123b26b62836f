import { CannotTell } from '../../lib/checks/check.ts';
import { messageOf } from '../../lib/text.ts';
import { askAws, type Question } from '../ask-aws.ts';

/** @param operation for services with AWS's JSON protocol, which has no paths */
type JsonQuestion = Omit<Question, 'body' | 'headers'> & { operation?: string };

/**
 * Sends one request to an AWS service that answers in JSON.
 * @param otherwise what to do if it does not answer
 * @throws {CannotTell} without the permission, or where the service does not exist
 */
export async function askInJson(question: JsonQuestion, input: object, otherwise: string): Promise<unknown> {
  const cannotTell = (why: string) => new CannotTell(`${question.service} did not answer: ${why}; ${otherwise}`);
  const { operation } = question;
  const ofProtocol = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': operation ?? '' };
  const headers = operation === undefined ? { 'content-type': 'application/json' } : ofProtocol;
  const response = await askAws({ ...question, headers, body: JSON.stringify(input) }).catch((error: unknown) => {
    throw cannotTell(messageOf(error));
  });
  const answer = await response.text();
  if (response.ok) return JSON.parse(answer);
  const [, message = `it answered ${response.status}`] = /"message"\s*:\s*"([^"]*)"/i.exec(answer) ?? [];
  throw cannotTell(message);
}
