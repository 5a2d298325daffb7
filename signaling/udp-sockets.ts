// The UDP sockets of calls, bound the way a server needs it.
//
// werift 0.24.4 looks for a free port by binding and closing a socket, then
// binds another one to it: two calls that begin together find the same port, and
// the loser's error has no listener, which ends the process.
import type { Socket } from 'node:dgram';
import { UdpTransport } from 'werift';
import { ParleyError } from '../src/errors.js';
import { members, method } from './werift-internals.js';

const MAX_TRIES = 1000; // ports of a range that are tried for one socket

let mended = false;

/** From now on werift binds its sockets through `bindUdp`. `random` is uniform in [0, 1). */
export function mendUdpSockets(random: () => number): void {
  if (mended) return;
  mended = true;
  const prototype = members(UdpTransport.prototype, 'UdpTransport');
  method(prototype, 'init', 'UdpTransport');
  prototype['init'] = async function (this: BindingTransport) {
    try {
      await bindUdp(this.socket, this.options?.portRange, random);
    } catch (error) {
      this.socket.close();
      throw error;
    }
  };
}

interface BindingTransport {
  readonly socket: Socket;
  readonly options?: { readonly portRange?: readonly [number, number] | undefined };
}

/**
 * Binds to a free port of the range, or to any. What goes wrong later, a datagram that the system refuses for
 * one, is a loss like any other. Rejects with CALL_LIMIT when no port of the range is free.
 */
export async function bindUdp(
  socket: Socket,
  range: readonly [number, number] | undefined,
  random: () => number,
): Promise<void> {
  socket.on('error', () => undefined);
  if (range === undefined) {
    const error = await tryToBind(socket, 0);
    if (error !== undefined) throw error;
    return;
  }
  const [first, last] = range;
  const count = last - first + 1;
  // Calls that begin together begin at different ports.
  const start = Math.floor(random() * count);
  for (let tried = 0; tried < Math.min(count, MAX_TRIES); tried++) {
    const error = await tryToBind(socket, first + ((start + tried) % count));
    if (error === undefined) return;
    if (error.code !== 'EADDRINUSE') throw error;
  }
  throw new ParleyError('CALL_LIMIT', `no UDP port from ${first} to ${last} is free`, {
    retryAfterSeconds: 5,
  });
}

function tryToBind(socket: Socket, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const failed = (error: NodeJS.ErrnoException) => {
      socket.off('listening', bound);
      resolve(error);
    };
    const bound = () => {
      socket.off('error', failed);
      resolve(undefined);
    };
    socket.once('error', failed);
    socket.once('listening', bound);
    socket.bind(port);
  });
}
