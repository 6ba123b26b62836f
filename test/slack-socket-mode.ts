import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { listen } from '../local/listen.ts';

export const APP_TOKEN = 'xapp-of-the-tests';

/** Slack's side of Socket Mode, over sockets. https://docs.slack.dev/apis/events-api/using-socket-mode */
export interface SocketModeStandIn {
  apiUrl: string;
  /** The number of issued URLs. */
  urls: number;
  /** The error of apps.connections.open, while it is set. */
  refusal: string | undefined;
  /** The app's acknowledgements. */
  acknowledged: { envelope_id: string; payload?: unknown }[];
  /** The open connections, oldest first. */
  connections: Duplex[];
  /** Sends a message to the newest connection. */
  send(message: object): void;
  /** Cuts all connections without a closing handshake. */
  cut(): void;
  close(): Promise<void>;
}

/** RFC 6455, section 1.3. */
const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const [TEXT, CLOSE] = [1, 8];

export async function startSocketMode(): Promise<SocketModeStandIn> {
  const server = createServer((request, response) => {
    const answer = (body: object) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.headers.authorization !== `Bearer ${APP_TOKEN}`) return answer({ ok: false, error: 'invalid_auth' });
    if (slack.refusal) return answer({ ok: false, error: slack.refusal });
    slack.urls += 1;
    return answer({ ok: true, url: `${url.replace('http', 'ws')}/link/?ticket=${slack.urls}` });
  });
  server.on('upgrade', (request, socket) => {
    const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}${MAGIC}`).digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
    );
    slack.connections.push(socket);
    let bytes: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (let read = readFrame(bytes); read; read = readFrame(bytes)) {
        bytes = read.rest;
        if (read.opcode === TEXT) slack.acknowledged.push(JSON.parse(read.text));
        if (read.opcode === CLOSE) socket.end(frame(CLOSE, ''));
      }
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      slack.connections = slack.connections.filter((one) => one !== socket);
    });
    socket.write(frame(TEXT, JSON.stringify({ type: 'hello', num_connections: slack.connections.length })));
  });
  const { url, close } = await listen(server);
  const slack: SocketModeStandIn = {
    apiUrl: `${url}/api`,
    urls: 0,
    refusal: undefined,
    acknowledged: [],
    connections: [],
    send: (message) => void slack.connections.at(-1)?.write(frame(TEXT, JSON.stringify(message))),
    cut() {
      for (const socket of slack.connections) socket.destroy();
    },
    async close() {
      slack.cut();
      await close();
    },
  };
  return slack;
}

/** A frame from the server: RFC 6455, section 5.2. */
function frame(opcode: number, text: string): Buffer {
  const body = Buffer.from(text);
  if (body.length < 126) return Buffer.concat([Buffer.from([0x80 | opcode, body.length]), body]);
  const head = Buffer.from([0x80 | opcode, 126, 0, 0]);
  head.writeUInt16BE(body.length, 2);
  return Buffer.concat([head, body]);
}

/** The first frame from a client, if it is complete. */
function readFrame(bytes: Buffer): { opcode: number; text: string; rest: Buffer } | undefined {
  if (bytes.length < 2) return undefined;
  const short = (bytes[1] ?? 0) & 0x7f;
  const start = short === 126 ? 4 : 2;
  if (bytes.length < start + 4) return undefined;
  const length = short === 126 ? bytes.readUInt16BE(2) : short;
  const [mask, end] = [bytes.subarray(start, start + 4), start + 4 + length];
  if (bytes.length < end) return undefined;
  const body = bytes.subarray(start + 4, end).map((byte, index) => byte ^ (mask[index % 4] ?? 0));
  return { opcode: (bytes[0] ?? 0) & 0x0f, text: Buffer.from(body).toString(), rest: bytes.subarray(end) };
}
