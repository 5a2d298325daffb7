// An HTTP/2 client, and connections that send only what the test specifies.
import http2 from 'node:http2';
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

interface Answer {
  readonly headers: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader;
  readonly body: string;
}

export function openSession(
  t: TestContext,
  url: string,
  options: http2.ClientSessionOptions | http2.SecureClientSessionOptions = {},
): http2.ClientHttp2Session {
  const session = http2.connect(url, options);
  session.on('error', () => undefined); // the streams report it
  t.after(() => session.destroy());
  return session;
}

/** Rejects when the stream does not end as it should. */
export async function ask(
  session: http2.ClientHttp2Session,
  headers: http2.OutgoingHttpHeaders,
  body?: string,
): Promise<Answer> {
  const stream = session.request(headers, { endStream: body === undefined });
  const head = new Promise<Answer['headers']>((resolve) => stream.once('response', resolve));
  if (body !== undefined) stream.end(body);
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return { headers: await head, body: text };
}

export function askSpeech(
  session: http2.ClientHttp2Session,
  fields: Record<string, unknown>,
): http2.ClientHttp2Stream {
  const headers = { ':method': 'POST', ':path': '/v1/audio/speech', 'content-type': 'application/json' };
  const stream = session.request(headers);
  stream.end(JSON.stringify(fields));
  return stream;
}

/** The error code of a stream that broke. */
export function errorCodeOf(stream: http2.ClientHttp2Stream): Promise<number> {
  return new Promise((resolve) => {
    stream.on('error', () => undefined);
    stream.once('close', () => resolve(stream.rstCode ?? 0));
  });
}

/** A frame of HTTP/2 (RFC 9113, section 4.1). */
export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Preface and empty settings of a client. */
export const GREETING = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0)]);

/** Fields without compression (RFC 7541, section 6.2.2). */
export function fields(...list: (readonly [name: string, value: string])[]): Buffer {
  const text = (value: string) => [Buffer.of(value.length), Buffer.from(value)];
  return Buffer.concat(list.flatMap(([name, value]) => [Buffer.of(0), ...text(name), ...text(value)]));
}

/** Error codes of the GOAWAY frames in what a server sent. */
export function goAways(received: Buffer): number[] {
  const codes: number[] = [];
  for (let at = 0; at + 9 <= received.length; at += 9 + received.readUIntBE(at, 3))
    if (received[at + 3] === 7) codes.push(received.readUInt32BE(at + 13));
  return codes;
}

/** A connection of its own, and everything that comes back until it ends. */
export function wire(
  t: TestContext,
  where: string | NetConnectOpts,
): { socket: Socket; received: Promise<string> } {
  const socket =
    typeof where === 'string' ? connect(Number(new URL(where).port), '127.0.0.1') : connect(where);
  t.after(() => socket.destroy());
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  socket.on('error', () => undefined);
  return { socket, received: new Promise((resolve) => socket.once('close', () => resolve(text))) };
}
