/** Replaces the DynamoDB client's cache of discovered endpoints, which no command uses. */
export class EndpointCache {}
