// The other side of a call, packet by packet: what a telephone sends.
import type { MediaSocket } from '../../src/media/media-socket.js';

export const FAR = { address: '192.0.2.7', port: 4000 } as const;
export const STRANGER = { address: '198.51.100.9', port: 4000 } as const;

interface Outgoing {
  readonly payloadType?: number;
  readonly sequence: number;
  readonly timestamp: number;
  readonly ssrc?: number;
  readonly marker?: boolean;
  readonly payload?: Uint8Array;
}

export function rtp(packet: Outgoing): Uint8Array {
  const { payloadType = 0, sequence, timestamp, ssrc = 0x0a0b0c0d, marker = false } = packet;
  const payload = packet.payload ?? new Uint8Array(160).fill(sequence & 0xff);
  const bytes = new Uint8Array(12 + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, 0x80);
  view.setUint8(1, (marker ? 0x80 : 0) | payloadType);
  view.setUint16(2, sequence & 0xffff);
  view.setUint32(4, timestamp >>> 0);
  view.setUint32(8, ssrc);
  bytes.set(payload, 12);
  return bytes;
}

/** A payload of telephone-event (RFC 4733, 2.3). */
export function event(code: number, duration: number, end = false): Uint8Array {
  return Uint8Array.of(code, (end ? 0x80 : 0) | 10, duration >> 8, duration & 0xff);
}

/** A telephone that counts its packets and feeds them to a socket. */
export class Telephone {
  sequence = 100;
  timestamp = 8000;
  readonly #socket: MediaSocket;
  readonly #from: { readonly address: string; readonly port: number };

  constructor(socket: MediaSocket, from: { readonly address: string; readonly port: number } = FAR) {
    this.#socket = socket;
    this.#from = from;
  }

  send(packet: Uint8Array, rtcpPort = false): void {
    this.#socket.feed(packet, this.#from.address, this.#from.port, rtcpPort);
  }

  /** Frames of 20 ms at 8 kHz. */
  speak(frames = 1): void {
    for (let n = 0; n < frames; n++) {
      this.send(rtp({ sequence: this.sequence++, timestamp: this.timestamp }));
      this.timestamp += 160;
    }
  }

  /** The packets of one key, held for so many frames of 20 ms; the event begins at the present timestamp. */
  keyPackets(code: number, frames: number, payloadType = 101, ticks = 160): Uint8Array[] {
    const packets: Uint8Array[] = [];
    for (let n = 1; n <= frames + 2; n++) {
      const payload = event(code, Math.min(n, frames) * ticks, n >= frames);
      packets.push(rtp({ payloadType, sequence: this.sequence++, timestamp: this.timestamp, payload }));
    }
    this.timestamp += (frames + 2) * ticks;
    return packets;
  }
}

/** A receiver report with one block (RFC 3550, 6.4.2). */
export function receiverReport(
  from: number,
  about: number,
  { fraction = 0, lost = 0, jitter = 0, lastSr = 0, delay = 0 },
): Uint8Array {
  const view = new DataView(new ArrayBuffer(32));
  view.setUint32(0, 0x81c9_0007);
  view.setUint32(4, from);
  view.setUint32(8, about);
  view.setUint32(12, (fraction << 24) | lost);
  view.setUint32(20, jitter);
  view.setUint32(24, lastSr);
  view.setUint32(28, delay);
  return new Uint8Array(view.buffer);
}
