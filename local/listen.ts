import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server of this machine alone. */
export interface Listening {
  /** `http://127.0.0.1:8788` */
  url: string;
  /** Cuts the connections that are open. */
  close(): Promise<void>;
}

/** @param port 0 means any free port */
export async function listen(server: Server, port = 0): Promise<Listening> {
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
