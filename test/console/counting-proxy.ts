import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A request to the table, as the SDK sent it. */
export interface TableCall {
  /** `Query`, `GetItem` */
  action: string;
  index?: string;
  limit?: number;
}

/** Stands between the relay and its table, and writes down every request. */
export interface CountingProxy {
  calls: TableCall[];
  /** For {@link TestRelayOptions.tableThrough}. */
  through(endpoint: string): Promise<string>;
  close(): Promise<void>;
}

export function countingProxy(): CountingProxy {
  const calls: TableCall[] = [];
  let to = '';
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const [, action = ''] = String(request.headers['x-amz-target']).split('.');
    const { IndexName: index, Limit: limit } = JSON.parse(body.toString()) as { IndexName?: string; Limit?: number };
    calls.push({ action, ...(index !== undefined && { index }), ...(limit !== undefined && { limit }) });
    const { host, connection, 'content-length': length, ...headers } = request.headers;
    const answer = await fetch(to, { method: 'POST', headers: headers as Record<string, string>, body });
    // With the date of the table's clock, by which the relay corrects its own.
    response.writeHead(answer.status, {
      'content-type': 'application/x-amz-json-1.0',
      date: String(answer.headers.get('date')),
    });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  return {
    calls,
    async through(endpoint) {
      to = endpoint;
      await once(server.listen(0, '127.0.0.1'), 'listening');
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
