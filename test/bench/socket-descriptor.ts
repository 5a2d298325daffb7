import type { Socket } from 'node:dgram';

/** Node keeps the descriptor of a socket behind a symbol; there is no public way to it. */
export function descriptorOf(socket: Socket): number {
  const symbol = Object.getOwnPropertySymbols(socket).find(
    ({ description }) => description === 'state symbol',
  );
  const state: unknown = symbol === undefined ? undefined : Reflect.get(socket, symbol);
  const fd = (state as { handle?: { fd?: number } } | undefined)?.handle?.fd;
  if (fd === undefined || fd < 0) throw new Error('the socket has no descriptor');
  return fd;
}
