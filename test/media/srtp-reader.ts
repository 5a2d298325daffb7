// The receiving side of SRTP, written for tests from RFC 3711 and RFC 7714 with
// node:crypto: it proves under which index each packet was encrypted.
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import type { SrtpKeys } from '../../src/media/media-addon.js';

const HEADER_BYTES = 12;
const RTCP_HEADER_BYTES = 8;
const HMAC_TAG_BYTES = 10;
const GCM_TAG_BYTES = 16;

export class SrtpReader {
  readonly #gcm: boolean;
  readonly #keys: SrtpKeys;

  constructor(keys: SrtpKeys) {
    this.#keys = keys;
    this.#gcm = keys.profile === 'AEAD_AES_128_GCM';
  }

  /** The plain packet. Throws unless it was protected with this roll-over counter. */
  rtp(packet: Uint8Array, rolloverCounter: number): Uint8Array {
    const header = packet.subarray(0, HEADER_BYTES);
    const index =
      BigInt(rolloverCounter) * 65_536n + BigInt(new DataView(packet.buffer, packet.byteOffset).getUint16(2));
    const ssrc = packet.subarray(8, 12);
    if (this.#gcm) {
      const body = packet.subarray(HEADER_BYTES);
      return join(header, this.#openGcm(body, header, this.#gcmIv(ssrc, index, 2), 0));
    }
    const signed = packet.subarray(0, -HMAC_TAG_BYTES);
    const counter = new Uint8Array(4);
    new DataView(counter.buffer).setUint32(0, rolloverCounter);
    this.#verify(join(signed, counter), packet.subarray(-HMAC_TAG_BYTES), 1);
    return join(header, this.#counterMode(signed.subarray(HEADER_BYTES), ssrc, index, 0));
  }

  /** The plain compound and the SRTCP index it was protected with. Throws when it is not genuine. */
  rtcp(packet: Uint8Array): { plain: Uint8Array; index: number } {
    const header = packet.subarray(0, RTCP_HEADER_BYTES);
    const ssrc = packet.subarray(4, 8);
    const wordAt = packet.length - 4 - (this.#gcm ? 0 : HMAC_TAG_BYTES);
    const word = packet.subarray(wordAt, wordAt + 4);
    const flagged = new DataView(word.buffer, word.byteOffset).getUint32(0);
    if (flagged < 0x8000_0000) throw new Error('the E bit is not set');
    const index = flagged - 0x8000_0000;
    const body = packet.subarray(RTCP_HEADER_BYTES, wordAt);
    if (this.#gcm) {
      const plain = this.#openGcm(body, join(header, word), this.#gcmIv(ssrc, BigInt(index), 2), 3);
      return { plain: join(header, plain), index };
    }
    this.#verify(packet.subarray(0, wordAt + 4), packet.subarray(-HMAC_TAG_BYTES), 4);
    return { plain: join(header, this.#counterMode(body, ssrc, BigInt(index), 3)), index };
  }

  /** RFC 3711, 4.3.1: the label goes into byte 7 of the salt. */
  #derive(label: number, bytes: number): Uint8Array {
    const iv = new Uint8Array(16);
    iv.set(this.#keys.salt);
    iv[7] = (iv[7] ?? 0) ^ label;
    return createCipheriv('aes-128-ctr', this.#keys.key, iv).update(new Uint8Array(bytes));
  }

  #verify(signed: Uint8Array, tag: Uint8Array, label: number): void {
    const wanted = createHmac('sha1', this.#derive(label, 20)).update(signed).digest();
    if (!wanted.subarray(0, HMAC_TAG_BYTES).equals(tag)) throw new Error('the tag does not fit the packet');
  }

  /** RFC 3711, 4.1.1: IV = (salt << 16) ^ (ssrc << 64) ^ (index << 16). */
  #counterMode(body: Uint8Array, ssrc: Uint8Array, index: bigint, label: number): Uint8Array {
    const iv = new Uint8Array(16);
    iv.set(this.#derive(label + 2, 14));
    xor(iv, ssrc, 4);
    xor(iv, bigEndian(index), 8);
    return createDecipheriv('aes-128-ctr', this.#derive(label, 16), iv).update(body);
  }

  /** RFC 7714, 8.1 and 9.1: IV = salt ^ (two zero bytes, ssrc, 48 bits of index). */
  #gcmIv(ssrc: Uint8Array, index: bigint, ssrcAt: number): Uint8Array {
    const iv = new Uint8Array(12);
    xor(iv, ssrc, ssrcAt);
    xor(iv, bigEndian(index), 6);
    return iv;
  }

  #openGcm(body: Uint8Array, associated: Uint8Array, iv: Uint8Array, label: number): Uint8Array {
    xor(iv, this.#derive(label + 2, 12), 0);
    const open = createDecipheriv('aes-128-gcm', this.#derive(label, 16), iv);
    open.setAAD(associated);
    open.setAuthTag(body.subarray(-GCM_TAG_BYTES));
    return join(open.update(body.subarray(0, -GCM_TAG_BYTES)), open.final());
  }
}

function bigEndian(index: bigint): Uint8Array {
  return Uint8Array.from({ length: 6 }, (_, i) => Number((index >> BigInt(8 * (5 - i))) & 255n));
}

function xor(into: Uint8Array, value: Uint8Array, at: number): void {
  value.forEach((byte, i) => (into[at + i] = (into[at + i] ?? 0) ^ byte));
}

function join(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts));
}
