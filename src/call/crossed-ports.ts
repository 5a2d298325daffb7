// Two ports of the media plane whose sound crosses: what one sends, the other one receives. An agent that is
// a member of a room speaks and hears through one of them, and the other one is in the mixer.
//
//   call of the agent ──▶ near playout ──RTP on loopback──▶ far socket ──▶ mixer
//                     ◀── near socket  ◀──RTP on loopback── far playout ◀──┘
//
// The packets stay in native threads. Both sockets accept packets of each other only.
import { type Codec, L16, ticksPerFrame } from '../codecs/codec.js';
import type { MediaPlane } from '../media/media-plane.js';
import { type MediaSocket, RtpPorts } from '../media/media-socket.js';
import type { Playout } from '../media/playout.js';
import type { MediaPort } from './call-route.js';
import type { JoinedLeg } from './joined-media.js';

const LOOPBACK = '127.0.0.1';
const PORTS = { first: 49_152, last: 65_535 }; // dynamic ports (RFC 6335 section 6); those in use are skipped
const DRAIN_MS = 2000;
const CODEC: Codec = L16;
const FRAME_MS = 20;
const PAYLOAD_TYPE = 96;
const LOW_MS = 400; // encoded sound ahead of its time
const HIGH_MS = 1500;

export interface CrossedPorts {
  /** The port of a call, which closes both. */
  readonly near: MediaPort;
  /** The other one, for a mixer. */
  readonly far: JoinedLeg;
}

interface CrossingParts {
  readonly plane: Pick<MediaPlane, 'openSocket' | 'openStream'>;
  /** Strong randomness. */
  readonly randomBytes: (count: number) => Buffer;
}

export class Crossing {
  readonly #parts: CrossingParts;
  #ports: RtpPorts | undefined;

  constructor(parts: CrossingParts) {
    this.#parts = parts;
  }

  /** `path`: one word for the log. Throws CALL_LIMIT when no port is free. */
  open(path: string): CrossedPorts {
    const near = this.#openLeg();
    let far: JoinedLeg;
    try {
      far = this.#openLeg();
    } catch (error) {
      closeLeg(near);
      throw error;
    }
    near.socket.learn({ address: LOOPBACK, port: far.socket.port, announcedOnly: true });
    far.socket.learn({ address: LOOPBACK, port: near.socket.port, announcedOnly: true });
    const close = async () => {
      closeLeg(near);
      closeLeg(far);
    };
    return { near: { ...near, codec: CODEC, frameMs: FRAME_MS, path, close }, far };
  }

  /** Ports that are open stay so. Idempotent. */
  close(): void {
    this.#ports?.close();
  }

  #openLeg(): JoinedLeg {
    const { plane } = this.#parts;
    const { first, last } = PORTS;
    this.#ports ??= RtpPorts.open({
      address: LOOPBACK,
      portMin: first,
      portMax: last,
      drainMs: DRAIN_MS,
      dscp: 0,
    });
    const socket = plane.openSocket({ ports: this.#ports, mux: true });
    try {
      const playout = this.#openPlayout();
      socket.formats([
        { payloadType: PAYLOAD_TYPE, kind: 'sound', clockRate: CODEC.clockRate, codec: CODEC.name },
      ]);
      socket.bind(playout);
      return { socket, playout };
    } catch (error) {
      socket.close();
      throw error;
    }
  }

  #openPlayout(): Playout {
    const { plane, randomBytes } = this.#parts;
    return plane.openStream({
      ssrc: randomBytes(4).readUInt32BE(),
      payloadType: PAYLOAD_TYPE,
      clockRate: CODEC.clockRate,
      ticksPerFrame: ticksPerFrame(CODEC, FRAME_MS),
      frameMs: FRAME_MS,
      codec: CODEC.name,
      sequence: randomBytes(2).readUInt16BE(),
      timestamp: randomBytes(4).readUInt32BE(),
      silence: CODEC.silence(FRAME_MS),
      lowMs: LOW_MS,
      highMs: HIGH_MS,
      cname: '',
      rtcpIntervalMs: 0,
    });
  }
}

function closeLeg({ socket, playout }: { readonly socket: MediaSocket; readonly playout: Playout }): void {
  playout.close();
  socket.close();
}
