import type { Template } from 'aws-cdk-lib/assertions';
import { withTable } from '../../docs/made-table.ts';
import { customOfEach, everything, propertiesOf, synthesize } from './variants.ts';

export interface Statement {
  Effect: string;
  Action: string | string[];
  Resource: unknown;
  Condition?: Record<string, Record<string, string | string[]>>;
}

/** The functions of the stage `dev`. */
export function slugsOf(template: Template): string[] {
  const functions = propertiesOf(template, 'Lambda::Function');
  return functions.map(({ FunctionName }) => String(FunctionName).replace('partner-relay-dev-', '')).sort();
}

/** The statements of a function's role. */
export function statementsOf(template: Template, slug: string): Statement[] {
  const fn = propertiesOf(template, 'Lambda::Function').find(({ FunctionName }) => FunctionName.endsWith(slug));
  const role = fn?.Role['Fn::GetAtt'][0];
  const { Policies = [], ManagedPolicyArns = [] } = template.findResources('AWS::IAM::Role')[role]?.Properties ?? {};
  const attached = ['IAM::Policy', 'IAM::ManagedPolicy']
    .flatMap((type) => propertiesOf(template, type))
    .filter(({ Roles = [] }) => Roles.some(({ Ref }: { Ref: string }) => Ref === role));
  return [
    ...[...attached, ...Policies].flatMap(({ PolicyDocument }) => PolicyDocument.Statement as Statement[]),
    // The template does not contain AWS's own policies.
    ...ManagedPolicyArns.map((Resource: unknown): Statement => ({ Effect: 'Allow', Action: '*', Resource })),
  ];
}

/** The statements of the policy whose ARN is in the output. */
export function statementsOfPolicy(template: Template, output: string): Statement[] {
  const { Ref } = template.findOutputs(output)[output]?.Value ?? {};
  return template.findResources('AWS::IAM::ManagedPolicy')[Ref]?.Properties.PolicyDocument.Statement;
}

/** The outputs with the policies for people. */
export const POLICIES = ['ConsoleReadPolicyArn', 'ConsoleOperatePolicyArn', 'ConsoleSecretsPolicyArn'];

/** What such a policy allows besides reading the table, in the words of SECURITY.md: `enters slack`, `job#*`. */
export function worthOf(template: Template, output: string): Set<string> {
  const statements = statementsOfPolicy(template, output);
  const [secrets = '', , writes = '', queues = ''] = cells(statements, template);
  const named = [...`${secrets} ${writes} ${queues}`.matchAll(/`([^`]+)`/g)].map(([, right = '']) => right);
  const runs = statements.some(({ Action }) => [Action].flat().includes('lambda:InvokeFunction'));
  return new Set([...named, ...(runs ? ['runs schedules'] : [])]);
}

/** SECURITY.md with the rights of every role in a stage with all parts. */
export function withRights(page: string): string {
  const template = synthesize('dev', { ...everything, deployment: {} }, customOfEach(1)).template();
  return withTable(page, 'rights', rightsTable(template));
}

function rightsTable(template: Template): string {
  const roles: [string, Statement[]][] = [
    ...slugsOf(template).map((slug): [string, Statement[]] => [slug, statementsOf(template, slug)]),
    ...POLICIES.map((output): [string, Statement[]] => [output, statementsOfPolicy(template, output)]),
  ];
  const rows = roles.map(([name, statements]) => `| ${[`\`${name}\``, ...cells(statements, template)].join(' | ')} |`);
  return ['| role | secrets | reads | writes | queues |', '| --- | --- | --- | --- | --- |', ...rows].join('\n');
}

function cells(statements: readonly Statement[], template: Template): string[] {
  const secrets = new Set<string>();
  const reads = new Set<string>();
  const writes = new Set<string>();
  const queues = new Set<string>();
  for (const { Action, Resource, Condition } of statements) {
    const keys = [Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? []].flat();
    for (const action of [Action].flat()) {
      for (const resource of [Resource].flat().map((one) => JSON.stringify(one))) {
        if (action === 'secretsmanager:GetSecretValue') secrets.add(secretOf(resource, template));
        if (action === 'secretsmanager:PutSecretValue') secrets.add(`enters ${secretOf(resource, template)}`);
        const [, index] = /\/index\/([\w-]+)/.exec(resource) ?? [];
        if (index !== undefined) reads.add(`index ${index}`);
        const found = /^dynamodb:(GetItem|Query)$/.test(action) ? reads : writes;
        if (action.startsWith('dynamodb:')) for (const key of keys) found.add(key);
        const [, lane = ''] = /"(Interactive|Background)Queue/.exec(resource) ?? [];
        if (action === 'sqs:SendMessage' && lane) queues.add(`sends ${lane.toLowerCase()}`);
        if (action === 'sqs:ReceiveMessage' && lane) queues.add(`receives ${lane.toLowerCase()}`);
      }
    }
  }
  return [secrets, reads, writes, queues].map(
    (all) =>
      [...all]
        .sort()
        .map((one) => `\`${one}\``)
        .join(', ') || '–',
  );
}

/** The secrets of all connections are one resource, and those of all teams, too. */
function secretOf(resource: string, template: Template): string {
  const [, kind] = /partner-relay\/dev\/(\w+)\/\*/.exec(resource) ?? [];
  if (kind !== undefined) return `${kind}/<${kind === 'calendar' ? 'team' : 'connection'}>`;
  const [, id = ''] = /"Fn::GetAtt":\["(\w+)"/.exec(resource) ?? [];
  const name = String(template.findResources('AWS::SecretsManager::Secret')[id]?.Properties.Name);
  return name.replace('partner-relay/dev/', '');
}
