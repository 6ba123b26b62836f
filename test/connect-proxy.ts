import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';

const pem = (name: string) => readFileSync(join(import.meta.dirname, 'company-ca', name));

/** The authority of `startTlsFront`'s certificate, for NODE_EXTRA_CA_CERTS. */
export const COMPANY_CA = join(import.meta.dirname, 'company-ca', 'ca.pem');

/** A server on loopback. */
interface Front {
  url: string;
  close(): void;
}

/** A TLS server in front of one without TLS. */
export interface TlsFront extends Front {
  /** The host as CONNECT names it: `localhost:34567` */
  host: string;
  /** The number of accepted connections. */
  taken: number;
}

export async function startTlsFront(to: string): Promise<TlsFront> {
  const options = { cert: pem('server.pem'), key: pem('server.key') };
  const front: TlsFront = { url: '', host: '', taken: 0, close: () => {} };
  const { port, close } = await listen(
    createTlsServer(options, (socket) => {
      front.taken++;
      splice(socket, connect(Number(new URL(to).port), '127.0.0.1'));
    }),
  );
  return Object.assign(front, { close, host: `localhost:${port}`, url: `https://localhost:${port}` });
}

/** A proxy that accepts only CONNECT. */
export interface ConnectProxy extends Front {
  /** The target of each connection: `localhost:34567` */
  tunnels: string[];
}

export async function startConnectProxy(): Promise<ConnectProxy> {
  const tunnels: string[] = [];
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on('connect', ({ url = '' }, socket: Socket) => {
    tunnels.push(url);
    const { port } = new URL(`https://${url}`);
    const target = connect(Number(port), '127.0.0.1', () => socket.write('HTTP/1.1 200 Connected\r\n\r\n'));
    splice(socket, target);
  });
  const { port, close } = await listen(server);
  return { tunnels, close, url: `http://127.0.0.1:${port}` };
}

function splice(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.pipe(to);
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
  }
}

async function listen(server: Server): Promise<{ port: number; close(): void }> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => open.add(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
