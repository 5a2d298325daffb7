// The server of the rooms bench, in a process of its own: a media plane with one room.
import { MediaMixer } from '../../src/media/media-mixer.js';
import { MediaPlane } from '../../src/media/media-plane.js';
import { RtpPorts } from '../../src/media/media-socket.js';
import { LOAD_KEYS } from './native-load.js';
import type { LoadedMember } from './rtp-load.js';

export interface RoomOrder {
  readonly members: readonly Omit<LoadedMember, 'port'>[];
  /** Port of the far ends of all calls. */
  readonly farPort: number;
}

const ADDRESS = '127.0.0.1';
const PORTS = { portMin: 20_000, portMax: 24_001 };
const CODECS = {
  pcmu: {
    codec: 'PCMU',
    payloadType: 0,
    clockRate: 8000,
    ticks: 160,
    silence: new Uint8Array(160).fill(0xff),
  },
  pcma: {
    codec: 'PCMA',
    payloadType: 8,
    clockRate: 8000,
    ticks: 160,
    silence: new Uint8Array(160).fill(0xd5),
  },
  g722: {
    codec: 'G722',
    payloadType: 9,
    clockRate: 8000,
    ticks: 160,
    silence: new Uint8Array(160).fill(0xfa),
  },
  opus: { codec: 'opus', payloadType: 111, clockRate: 48_000, ticks: 960, silence: new Uint8Array(0) },
} as const;

function openMember(
  plane: MediaPlane,
  ports: RtpPorts,
  ssrc: number,
  farPort: number,
  { codec: name, secured }: RoomOrder['members'][number],
) {
  const { codec, payloadType, clockRate, ticks: ticksPerFrame, silence } = CODECS[name];
  const socket = plane.openSocket({ ports, mux: true });
  socket.formats([{ payloadType, kind: 'sound', clockRate, codec }]);
  socket.srtp(secured ? LOAD_KEYS : 'plain');
  const playout = plane.openStream({
    ssrc,
    payloadType,
    clockRate,
    ticksPerFrame,
    frameMs: 20,
    sequence: 1,
    timestamp: 0,
    codec,
    silence,
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

function openRoom(plane: MediaPlane, { members, farPort }: RoomOrder): LoadedMember[] {
  const ports = RtpPorts.open({ address: ADDRESS, ...PORTS, drainMs: 0, dscp: 46 });
  const mixer = MediaMixer.open(plane);
  return members.map((member, n) => {
    const leg = openMember(plane, ports, n + 1, farPort, member);
    mixer.add(leg);
    return { ...member, port: leg.socket.port };
  });
}

const plane = MediaPlane.open({ clock: 'real', seed: 1 });
process.on('message', (order) => process.send?.(openRoom(plane, order as RoomOrder)));
process.once('disconnect', () => plane.close());
process.send?.([]);
