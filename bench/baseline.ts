import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import middy from '@middy/core';

/** The clients that every webhook on Lambda needs. */
export const clients = [new DynamoDBClient(), new SecretsManagerClient(), new SQSClient()];

export const handler = middy().handler(async () => ({ statusCode: 200 }));
