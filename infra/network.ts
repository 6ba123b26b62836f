import { ArnFormat, CfnOutput, Stack } from 'aws-cdk-lib';
import {
  CfnEIP,
  CfnVPCEndpoint,
  GatewayVpcEndpointAwsService,
  InterfaceVpcEndpoint,
  InterfaceVpcEndpointAwsService,
  IpAddresses,
  type ISecurityGroup,
  type ISubnet,
  type IVpc,
  NatProvider,
  Port,
  SecurityGroup,
  Subnet,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { Effect, type IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { StageSettings } from '../lib/config/deployment.ts';
import { acknowledge } from './acknowledge.ts';

type NetworkSettings = NonNullable<StageSettings['network']>;

type InterfaceName = NonNullable<NetworkSettings['create']>['interfaces'][number];

/** By the services' names in the configuration and in their addresses. */
const INTERFACES: Readonly<Record<InterfaceName, { id: string; service: InterfaceVpcEndpointAwsService }>> = {
  sqs: { id: 'Sqs', service: InterfaceVpcEndpointAwsService.SQS },
  secretsmanager: { id: 'SecretsManager', service: InterfaceVpcEndpointAwsService.SECRETS_MANAGER },
};

/** The network of the functions that call the service, or of all functions. */
export class Network extends Construct {
  readonly vpc: IVpc;
  readonly subnets: readonly ISubnet[];
  readonly securityGroups: readonly ISecurityGroup[];
  /** The variables with which a function in the network finds the proxy. */
  readonly environment: Readonly<Record<string, string>>;
  readonly #hasAll: boolean;
  /** The addresses of the AWS services with an endpoint here. */
  readonly #endpoints: string[] = [];

  constructor(scope: Construct, id: string, settings: NetworkSettings) {
    super(scope, id);
    const { vpc, subnets, securityGroups } = settings.existing
      ? this.#find(settings.existing)
      : this.#create(settings.create);
    this.vpc = vpc;
    this.subnets = subnets;
    this.securityGroups = securityGroups;
    this.environment = settings.proxy ? this.#through(settings.proxy) : {};
    this.#hasAll = settings.allFunctions;
  }

  /** Whether a function runs in the network. */
  has({ callsService }: { callsService: boolean }): boolean {
    return callsService || this.#hasAll;
  }

  #find({ vpcId, subnetIds, securityGroupIds, endpoints }: NonNullable<NetworkSettings['existing']>) {
    const subnets = subnetIds.map((subnetId) => Subnet.fromSubnetId(this, subnetId, subnetId));
    // The availability zones are unknown here, and not needed.
    const availabilityZones = subnetIds.map((_, index) => `zone-${index}`);
    const vpc = Vpc.fromVpcAttributes(this, 'Vpc', { vpcId, availabilityZones, privateSubnetIds: subnetIds });
    acknowledge(
      this,
      'Annotation::@aws-cdk/aws-ec2:noSubnetRouteTableId',
      'Endpoints have their own list of route tables.',
    );
    const securityGroups = securityGroupIds.map((groupId) => SecurityGroup.fromSecurityGroupId(this, groupId, groupId));
    if (endpoints?.routeTableIds) {
      new CfnVPCEndpoint(this, 'DynamoDb', {
        vpcId,
        vpcEndpointType: 'Gateway',
        serviceName: `com.amazonaws.${Stack.of(this).region}.dynamodb`,
        routeTableIds: endpoints.routeTableIds,
      });
      this.#noteDynamoDb();
    }
    if (endpoints) this.#addInterfaces(endpoints.interfaces, vpc, subnets, securityGroups);
    return { vpc, subnets, securityGroups };
  }

  #create(settings: NetworkSettings['create']) {
    if (!settings) throw new Error('network has neither existing nor create');
    const address = new CfnEIP(this, 'Address', { domain: 'vpc' });
    // Under exactOptionalPropertyTypes, the class does not match its own interface, because of vpnGatewayId.
    const vpc = new Vpc(this, 'Vpc', {
      ipAddresses: IpAddresses.cidr(settings.cidr),
      maxAzs: 2,
      natGateways: 1,
      // Nothing uses the default group, and closing it would take another function.
      restrictDefaultSecurityGroup: false,
      natGatewayProvider: NatProvider.gateway({ eipAllocationIds: [address.attrAllocationId] }),
      subnetConfiguration: [
        { name: 'Public', subnetType: SubnetType.PUBLIC, mapPublicIpOnLaunch: false },
        { name: 'Private', subnetType: SubnetType.PRIVATE_WITH_EGRESS },
      ],
    }) as IVpc;
    acknowledge(
      vpc,
      'AwsSolutions-VPC7',
      'Only functions of the relay use the VPC, and each logs the calls that it makes.',
    );
    const securityGroup = new SecurityGroup(this, 'Functions', {
      vpc,
      description: 'Functions that call the service: no inbound traffic, outbound only',
    });
    vpc.addGatewayEndpoint('DynamoDb', { service: GatewayVpcEndpointAwsService.DYNAMODB });
    this.#noteDynamoDb();
    this.#addInterfaces(settings.interfaces, vpc, vpc.privateSubnets, [securityGroup]);
    new CfnOutput(Stack.of(this), 'OutboundAddress', {
      value: address.attrPublicIp,
      description: 'The address from which the relay calls the service, for an allow-list',
    });
    return { vpc, subnets: vpc.privateSubnets, securityGroups: [securityGroup] };
  }

  /**
   * Notes both addresses of DynamoDB. The second contains the account, and the SDK prefers it if it knows the account.
   */
  #noteDynamoDb(): void {
    this.#endpoints.push(this.#addressOf('dynamodb'), `.${this.#addressOf('ddb')}`);
  }

  #addressOf(service: string): string {
    const { region, urlSuffix } = Stack.of(this);
    return `${service}.${region}.${urlSuffix}`;
  }

  /**
   * The variables of the proxy. Calls to the endpoints bypass it: otherwise, they would miss the endpoint and its
   * policy.
   */
  #through({ url, except }: NonNullable<NetworkSettings['proxy']>) {
    return { NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: url, NO_PROXY: [...this.#endpoints, ...except].join() };
  }

  #addInterfaces(names: readonly InterfaceName[], vpc: IVpc, subnets: ISubnet[], callers: ISecurityGroup[]): void {
    if (names.length === 0) return;
    const securityGroup = new SecurityGroup(this, 'Endpoints', {
      vpc,
      description: 'Endpoints of AWS services: inbound from the functions of the relay',
      allowAllOutbound: false,
    });
    for (const caller of callers) securityGroup.addIngressRule(caller, Port.tcp(443));
    for (const name of new Set(names)) {
      const { id, service } = INTERFACES[name];
      this.#endpoints.push(this.#addressOf(name));
      new InterfaceVpcEndpoint(this, id, {
        vpc,
        service,
        subnets: { subnets },
        securityGroups: [securityGroup],
        open: false,
      });
    }
  }
}

/**
 * Lets Lambda connect a function to a network, and disconnect it. Every role has this right, even without a network: if
 * a stage leaves its network, Lambda needs the right until it has deleted the function's interfaces, or they would
 * stay. The function's own code is denied these actions.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html
 * https://github.com/aws/aws-cdk/issues/34400
 */
export function letLambdaConnect(role: IRole, functionName: string): void {
  const functionArn = Stack.of(role).formatArn({
    service: 'lambda',
    resource: 'function',
    resourceName: functionName,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  const statement = {
    actions: [
      'ec2:CreateNetworkInterface',
      'ec2:DescribeNetworkInterfaces',
      'ec2:DescribeSubnets',
      'ec2:DeleteNetworkInterface',
      'ec2:AssignPrivateIpAddresses',
      'ec2:UnassignPrivateIpAddresses',
    ],
    resources: ['*'],
  };
  role.addToPrincipalPolicy(new PolicyStatement(statement));
  role.addToPrincipalPolicy(
    new PolicyStatement({
      ...statement,
      effect: Effect.DENY,
      conditions: { ArnEquals: { 'lambda:SourceFunctionArn': functionArn } },
    }),
  );
  acknowledge(role, 'AwsSolutions-IAM5[Resource::*]', 'Lambda needs these actions for every network interface.');
}
