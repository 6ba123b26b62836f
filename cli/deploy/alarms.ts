import * as z from 'zod';
import { askInXml, textsOf } from '../ask-aws.ts';

/** The part of a stack's template that is read. */
const template = z.object({
  Resources: z.record(z.string(), z.object({ Type: z.string(), Properties: z.optional(z.looseObject({})) })),
});

const alarm = z.object({ AlarmName: z.string() });

/** The names of a stack's alarms. The prefix of prod also fits prod-eu, so a search by prefix is not enough. */
export function alarmsOf(given: unknown): string[] {
  const resources = Object.values(template.parse(given).Resources);
  return resources
    .filter(({ Type }) => Type === 'AWS::CloudWatch::Alarm')
    .map(({ Properties }) => alarm.parse(Properties).AlarmName);
}

/** The most names in one request. */
const MOST = 100;

/**
 * The states of alarms, by name. An alarm that does not exist is missing.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
 */
export async function statesOf(alarms: readonly string[]): Promise<Map<string, string>> {
  const states = new Map<string, string>();
  for (let from = 0; from < alarms.length; from += MOST) {
    const names = alarms.slice(from, from + MOST).map((name, index) => [`AlarmNames.member.${index + 1}`, name]);
    const asked = {
      Action: 'DescribeAlarms',
      Version: '2010-08-01',
      MaxRecords: `${MOST}`,
      ...Object.fromEntries(names),
    };
    const refused = (why: string) => new Error(`CloudWatch did not list the alarms: ${why}`);
    const answer = await askInXml('monitoring', asked, refused);
    const found = textsOf('StateValue', answer);
    for (const [index, name] of textsOf('AlarmName', answer).entries()) states.set(name, found[index] ?? '');
  }
  return states;
}

/** The names of the alarms that are going off. */
export const ringing = (states: ReadonlyMap<string, string>): string[] =>
  [...states].flatMap(([name, state]) => (state === 'ALARM' ? [name] : []));
