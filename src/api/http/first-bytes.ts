// Which HTTP a plain connection speaks, told by its first bytes, so that both
// versions are served on one port.
//
// HTTP/2 without TLS begins with a fixed preface (RFC 9113, 3.4), and no method
// of HTTP/1 begins as it does. The bytes go back into the connection before it
// is handed on. Whoever stays silent for too long is cut off.
import type { Socket } from 'node:net';
import type { Time } from '../../time.js';

export type HttpVersion = 'http/1' | 'http/2';

const PREFACE = Buffer.of(0x50, 0x52, 0x49); // PRI

export interface FirstBytesOptions {
  /** Milliseconds until the version is known. */
  readonly limitMs: number;
  readonly time: Time;
  /** Takes the connection over, paused and with all its bytes. */
  readonly decided: (socket: Socket, version: HttpVersion) => void;
}

export class FirstBytes {
  readonly #options: FirstBytesOptions;
  readonly #undecided = new Set<Socket>();

  constructor(options: FirstBytesOptions) {
    this.#options = options;
  }

  /** Connections of which it is not known yet. */
  get waiting(): number {
    return this.#undecided.size;
  }

  take(socket: Socket): void {
    const { limitMs, time, decided } = this.#options;
    let seen: Buffer = Buffer.alloc(0);
    const drop = () => socket.destroy();
    const keep = time.after(limitMs, drop);
    const letGo = () => {
      keep();
      this.#undecided.delete(socket);
      socket.off('data', look).off('end', drop).off('error', drop).off('close', letGo);
    };
    const look = (chunk: Buffer) => {
      seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
      const version = versionOf(seen);
      if (version === undefined) return;
      letGo();
      socket.pause();
      socket.unshift(seen);
      decided(socket, version);
    };
    this.#undecided.add(socket);
    socket.on('data', look).on('end', drop).on('error', drop).on('close', letGo);
  }

  /** Cuts off whoever has not said enough. */
  close(): void {
    for (const socket of this.#undecided) socket.destroy();
  }
}

function versionOf(bytes: Buffer): HttpVersion | undefined {
  const seen = Math.min(bytes.length, PREFACE.length);
  if (PREFACE.compare(bytes, 0, seen, 0, seen) !== 0) return 'http/1';
  return seen === PREFACE.length ? 'http/2' : undefined;
}
