/** Replaces the cache of discovered endpoints, which the DynamoDB client makes and no command of it uses. */
export class EndpointCache {}
