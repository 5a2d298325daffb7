// An Asterisk for tests: the far end of an AudioSocket, over TCP on loopback.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { until } from '../../fakes/until.js';

export const UUID = '40325ec2-5efd-4bd3-805f-53576e581d13';
const UUID_BYTES = Buffer.from(UUID.replaceAll('-', ''), 'hex');

interface Received {
  readonly kind: number;
  readonly payload: Buffer;
}

export function message(kind: number, payload: Uint8Array = new Uint8Array(0)): Buffer {
  const head = Buffer.from([kind, payload.length >> 8, payload.length & 0xff]);
  return Buffer.concat([head, payload]);
}

export const uuidMessage = (): Buffer => message(0x01, UUID_BYTES);

export class FarEnd {
  /** The messages that came, whole ones. */
  readonly received: Received[] = [];
  isClosed = false;
  readonly #socket: Socket;
  #rest = Buffer.alloc(0);

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (bytes) => this.#take(bytes));
    socket.on('error', () => undefined);
    socket.on('close', () => (this.isClosed = true));
  }

  /** Connects, and says nothing. */
  static async connect(t: TestContext, port: number): Promise<FarEnd> {
    const socket = connect({ port, host: '127.0.0.1' });
    const farEnd = new FarEnd(socket);
    t.after(() => socket.destroy());
    await once(socket, 'connect');
    return farEnd;
  }

  /** Connects, and sends the UUID and 20 ms of silence at 8 kHz. */
  static async call(t: TestContext, port: number): Promise<FarEnd> {
    const farEnd = await FarEnd.connect(t, port);
    farEnd.write(Buffer.concat([uuidMessage(), message(0x10, new Uint8Array(320))]));
    return farEnd;
  }

  write(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  send(kind: number, payload?: Uint8Array): void {
    this.write(message(kind, payload));
  }

  /** Sends nothing more, and reads on. */
  end(): void {
    this.#socket.end();
  }

  /** Breaks the connection. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  /** Reads nothing more. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** The messages of sound of this kind. */
  sounds(kind = 0x10): Buffer[] {
    return this.received.filter((one) => one.kind === kind).map(({ payload }) => payload);
  }

  /** Resolves when the server has ended the call with a message, and the connection with it. */
  async hungUp(): Promise<void> {
    await until(() => this.isClosed);
    const last = this.received.at(-1);
    if (last?.kind !== 0 || last.payload.length > 0) throw new Error('the call was not ended by a message');
  }

  #take(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    while (this.#rest.length >= 3 && this.#rest.length >= 3 + this.#rest.readUInt16BE(1)) {
      const end = 3 + this.#rest.readUInt16BE(1);
      this.received.push({ kind: this.#rest[0] ?? 0, payload: this.#rest.subarray(3, end) });
      this.#rest = this.#rest.subarray(end);
    }
  }
}
