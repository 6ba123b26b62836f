import * as z from 'zod';
import { CannotTell, type Check, check } from '../../lib/checks/check.ts';
import type { StageSettings } from '../../lib/config/deployment.ts';
import { askInXml } from '../ask-aws.ts';
import { askInJson } from './ask-in-json.ts';

/** Per kind of network: what it uses up, the code of that quota, and the prefix of its ids. */
const VPC = {
  what: 'VPCs',
  quota: ['vpc', 'L-F678F1CE'],
  action: 'DescribeVpcs',
  one: /<vpcId>/g,
  id: 'vpc-',
} as const;
const ADDRESS = {
  what: 'Elastic IPs',
  quota: ['ec2', 'L-0263D0A3'],
  action: 'DescribeAddresses',
  one: /<publicIp>/g,
  id: 'vpc-',
} as const;
const GATEWAY = {
  what: 'gateway endpoints',
  quota: ['vpc', 'L-1B52E74A'],
  action: 'DescribeVpcEndpoints',
  one: /<vpcEndpointType>Gateway</g,
  id: 'vpce-',
} as const;

/** https://docs.aws.amazon.com/servicequotas/2019-06-24/apireference/API_GetServiceQuota.html */
const quotaAnswer = z.object({ Quota: z.object({ Value: z.number() }) });

/**
 * Checks whether the region's quota has room for the network that the stack creates.
 *
 * @param owned the ids of the stack's resources
 */
export function networkChecks(
  { create, existing }: NonNullable<StageSettings['network']>,
  owned: Promise<readonly string[]>,
): Check[] {
  const needed = [
    ...(create ? [VPC, ADDRESS] : []),
    ...(create || existing?.endpoints?.routeTableIds ? [GATEWAY] : []),
  ];
  return needed.map(({ what, quota: [ServiceCode, QuotaCode], action, one, id }) =>
    check(`quota of ${what}`, async () => {
      if ((await owned).some((its) => its.startsWith(id))) return 'the stack has its network already';
      const used = (await askEc2(action)).match(one)?.length ?? 0;
      const question = { service: 'servicequotas', operation: 'ServiceQuotasV20190624.GetServiceQuota' };
      const otherwise = `the region has ${used}, and the network needs one more`;
      const { Quota } = quotaAnswer.parse(await askInJson(question, { ServiceCode, QuotaCode }, otherwise));
      if (used < Quota.Value) return `${used} of ${Quota.Value} are used, and the network needs one more`;
      throw new Error(
        `all ${Quota.Value} are used, and the network needs one more: request more with aws service-quotas request-service-quota-increase --service-code ${ServiceCode} --quota-code ${QuotaCode} --desired-value ${used + 1}, or delete one`,
      );
    }),
  );
}

/** https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeVpcs.html */
const askEc2 = (Action: string) =>
  askInXml('ec2', { Action, Version: '2016-11-15' }, (why) => new CannotTell(`EC2 did not answer: ${why}`));
