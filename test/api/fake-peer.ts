// The other end of a socket, as a dialect sees it, with everything it was sent.
import type { Peer } from '../../src/api/http/socket-dialect.js';

interface ServerMessage {
  readonly audio?: string | null;
  readonly isFinal?: boolean | null;
  readonly contextId?: string;
  readonly alignment?: Times | null;
  readonly normalizedAlignment?: Times | null;
  readonly message?: string;
  readonly error?: string;
  readonly code?: number;
}

interface Times {
  readonly chars: string[];
  readonly charStartTimesMs: number[];
  readonly charDurationsMs: number[];
}

export class FakePeer implements Peer {
  readonly messages: ServerMessage[] = [];
  readonly unreadBytes = 0;
  closedWith: readonly [code: number, reason: string] | undefined;
  #full: Promise<void> | undefined;
  #makeRoom: () => void = () => undefined;

  send(message: string | Uint8Array): void {
    if (typeof message !== 'string') throw new TypeError('ElevenLabs sends text');
    if (this.closedWith === undefined) this.messages.push(JSON.parse(message) as ServerMessage);
  }

  drained(): Promise<void> {
    return this.#full ?? Promise.resolve();
  }

  close(code: number, reason: string): void {
    this.closedWith ??= [code, reason];
  }

  /** From now on it reads nothing. */
  stall(): void {
    this.#full = new Promise((resolve) => (this.#makeRoom = resolve));
  }

  read(): void {
    this.#full = undefined;
    this.#makeRoom();
  }

  /** Messages of sound. */
  sounds(contextId?: string): ServerMessage[] {
    return this.messages.filter(
      (message) => typeof message.audio === 'string' && message.contextId === contextId,
    );
  }

  /** The text spoken so far, joined from the characters of the alignments. */
  heard(contextId?: string): string {
    return this.sounds(contextId)
      .flatMap(({ alignment }) => alignment?.chars ?? [])
      .join('');
  }

  /** Bytes of sound so far. */
  bytes(contextId?: string): number {
    return Buffer.concat(this.sounds(contextId).map(({ audio }) => Buffer.from(audio ?? '', 'base64')))
      .length;
  }

  isFinal(contextId?: string): boolean {
    return this.messages.some((message) => message.isFinal === true && message.contextId === contextId);
  }
}
