// The far end of the receive bench, in a process of its own so that what it
// costs is not counted: a plane whose streams send silence, one to each port.
import { createSocket } from 'node:dgram';
import type { SrtpKeys } from '../../src/media/media-addon.js';
import { MediaPlane } from '../../src/media/media-plane.js';
import { descriptorOf } from './socket-descriptor.js';

export interface SenderOrder {
  readonly ports: readonly number[];
  /** Base64 of key and salt; null for plain RTP. */
  readonly srtp: {
    readonly profile: SrtpKeys['profile'];
    readonly key: string;
    readonly salt: string;
  } | null;
}

process.once('message', (message) => {
  const { ports, srtp } = message as SenderOrder;
  const keys = srtp === null ? {} : { srtp: keysOf(srtp) };
  const plane = MediaPlane.open({ clock: 'real', seed: 1 });
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1', () => {
    for (const [index, port] of ports.entries()) {
      // prettier-ignore
      const playout = plane.openStream({
        ssrc: index + 1, payloadType: 0, clockRate: 8000, ticksPerFrame: 160, frameMs: 20, sequence: 1, timestamp: 0,
        silence: new Uint8Array(160).fill(0xff), lowMs: 400, highMs: 1500, cname: 'bench', rtcpIntervalMs: 0, ...keys,
      });
      playout.target({ fd: descriptorOf(socket), address: '127.0.0.1', port });
    }
    process.send?.('sending');
  });
  process.once('disconnect', () => {
    plane.close();
    socket.close();
  });
});

export function keysOf({ profile, key, salt }: NonNullable<SenderOrder['srtp']>): SrtpKeys {
  return { profile, key: Buffer.from(key, 'base64'), salt: Buffer.from(salt, 'base64') };
}
