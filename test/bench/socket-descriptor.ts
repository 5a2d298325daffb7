// Reaches behind a UDP socket of Node: its descriptor, and the end of its reading.
import type { Socket } from 'node:dgram';

interface UdpHandle {
  readonly fd?: number;
  recvStop?(): unknown;
}

export function descriptorOf(socket: Socket): number {
  const fd = handleOf(socket)?.fd;
  if (fd === undefined || fd < 0) throw new Error('the socket has no descriptor');
  return fd;
}

/** Node reads nothing from it any more. The kernel drops packets once its buffer is full. */
export function stopReading(socket: Socket): void {
  const handle = handleOf(socket);
  if (handle?.recvStop === undefined) throw new Error('the socket has no reading that can be stopped');
  handle.recvStop();
}

/** Node keeps the handle of a socket behind a symbol; there is no public way to it. */
function handleOf(socket: Socket): UdpHandle | undefined {
  const symbol = Object.getOwnPropertySymbols(socket).find(
    ({ description }) => description === 'state symbol',
  );
  const state: unknown = symbol === undefined ? undefined : Reflect.get(socket, symbol);
  return (state as { handle?: UdpHandle } | undefined)?.handle;
}
