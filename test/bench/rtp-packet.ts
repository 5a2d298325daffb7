// The packets of the JavaScript sender: RTP protected by AES_CM_128_HMAC_SHA1_80
// (RFC 3711) with node:crypto, byte for byte what the native plane sends.
import { createCipheriv, createHmac } from 'node:crypto';

interface StreamKeys {
  readonly key: Buffer; // master key, 16 bytes
  readonly salt: Buffer; // master salt, 14 bytes
}

export interface RtpHeader {
  readonly marker: boolean;
  readonly payloadType: number;
  readonly sequence: number;
  readonly timestamp: number;
  readonly ssrc: number;
}

const HEADER_BYTES = 12;
const TAG_BYTES = 10;

export class SrtpPacketWriter {
  readonly #cipherKey: Buffer;
  readonly #authKey: Buffer;
  readonly #cipherSalt: Buffer;

  constructor({ key, salt }: StreamKeys) {
    // Key derivation with labels 0, 1 and 2 (RFC 3711 section 4.3.1).
    this.#cipherKey = derive(key, salt, 0, 16);
    this.#authKey = derive(key, salt, 1, 20);
    this.#cipherSalt = derive(key, salt, 2, 14);
  }

  /** `index` counts all packets of the stream: rollover counter and sequence number. */
  write(header: RtpHeader, payload: Buffer, index: number): Buffer {
    const head = Buffer.allocUnsafe(HEADER_BYTES);
    head[0] = 0x80;
    head[1] = (header.marker ? 0x80 : 0) | header.payloadType;
    head.writeUInt16BE(header.sequence, 2);
    head.writeUInt32BE(header.timestamp, 4);
    head.writeUInt32BE(header.ssrc, 8);
    const cipher = createCipheriv('aes-128-ctr', this.#cipherKey, this.#counter(header.ssrc, index));
    const body = cipher.update(payload);
    const rollover = Buffer.allocUnsafe(4);
    rollover.writeUInt32BE(Math.floor(index / 0x10000));
    const tag = createHmac('sha1', this.#authKey).update(head).update(body).update(rollover).digest();
    return Buffer.concat([head, body, tag.subarray(0, TAG_BYTES)]);
  }

  /** The initial counter: salt, SSRC and index shifted to their places (RFC 3711 section 4.1.1). */
  #counter(ssrc: number, index: number): Buffer {
    const counter = Buffer.alloc(16);
    this.#cipherSalt.copy(counter);
    counter.writeUInt32BE((counter.readUInt32BE(4) ^ ssrc) >>> 0, 4);
    const place = Buffer.alloc(6);
    place.writeUIntBE(index, 0, 6);
    for (let at = 0; at < 6; at++) counter[8 + at] = (counter[8 + at] ?? 0) ^ (place[at] ?? 0);
    return counter;
  }
}

function derive(key: Buffer, salt: Buffer, label: number, bytes: number): Buffer {
  const counter = Buffer.alloc(16);
  salt.copy(counter);
  counter[7] = (counter[7] ?? 0) ^ label;
  return createCipheriv('aes-128-ctr', key, counter).update(Buffer.alloc(bytes));
}
