/**
 * What CloudFormation calls to create, read, update and delete a resource, by its type and by the service: the
 * `handlers` of the resource schemas that AWS publishes (`aws cloudformation describe-type`), without what the stack has no
 * use for, such as replicas, file systems and streams, and without `DeleteRolePermissionsBoundary`, which is denied. Three
 * types have no schema there: those are from the API reference.
 */
export const actionsByType: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'AWS::ApiGatewayV2::Api': {
    apigateway: 'DELETE GET PATCH POST PUT',
  },
  'AWS::ApiGatewayV2::ApiMapping': {
    apigateway: 'DELETE GET PATCH POST PUT',
  },
  'AWS::ApiGatewayV2::DomainName': {
    apigateway: 'DELETE GET PATCH POST PUT',
  },
  'AWS::ApiGatewayV2::Integration': {
    apigateway: 'DELETE GET PATCH POST PUT',
    iam: 'PassRole',
  },
  'AWS::ApiGatewayV2::Route': {
    apigateway: 'DELETE GET PATCH POST PUT',
  },
  'AWS::ApiGatewayV2::Stage': {
    apigateway: 'DELETE GET PATCH POST TagResource UntagResource',
  },
  'AWS::Budgets::Budget': {
    budgets: 'ListTagsForResource ModifyBudget TagResource UntagResource ViewBudget',
  },
  'AWS::Chatbot::SlackChannelConfiguration': {
    chatbot:
      'AssociateToConfiguration CreateSlackChannelConfiguration DeleteSlackChannelConfiguration DescribeSlackChannelConfigurations DisassociateFromConfiguration ListAssociations ListTagsForResource TagResource UntagResource UpdateSlackChannelConfiguration',
    iam: 'CreateServiceLinkedRole PassRole',
  },
  'AWS::CloudWatch::Alarm': {
    cloudwatch: 'DeleteAlarms DescribeAlarms ListTagsForResource PutMetricAlarm TagResource UntagResource',
  },
  'AWS::CloudWatch::Dashboard': {
    cloudwatch: 'DeleteDashboards GetDashboard ListTagsForResource PutDashboard TagResource UntagResource',
  },
  'AWS::DynamoDB::GlobalTable': {
    'application-autoscaling': 'Describe*',
    dynamodb:
      'CreateTable CreateTableReplica DeleteResourcePolicy DeleteTable DeleteTableReplica Describe* GetResourcePolicy ListTagsOfResource PutResourcePolicy TagResource UntagResource UpdateContinuousBackups UpdateContributorInsights UpdateTable UpdateTableReplicaAutoScaling UpdateTimeToLive',
    iam: 'CreateServiceLinkedRole',
    kms: 'CreateGrant Decrypt DescribeKey RevokeGrant',
  },
  'AWS::EC2::EIP': {
    ec2: 'AllocateAddress AssociateAddress CreateTags DeleteTags DescribeAddresses DisassociateAddress ReleaseAddress',
  },
  'AWS::EC2::InternetGateway': {
    ec2: 'CreateInternetGateway CreateTags DeleteInternetGateway DeleteTags DescribeInternetGateways',
  },
  'AWS::EC2::NatGateway': {
    ec2: 'AssignPrivateNatGatewayAddress AssociateNatGatewayAddress CreateNatGateway CreateTags DeleteNatGateway DeleteTags DescribeNatGateways DisassociateNatGatewayAddress UnassignPrivateNatGatewayAddress',
  },
  'AWS::EC2::Route': {
    ec2: 'CreateRoute DeleteRoute DescribeNetworkInterfaces DescribeRouteTables ReplaceRoute',
  },
  'AWS::EC2::RouteTable': {
    ec2: 'CreateRouteTable CreateTags DeleteRouteTable DeleteTags DescribeRouteTables',
  },
  'AWS::EC2::SecurityGroup': {
    ec2: 'AuthorizeSecurityGroupEgress AuthorizeSecurityGroupIngress CreateSecurityGroup CreateTags DeleteSecurityGroup DeleteTags DescribeInstances DescribeSecurityGroups RevokeSecurityGroupEgress RevokeSecurityGroupIngress UpdateSecurityGroupRuleDescriptionsEgress UpdateSecurityGroupRuleDescriptionsIngress',
  },
  'AWS::EC2::SecurityGroupIngress': {
    ec2: 'AuthorizeSecurityGroupIngress DescribeSecurityGroupRules DescribeSecurityGroups RevokeSecurityGroupIngress UpdateSecurityGroupRuleDescriptionsIngress',
  },
  'AWS::EC2::Subnet': {
    ec2: 'AssociateSubnetCidrBlock CreateSubnet CreateTags DeleteSubnet DeleteTags DescribeNetworkAcls DescribeSubnets DisassociateSubnetCidrBlock ModifySubnetAttribute',
  },
  'AWS::EC2::SubnetRouteTableAssociation': {
    ec2: 'AssociateRouteTable DescribeRouteTables DescribeSubnets DisassociateRouteTable ReplaceRouteTableAssociation',
  },
  'AWS::EC2::VPC': {
    ec2: 'CreateTags CreateVpc DeleteTags DeleteVpc DescribeNetworkAcls DescribeSecurityGroups DescribeVpcAttribute DescribeVpcs ModifyVpcAttribute ModifyVpcTenancy',
  },
  'AWS::EC2::VPCEndpoint': {
    ec2: 'CreateTags CreateVpcEndpoint DeleteTags DeleteVpcEndpoints DescribeSecurityGroups DescribeSubnets DescribeVpcEndpoints DescribeVpcs ModifyVpcEndpoint',
  },
  'AWS::EC2::VPCGatewayAttachment': {
    ec2: 'AttachInternetGateway DescribeInternetGateways DetachInternetGateway',
  },
  'AWS::IAM::ManagedPolicy': {
    iam: 'CreatePolicy CreatePolicyVersion DeletePolicy DeletePolicyVersion GetPolicy GetPolicyVersion ListEntitiesForPolicy ListPolicyVersions',
  },
  'AWS::IAM::Policy': {
    iam: 'DeleteRolePolicy GetRolePolicy PutRolePolicy',
  },
  'AWS::IAM::Role': {
    iam: 'CreateRole DeleteRole DeleteRolePolicy GetRole GetRolePolicy ListAttachedRolePolicies ListRolePolicies PutRolePermissionsBoundary PutRolePolicy TagRole UntagRole UpdateAssumeRolePolicy UpdateRole UpdateRoleDescription',
  },
  'AWS::Lambda::EventInvokeConfig': {
    lambda:
      'DeleteFunctionEventInvokeConfig GetFunctionEventInvokeConfig PutFunctionEventInvokeConfig UpdateFunctionEventInvokeConfig',
  },
  'AWS::Lambda::EventSourceMapping': {
    kms: 'Decrypt DescribeKey GenerateDataKey',
    lambda:
      'CreateEventSourceMapping DeleteEventSourceMapping GetEventSourceMapping ListTags TagResource UntagResource UpdateEventSourceMapping',
  },
  'AWS::Lambda::Function': {
    ec2: 'DescribeNetworkInterfaces DescribeSecurityGroups DescribeSubnets DescribeVpcs',
    iam: 'PassRole',
    kms: 'CreateGrant Decrypt Encrypt GenerateDataKey',
    lambda:
      'CreateFunction DeleteFunction DeleteFunctionCodeSigningConfig DeleteFunctionConcurrency GetFunction GetFunctionCodeSigningConfig GetFunctionRecursionConfig GetFunctionScalingConfig GetRuntimeManagementConfig PublishVersion PutFunctionCodeSigningConfig PutFunctionConcurrency PutFunctionRecursionConfig PutFunctionScalingConfig PutRuntimeManagementConfig TagResource UntagResource UpdateFunctionCode UpdateFunctionConfiguration',
    s3: 'GetObject',
  },
  'AWS::Lambda::Permission': {
    lambda: 'AddPermission GetPolicy RemovePermission',
  },
  'AWS::Lambda::Url': {
    lambda: 'CreateFunctionUrlConfig DeleteFunctionUrlConfig GetFunctionUrlConfig UpdateFunctionUrlConfig',
  },
  'AWS::Logs::LogGroup': {
    logs: 'AssociateKmsKey CreateLogDelivery CreateLogGroup DeleteDataProtectionPolicy DeleteLogGroup DeleteRetentionPolicy DescribeLogGroups DescribeResourcePolicies DisassociateKmsKey GetDataProtectionPolicy ListTagsForResource PutDataProtectionPolicy PutResourcePolicy PutRetentionPolicy TagResource UntagResource',
  },
  'AWS::SNS::Subscription': {
    iam: 'GetRole PassRole',
    sns: 'GetSubscriptionAttributes SetSubscriptionAttributes Subscribe Unsubscribe',
  },
  'AWS::SNS::Topic': {
    iam: 'GetRole PassRole',
    sns: 'CreateTopic DeleteTopic GetDataProtectionPolicy GetTopicAttributes ListSubscriptionsByTopic ListTagsForResource PutDataProtectionPolicy SetTopicAttributes Subscribe TagResource Unsubscribe UntagResource',
  },
  'AWS::SNS::TopicPolicy': {
    sns: 'GetTopicAttributes SetTopicAttributes',
  },
  'AWS::SQS::Queue': {
    sqs: 'CreateQueue DeleteQueue GetQueueAttributes GetQueueUrl ListQueueTags SetQueueAttributes TagQueue UntagQueue',
  },
  'AWS::SQS::QueuePolicy': {
    sqs: 'GetQueueAttributes SetQueueAttributes',
  },
  'AWS::Scheduler::Schedule': {
    iam: 'PassRole',
    scheduler: 'CreateSchedule DeleteSchedule GetSchedule UpdateSchedule',
  },
  'AWS::SecretsManager::Secret': {
    secretsmanager:
      'CreateSecret DeleteSecret DescribeSecret GetRandomPassword GetSecretValue TagResource UntagResource UpdateSecret',
  },
};
