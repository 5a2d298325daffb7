// What an upgrade is answered with when it becomes no WebSocket: an ordinary
// answer of HTTP/1.1, after which the connection ends.
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorBody, errorReply, type ErrorReply } from './error-reply.js';

/** For an upgrade to something else, or none, where a WebSocket lives. */
export const UPGRADE_REQUIRED: ErrorReply = {
  status: 426,
  headers: { upgrade: 'websocket', 'sec-websocket-version': '13' },
  body: errorBody(426, 'upgrade_required', 'this URL speaks WebSocket, version 13'),
};

export const GET_ONLY: ErrorReply = {
  status: 405,
  headers: { allow: 'GET' },
  body: errorBody(405, 'method_not_allowed', 'a WebSocket is asked for with GET'),
};

/** A refusal that is known as an answer already. */
export class UpgradeRefused extends Error {
  readonly reply: ErrorReply;

  constructor(reply: ErrorReply) {
    super(reply.body.error.message);
    this.reply = reply;
  }
}

/** Answers on the bare connection and ends it; returns the status. */
export function refuseUpgrade(socket: Duplex, error: unknown, requestId: string): number {
  const { status, headers, body } =
    error instanceof UpgradeRefused ? error.reply : errorReply(error, requestId);
  const text = JSON.stringify(body);
  const head = Object.entries({
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    'x-request-id': requestId,
    connection: 'upgrade' in headers ? 'upgrade, close' : 'close',
  }).map(([name, value]) => `${name}: ${value}`);
  // Who is refused may be gone, which is no concern of anybody.
  socket.on('error', () => socket.destroy());
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${head.join('\r\n')}\r\n\r\n${text}`);
  return status;
}
