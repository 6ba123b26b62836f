import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server for this machine only. */
export interface Listening {
  /** `http://127.0.0.1:8788` */
  url: string;
  /** Also cuts open connections. */
  close(): Promise<void>;
}

/**
 * Starts to listen on 127.0.0.1.
 *
 * @param port 0 means any free port
 * @param setting the option that changes the port, for the message
 * @throws {Error} if the port is taken
 */
export async function listen(server: Server, port = 0, setting = '--port'): Promise<Listening> {
  await once(server.listen(port, '127.0.0.1'), 'listening').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE'
      ? new Error(`port ${port} is already in use; choose another with ${setting}`)
      : error;
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
