// An upgrade to something else than a WebSocket may be passed over (RFC 9110,
// section 7.8), and must be: Java's HTTP client and `curl --http2` offer h2c on
// ordinary requests, with bodies. Node hands every upgrade over as soon as
// anybody wants one of them, so such a request is given back without the offer.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { Server as TlsServer } from 'node:tls';

const OFFER = new Set(['upgrade', 'http2-settings']);

/** The part of a server that takes connections. */
export interface ConnectionTaker {
  emit(event: 'connection' | 'secureConnection', socket: Duplex): boolean;
}

export function isWebSocketUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/** Has the server read the connection once more, from the same request on, as if nothing had been offered. */
export function serveWithoutUpgrade(
  server: ConnectionTaker,
  request: IncomingMessage,
  socket: Duplex,
  rest: Buffer,
): void {
  socket.unshift(Buffer.concat([Buffer.from(headOf(request), 'latin1'), rest]));
  server.emit(server instanceof TlsServer ? 'secureConnection' : 'connection', socket);
}

function headOf({ method, url, httpVersion, rawHeaders }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const value = rawHeaders[index + 1] ?? '';
    if (OFFER.has(name.toLowerCase())) continue;
    if (name.toLowerCase() !== 'connection') lines.push(`${name}: ${value}`);
    else lines.push(`${name}: ${withoutOffer(value)}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function withoutOffer(connection: string): string {
  const options = connection.split(',').map((option) => option.trim());
  return options.filter((option) => !OFFER.has(option.toLowerCase())).join(', ') || 'keep-alive';
}
