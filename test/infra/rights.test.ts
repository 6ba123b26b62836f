import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { inWords, rightsOf } from './lists.ts';
import { POLICIES, type Statement, slugsOf, statementsOf, statementsOfPolicy, worthOf } from './rights-table.ts';
import { customOfEach, everything, propertiesOf, synthesize } from './variants.ts';

describe('a role or policy', () => {
  const template = synthesize('dev', { ...everything, deployment: {} }, customOfEach(1)).template();

  it('allows what rights.txt says, and nothing else', async () => {
    const roles = slugsOf(template).map((slug) => rightsOf(slug, statementsOf(template, slug)));
    const policies = POLICIES.map((output) => rightsOf(output, statementsOfPolicy(template, output)));
    await expect([...roles, ...policies].join('\n')).toMatchFileSnapshot('rights.txt');
  });

  it('to read in the console gives access to no secret', () => {
    expect(inWords(statementsOfPolicy(template, 'ConsoleReadPolicyArn'))).not.toContain('secretsmanager');
  });

  it('to operate enters no secret, and reads none that proves who sent a request', () => {
    const rights = [...worthOf(template, 'ConsoleOperatePolicyArn')];
    const secrets = rights.filter((right) => !/#|^(sends|runs) /.test(right));
    expect(secrets).toEqual(['github', 'markers', 'partner/<connection>']);
  });

  it('to enter secrets gives nothing else', () => {
    const statements = statementsOfPolicy(template, 'ConsoleSecretsPolicyArn');
    expect([...new Set(statements.flatMap(({ Action }) => Action))].sort()).toEqual([
      'secretsmanager:GetSecretValue',
      'secretsmanager:PutSecretValue',
    ]);
    expect(inWords(statements)).not.toMatch(/intake|grants|markers/);
  });

  it.each(POLICIES)('of SECURITY.md says for %s what each right is worth at worst', (output) => {
    const page = readFileSync(new URL('../../SECURITY.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| (?<rights>`.*`) \| (?<policy>\w+) \| .+ \|$/gm)];
    const named = rows.filter(({ groups }) => output.includes(`Console${groups?.policy}Policy`));
    const rights = named.flatMap(({ groups }) => groups?.rights?.match(/(?<=`)[^`,]+(?=`)/g) ?? []);
    expect(new Set(rights)).toEqual(worthOf(template, output));
  });

  it('that seals grants cannot store them, and a role that stores them cannot seal any', () => {
    const rights = (slug: string) => rightsOf(slug, statementsOf(template, slug));
    expect(rights('account-link')).not.toMatch(/ grant#.*(Put|Update|Delete)Item/);
    expect(rights('slack-webhook')).not.toContain('Secretsgrants');
  });

  it("for the console may use the stage's key, if there is one, and has its path", () => {
    const rules = synthesize('rules', everything).template();
    for (const output of POLICIES) expect(inWords(statementsOfPolicy(rules, output))).toContain('kms:Decrypt');
    rules.allResourcesProperties('AWS::IAM::ManagedPolicy', { Path: '/service/relay/' });
  });

  it('without linked accounts, nothing for them is deployed, and no role can read their items', () => {
    const { connections, ...rest } = everything;
    const without = synthesize('dev', { ...rest, deployment: {} }).template();
    expect(JSON.stringify(without.toJSON())).not.toMatch(
      /account-link|AccountLink|partner-relay\/dev\/(grants|intake|instance)|"(grant|link-share)#/,
    );
    expect(JSON.stringify(template.toJSON())).toMatch(/"grant#/);
  });
});

it.each(['rules', 'company'] as const)('nobody decrypts directly with the key of the stage %s', (stage) => {
  const template = synthesize(stage, everything).template();
  const statements = ['IAM::Policy', 'IAM::ManagedPolicy']
    .flatMap((type) => propertiesOf(template, type))
    .flatMap(({ PolicyDocument }): Statement[] => PolicyDocument.Statement)
    .filter(({ Action }) => [Action].flat().some((action) => action.startsWith('kms:')));
  expect(statements.length).toBeGreaterThan(5);
  for (const { Condition } of statements) {
    expect(Condition?.StringEquals?.['kms:ViaService']).toContainEqual({
      'Fn::Join': ['', ['dynamodb.eu-central-1.', { Ref: 'AWS::URLSuffix' }]],
    });
  }
});
