import { describe, expect, it } from 'vitest';
import { inWords, rightsOf } from './lists.ts';
import { type Statement, slugsOf, statementsOf, statementsOfPolicy } from './rights-table.ts';
import { everything, ownOfEach, synthesize } from './variants.ts';

const POLICIES = ['ConsoleReadPolicyArn', 'ConsoleOperatePolicyArn'];

describe('a role or policy', () => {
  const template = synthesize('dev', { ...everything, deployment: {} }, ownOfEach(1)).template();

  it('allows what rights.txt says, and nothing else', async () => {
    const roles = slugsOf(template).map((slug) => rightsOf(slug, statementsOf(template, slug)));
    const policies = POLICIES.map((output) => rightsOf(output, statementsOfPolicy(template, output)));
    await expect([...roles, ...policies].join('\n')).toMatchFileSnapshot('rights.txt');
  });

  it('for reading in the console gives access to no secret', () => {
    expect(inWords(statementsOfPolicy(template, 'ConsoleReadPolicyArn'))).not.toContain('secretsmanager');
  });

  it('of the pages that seal grants keeps none, and of who keeps them seals none', () => {
    const rights = (slug: string) => rightsOf(slug, statementsOf(template, slug));
    expect(rights('account-link')).not.toMatch(/ grant#.*(Put|Update|Delete)Item/);
    expect(rights('slack-webhook')).not.toContain('Secretsgrants');
  });

  it('for the console may use the key of a stage that has one, and has its path', () => {
    const rules = synthesize('rules', everything).template();
    for (const output of POLICIES) expect(inWords(statementsOfPolicy(rules, output))).toContain('kms:Decrypt');
    rules.allResourcesProperties('AWS::IAM::ManagedPolicy', { Path: '/service/relay/' });
  });

  it('where no accounts are linked, nothing of it is deployed, and no role can read what is kept for it', () => {
    const { connections, ...rest } = everything;
    const without = synthesize('dev', { ...rest, deployment: {} }).template();
    expect(JSON.stringify(without.toJSON())).not.toMatch(
      /account-link|AccountLink|partner-relay\/dev\/(grants|intake|instance)|"(grant|link-share)#/,
    );
    expect(JSON.stringify(template.toJSON())).toMatch(/"grant#/);
  });
});

it.each(['rules', 'company'] as const)('nobody decrypts with the key of the stage %s directly', (stage) => {
  const template = synthesize(stage, everything).template();
  const statements = ['AWS::IAM::Policy', 'AWS::IAM::ManagedPolicy']
    .flatMap((type) => Object.values(template.findResources(type)))
    .flatMap(({ Properties }): Statement[] => Properties.PolicyDocument.Statement)
    .filter(({ Action }) => [Action].flat().some((action) => action.startsWith('kms:')));
  expect(statements.length).toBeGreaterThan(5);
  for (const { Condition } of statements) {
    expect(Condition?.StringEquals?.['kms:ViaService']).toContainEqual({
      'Fn::Join': ['', ['dynamodb.eu-central-1.', { Ref: 'AWS::URLSuffix' }]],
    });
  }
});
