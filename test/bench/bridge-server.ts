// The server of the bridge bench, in a process of its own: a media plane with bridges of two calls.
import { MediaPlane } from '../../src/media/media-plane.js';
import { MediaRelay } from '../../src/media/media-relay.js';
import { RtpPorts } from '../../src/media/media-socket.js';
import { LOAD_KEYS } from './native-load.js';
import type { LoadedCall } from './rtp-load.js';

export interface BridgeOrder {
  readonly bridges: number;
  /** Port of the far ends of all calls. */
  readonly farPort: number;
  /** SRTP of the first call of each bridge, and of the second one. */
  readonly secured: readonly [boolean, boolean];
}

const ADDRESS = '127.0.0.1';
const PORTS = { portMin: 20_000, portMax: 24_001 };

function openCall(plane: MediaPlane, ports: RtpPorts, ssrc: number, farPort: number, secured: boolean) {
  const socket = plane.openSocket({ ports, mux: true });
  socket.formats([{ payloadType: 0, kind: 'sound', clockRate: 8000, codec: 'PCMU' }]);
  socket.srtp(secured ? LOAD_KEYS : 'plain');
  const playout = plane.openStream({
    ssrc,
    payloadType: 0,
    clockRate: 8000,
    ticksPerFrame: 160,
    frameMs: 20,
    sequence: 1,
    timestamp: 0,
    codec: 'PCMU',
    silence: new Uint8Array(160).fill(0xff),
    lowMs: 400,
    highMs: 1500,
    cname: 'bench',
    rtcpIntervalMs: 5000,
    ...(secured ? { srtp: LOAD_KEYS } : {}),
  });
  socket.bind(playout);
  socket.learn({ address: ADDRESS, port: farPort });
  return { socket, playout };
}

function openBridges(plane: MediaPlane, { bridges, farPort, secured }: BridgeOrder): LoadedCall[] {
  const ports = RtpPorts.open({ address: ADDRESS, ...PORTS, drainMs: 0, dscp: 46 });
  return Array.from({ length: bridges }, (_, n) => {
    const a = openCall(plane, ports, 2 * n + 1, farPort, secured[0]);
    const b = openCall(plane, ports, 2 * n + 2, farPort, secured[1]);
    MediaRelay.open(plane, a, b);
    return [
      { port: a.socket.port, secured: secured[0] },
      { port: b.socket.port, secured: secured[1] },
    ];
  }).flat();
}

const plane = MediaPlane.open({ clock: 'real', seed: 1 });
process.on('message', (order) => process.send?.(openBridges(plane, order as BridgeOrder)));
process.once('disconnect', () => plane.close());
process.send?.([]);
