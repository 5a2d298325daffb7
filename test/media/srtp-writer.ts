// The sending side of SRTP, written for tests from RFC 3711 and RFC 7714 with node:crypto.
import { createCipheriv, createHmac } from 'node:crypto';
import type { SrtpKeys } from '../../src/media/media-addon.js';

const HEADER_BYTES = 12;
const HMAC_TAG_BYTES = 10;
const LABELS = { encryption: 0, authentication: 1, salt: 2 } as const;

export class SrtpWriter {
  readonly #isGcm: boolean;
  readonly #key: Buffer;
  readonly #salt: Buffer;
  readonly #authentication: Buffer;
  readonly #keys: SrtpKeys;
  #rollovers = 0;
  #lastSequence: number | undefined;

  constructor(keys: SrtpKeys) {
    this.#keys = keys;
    this.#isGcm = keys.profile === 'AEAD_AES_128_GCM';
    this.#key = this.#derive(LABELS.encryption, 16);
    this.#salt = this.#derive(LABELS.salt, this.#isGcm ? 12 : 14);
    this.#authentication = this.#derive(LABELS.authentication, 20);
  }

  /** The encrypted packet. Its header has no extension, and packets come in their order. */
  rtp(packet: Buffer): Buffer {
    const sequence = packet.readUInt16BE(2);
    if (this.#lastSequence !== undefined && sequence < this.#lastSequence) this.#rollovers++;
    this.#lastSequence = sequence;
    const [header, body] = [packet.subarray(0, HEADER_BYTES), packet.subarray(HEADER_BYTES)];
    const iv = Buffer.alloc(this.#isGcm ? 12 : 16);
    this.#salt.copy(iv);
    xor(iv, packet.subarray(8, 12), this.#isGcm ? 2 : 4);
    xor(iv, this.#index(sequence), this.#isGcm ? 6 : 8);
    if (this.#isGcm) return this.#sealed(header, body, iv);
    const cipher = createCipheriv('aes-128-ctr', this.#key, iv);
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.#rollovers);
    const encrypted = Buffer.concat([header, cipher.update(body)]);
    const tag = createHmac('sha1', this.#authentication).update(encrypted).update(counter).digest();
    return Buffer.concat([encrypted, tag.subarray(0, HMAC_TAG_BYTES)]);
  }

  #sealed(header: Buffer, body: Buffer, iv: Buffer): Buffer {
    const cipher = createCipheriv('aes-128-gcm', this.#key, iv);
    cipher.setAAD(header);
    const sealed = [header, cipher.update(body), cipher.final()];
    return Buffer.concat([...sealed, cipher.getAuthTag()]);
  }

  /** The roll-over counter and the sequence number (RFC 3711, section 3.3.1), 48 bits. */
  #index(sequence: number): Buffer {
    const index = Buffer.alloc(6);
    index.writeUInt32BE(this.#rollovers);
    index.writeUInt16BE(sequence, 4);
    return index;
  }

  /** RFC 3711, 4.3.1: the label goes into byte 7 of the salt. */
  #derive(label: number, bytes: number): Buffer {
    const iv = Buffer.alloc(16);
    iv.set(this.#keys.salt);
    iv[7] = (iv[7] ?? 0) ^ label;
    return createCipheriv('aes-128-ctr', this.#keys.key, iv).update(Buffer.alloc(bytes));
  }
}

function xor(into: Buffer, value: Uint8Array, at: number): void {
  value.forEach((byte, i) => (into[at + i] = (into[at + i] ?? 0) ^ byte));
}
