// The messages of Asterisk's AudioSocket, which cross a TCP connection one behind the other:
//
//   kind (1 byte)  length of the payload (2 bytes, big endian)  payload
//
//   00 hang up   01 UUID of the call   03 key   10 to 18 sound   ff error
//
// Sound has 16 bits a sample, little endian, one channel. Its kind states its rate. Asterisk before 21.12
// sends kind 10 for every rate and every codec, so its dialplan has to ask for `slin`.
//
// https://docs.asterisk.org/Configuration/Channel-Drivers/AudioSocket/
import { ParleyError } from '../../errors.js';

const HANG_UP = 0x00;
const UUID = 0x01;
const SILENCE = 0x02; // without a payload: the sound pauses
const KEY = 0x03;
const FIRST_SOUND = 0x10;
const FAILED = 0xff;

/** Samples in a second, by the kind less 0x10. */
const RATES = [8000, 12_000, 16_000, 24_000, 32_000, 44_100, 48_000, 96_000, 192_000] as const;

const HEADER_BYTES = 3;
const UUID_BYTES = 16;
const SAMPLE_BYTES = 2;
const DIGITS = /^[0-9*#A-D]$/;

/** The messages of the far end, in their order. */
export interface MessageListener {
  /** In the form of RFC 9562, in lower case. */
  uuid(uuid: string): void;
  /** The samples are valid during the call. */
  sound(rate: number, samples: Uint8Array): void;
  /** 0-9, *, #, A-D. */
  key(key: string): void;
  hangUp(): void;
  /** Undefined: an error without a code. */
  failed(code: number | undefined): void;
  /** A message that this server has no use for. */
  unknown(kind: number): void;
}

/** Reads a stream of messages, however it is cut. */
export class MessageReader {
  readonly #header = new Uint8Array(HEADER_BYTES);
  #headerBytes = 0;
  /** The payload of a message that came in parts; undefined between messages. */
  #payload: Uint8Array | undefined;
  #payloadBytes = 0;

  /** True if the stream has ended in the middle of a message, if it ends here. */
  get isInside(): boolean {
    return this.#headerBytes > 0;
  }

  /** Throws MALFORMED and TOO_LARGE. The stream can then be read no further. */
  read(bytes: Uint8Array, listener: MessageListener): void {
    for (let at = 0; at < bytes.length;) {
      if (this.#headerBytes < HEADER_BYTES) {
        this.#header[this.#headerBytes++] = bytes[at++] as number;
        if (this.#headerBytes < HEADER_BYTES) continue;
        checkLength(this.#kind, this.#length);
        if (this.#length === 0) this.#tell(new Uint8Array(0), listener);
        continue;
      }
      at += this.#readPayload(bytes.subarray(at), listener);
    }
  }

  /** The number of bytes that it took. */
  #readPayload(bytes: Uint8Array, listener: MessageListener): number {
    const length = this.#length;
    if (this.#payload === undefined && bytes.length >= length) {
      this.#tell(bytes.subarray(0, length), listener);
      return length;
    }
    this.#payload ??= new Uint8Array(length);
    const part = bytes.subarray(0, length - this.#payloadBytes);
    this.#payload.set(part, this.#payloadBytes);
    this.#payloadBytes += part.length;
    if (this.#payloadBytes === length) this.#tell(this.#payload, listener);
    return part.length;
  }

  get #kind(): number {
    return this.#header[0] as number;
  }

  get #length(): number {
    return ((this.#header[1] as number) << 8) | (this.#header[2] as number);
  }

  #tell(payload: Uint8Array, listener: MessageListener): void {
    const kind = this.#kind;
    this.#headerBytes = 0;
    this.#payload = undefined;
    this.#payloadBytes = 0;
    const rate = rateOf(kind);
    if (rate !== undefined) return listener.sound(rate, payload);
    switch (kind) {
      case HANG_UP:
        return listener.hangUp();
      case UUID:
        return listener.uuid(uuidOf(payload));
      case SILENCE:
        return;
      case KEY: {
        const key = String.fromCharCode(payload[0] as number).toUpperCase();
        return DIGITS.test(key) ? listener.key(key) : listener.unknown(kind);
      }
      case FAILED:
        return listener.failed(payload[0]);
      default:
        return listener.unknown(kind);
    }
  }
}

function rateOf(kind: number): number | undefined {
  return RATES[kind - FIRST_SOUND];
}

function checkLength(kind: number, length: number): void {
  const rate = rateOf(kind);
  if (rate !== undefined && length > rate * SAMPLE_BYTES)
    throw new ParleyError('TOO_LARGE', `a message of ${length} bytes has more than a second of sound`);
  if (rate !== undefined && length % SAMPLE_BYTES !== 0)
    throw new ParleyError('MALFORMED', `a message of ${length} bytes has no whole samples of 16 bits`);
  if (kind === UUID && length !== UUID_BYTES)
    throw new ParleyError('MALFORMED', `a UUID has ${UUID_BYTES} bytes, not ${length}`);
  if (kind === KEY && length !== 1) throw new ParleyError('MALFORMED', `a key has one byte, not ${length}`);
}

function uuidOf(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** The message that ends a call. */
export function hangUpMessage(): Buffer {
  return Buffer.from([HANG_UP, 0, 0]);
}

/** A message of so many samples, which are still to be written from `SOUND_AT` on. */
export function soundMessage(rate: number, samples: number): Buffer {
  const bytes = samples * SAMPLE_BYTES;
  const message = Buffer.allocUnsafe(HEADER_BYTES + bytes);
  message[0] = FIRST_SOUND + (RATES as readonly number[]).indexOf(rate);
  message.writeUInt16BE(bytes, 1);
  return message;
}

export const SOUND_AT = HEADER_BYTES;
