import { auth, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** The least function that could link accounts and call tools with the SDK: it has it, and does nothing with it. */
export const handler = async () => ({
  statusCode: [auth, Client, StreamableHTTPClientTransport].every((one) => typeof one === 'function') ? 200 : 500,
});
