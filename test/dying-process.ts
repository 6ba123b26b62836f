import { once } from 'node:events';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Stands between a process and what it talks to. */
export interface DyingProcess {
  /** Settles when the process died. */
  died: Promise<void>;
  /** @returns where the process finds what is at `target` */
  reach(target: string): Promise<string>;
  close(): void;
}

/**
 * Has a process die at its nth request, carried out or not: from then on nothing answers it any more. The process is
 * one in name only, so it must be left alone afterwards.
 */
export function startDyingProcess(at: number, isCarriedOut: boolean): DyingProcess {
  const { promise: died, resolve: die } = Promise.withResolvers<void>();
  const servers: Server[] = [];
  let requests = 0;
  return {
    died,
    async reach(target) {
      const { hostname, port } = new URL(target);
      const server = createServer((request, response) => {
        const count = ++requests;
        if (count > at || (count === at && !isCarriedOut)) return die();
        const { method, headers, url } = request;
        const onwards = httpRequest({ hostname, port, path: url, method, headers }, (answer) => {
          if (count === at) return void answer.resume().once('end', die);
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(response);
        });
        request.pipe(onwards);
      });
      servers.push(server);
      await once(server.listen(0, '127.0.0.1'), 'listening');
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
    close() {
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}
