// The messages of Asterisk's AudioSocket: a byte for the kind, two for the length of the payload (big-endian)
// and the payload. Sound is signed 16-bit samples, the least significant byte first.
//
// https://docs.asterisk.org/Configuration/Channel-Drivers/AudioSocket/
export const KIND = { hangUp: 0x00, uuid: 0x01, key: 0x03, slin8: 0x10, slin24: 0x13, error: 0xff } as const;

export interface AudioSocketMessage {
  readonly kind: number;
  readonly payload: Buffer;
}

/** Sound of 8 to 192 kHz. */
const SOUND_KINDS = { first: 0x10, last: 0x18 } as const;
const HEAD_BYTES = 3;
const UUID_BYTES = 16;
const GROUPS = [8, 12, 16, 20]; // hexadecimal digits before each hyphen

/** Cuts the bytes of a connection into messages. It keeps less than one message, of at most 64 KiB. */
export class AudioSocketReader {
  #rest = Buffer.alloc(0);

  /** The messages that are complete with these bytes. They may share memory with them. */
  push(bytes: Buffer): AudioSocketMessage[] {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const messages: AudioSocketMessage[] = [];
    let at = 0;
    while (all.length - at >= HEAD_BYTES) {
      const end = at + HEAD_BYTES + all.readUInt16BE(at + 1);
      if (end > all.length) break;
      messages.push({ kind: all.readUInt8(at), payload: all.subarray(at + HEAD_BYTES, end) });
      at = end;
    }
    this.#rest = Buffer.from(all.subarray(at));
    return messages;
  }
}

export function isSound(kind: number): boolean {
  return kind >= SOUND_KINDS.first && kind <= SOUND_KINDS.last;
}

export function messageOf(kind: number, payload: Uint8Array = new Uint8Array(0)): Buffer {
  const message = Buffer.alloc(HEAD_BYTES + payload.length);
  message.writeUInt8(kind, 0);
  message.writeUInt16BE(payload.length, 1);
  message.set(payload, HEAD_BYTES);
  return message;
}

/** In the usual form with hyphens; undefined if it is none. */
export function uuidOf({ kind, payload }: AudioSocketMessage): string | undefined {
  if (kind !== KIND.uuid || payload.length !== UUID_BYTES) return undefined;
  const digits = payload.toString('hex');
  return GROUPS.map((end, n) => digits.slice(GROUPS[n - 1] ?? 0, end))
    .concat(digits.slice(GROUPS.at(-1)))
    .join('-');
}
