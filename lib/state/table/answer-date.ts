import type { DynamoDBClient, DynamoDBServiceException } from '@aws-sdk/client-dynamodb';

type Metadata = DynamoDBServiceException['$metadata'];
interface DatedMetadata extends Metadata {
  /** The header of that name. */
  date?: string | undefined;
}

/** Keeps the `Date` of each answer in its metadata: only middleware sees the headers of an answer. */
export function keepDate(client: DynamoDBClient): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const { output, response } = await next(args);
      const { headers } = response as { headers?: Readonly<Record<string, string>> };
      const $metadata: DatedMetadata = { ...output?.$metadata, date: headers?.date };
      return { output: { ...output, $metadata }, response };
    },
    { step: 'deserialize', priority: 'high' },
  );
}

export const dateOf = ($metadata: DatedMetadata | undefined): string | undefined => $metadata?.date;
