// From where a request comes: an address, or this machine's Unix socket, whose
// connections have none.
import type { Socket } from 'node:net';

/** Stands for the address of whoever came in by the Unix socket. */
export const UNIX = 'unix';

const CAME_BY_UNIX = Symbol('came by the Unix socket');

interface Marked {
  [CAME_BY_UNIX]?: true;
}

export function markUnix(socket: Socket): void {
  (socket as Marked)[CAME_BY_UNIX] = true;
}

/** Undefined for one that has left meanwhile. */
export function addressOf(socket: Socket): string | undefined {
  try {
    return (socket as Marked)[CAME_BY_UNIX] === true ? UNIX : socket.remoteAddress;
  } catch {
    return undefined; // HTTP/2 lends its socket, and throws when the session is over
  }
}
