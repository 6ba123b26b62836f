import type { Template } from 'aws-cdk-lib/assertions';
import type { Statement } from './rights-table.ts';

/** A value of a template in words, without the hashes of logical ids, which change with a construct's place. */
export function inWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(inWords).join(', ');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, of]) => {
      if (name === 'Ref') return withoutHash(of);
      if (name === 'Fn::GetAtt') return withoutHash(of[0]);
      if (name === 'Fn::Join') return of[1].map(inWords).join(of[0]);
      if (name === 'Fn::If') return `${withoutHash(of[0])} ? ${inWords(of[1])} : ${inWords(of[2])}`;
      return `${name} ${inWords(of)}`;
    })
    .join(' ');
}

const withoutHash = (id: string) => id.replace(/[0-9A-F]{8}$/, '');

/** A line for each alarm: when it goes off, how it treats missing data, and whether it reports its end. */
export function alarmsOf(template: Template): string {
  const alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm')).map(({ Properties }) => {
    const { AlarmName, Namespace, MetricName, Dimensions, Statistic, Threshold, Period, EvaluationPeriods } =
      Properties;
    const { ComparisonOperator, TreatMissingData, AlarmActions, OKActions } = Properties;
    const about = Dimensions.map(({ Name, Value }: { Name: string; Value: unknown }) => `${Name} ${inWords(Value)}`);
    const goesOff = `${ComparisonOperator} ${Threshold} ${EvaluationPeriods} x ${Period} s`;
    return [
      `${AlarmName}: ${Statistic} of ${Namespace} ${MetricName} (${about.join(', ')}) ${goesOff}`,
      `missing: ${inWords(TreatMissingData)}; to ${inWords(AlarmActions)}${OKActions ? ', and its end' : ''}`,
    ].join('; ');
  });
  return `${alarms.sort().join('\n')}\n`;
}

/** The allowed actions of statements by resource, with their partition keys. */
export function rightsOf(role: string, statements: readonly Statement[]): string {
  const keysOf = new Map<string, string[]>();
  for (const { Effect, Action, Resource, Condition = {} } of statements) {
    const { 'ForAllValues:StringLike': like = {}, Null: absent = {}, ...others } = Condition;
    const keys = [like['dynamodb:LeadingKeys'] ?? []].flat();
    // Otherwise, a request without a key would be allowed.
    const isBound = keys.length > 0 && absent['dynamodb:LeadingKeys'] === 'false';
    const where = Object.keys(others).length > 0 ? ` where ${inWords(others)}` : '';
    for (const action of [Action].flat()) {
      for (const resource of [Resource].flat().map(inWords)) {
        const right = [`${Effect} ${resource}${where}${isBound ? ', of' : ''}`, action].join('\n');
        keysOf.set(right, [...(keysOf.get(right) ?? []), ...keys]);
      }
    }
  }
  const rights = [...keysOf].map(([right, keys]) => {
    const [about = '', action = ''] = right.split('\n');
    return { about: [about, ...keys.sort()].join(' '), action };
  });
  const lines = [...Map.groupBy(rights, ({ about }) => about)].map(
    ([about, all]) =>
      `  ${about.replaceAll('arn:AWS::Partition:', 'arn:')}: ${all
        .map(({ action }) => action)
        .sort()
        .join(' ')}`,
  );
  return [role, ...lines.sort(), ''].join('\n');
}

/** If a deployment changed the id of such a resource, it would replace it with an empty one. */
const HOLDS_DATA = /^AWS::(DynamoDB|SQS::Queue$|SecretsManager)/;
/** In alarms.txt and rights.txt. */
const LISTED_ELSEWHERE = /^AWS::(CloudWatch::Alarm|IAM::(Managed)?Policy)$/;
/** The hash of the code changes with every change, and the others have no effect. */
const LEFT_OUT = ['Code', 'DashboardBody', 'Description', 'Tags'];

interface Resource {
  Type: string;
  Properties?: Record<string, unknown>;
  DeletionPolicy?: string;
}

/** A line for each resource, parameter and output, with all its properties, for a stage that is called `dev`. */
export function resourcesOf(template: Template, stage: string): string[] {
  const { Resources, Outputs, Parameters } = template.toJSON();
  const resources = Object.entries<Resource>(Resources)
    .filter(([, { Type }]) => !LISTED_ELSEWHERE.test(Type))
    .map(([id, { Type, Properties = {}, DeletionPolicy }]) => {
      const properties = Object.entries(Properties).filter(([name]) => !LEFT_OUT.includes(name));
      const name = HOLDS_DATA.test(Type) ? id : withoutHash(id);
      const kept = DeletionPolicy ? ` (${DeletionPolicy})` : '';
      return `${Type.replace('AWS::', '')} ${name}${kept}: ${inWords(Object.fromEntries(properties))}`;
    });
  const others = Object.entries<{ Value?: unknown; Default?: unknown }>({ ...Parameters, ...Outputs }).map(
    ([name, { Value, Default }]) => `${name}: ${inWords(Value ?? Default)}`,
  );
  return [...resources, ...others].map((line) => line.replaceAll(new RegExp(`\\b${stage}\\b`, 'g'), 'dev')).sort();
}

/** The lines that a list has in addition to another one, and that it lacks. */
export function differences(lines: readonly string[], others: readonly string[]): string[] {
  return [
    ...others.filter((line) => !lines.includes(line)).map((line) => `- ${line}`),
    ...lines.filter((line) => !others.includes(line)).map((line) => `+ ${line}`),
  ].sort((a, b) => (a.slice(2) < b.slice(2) ? -1 : 1));
}
