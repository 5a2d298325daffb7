// Calls for tests, on a media plane whose clock the test advances. Everything is real but the engine, the
// network and time. The calls of a test file share one pool of encoders and are closed after each test.
import { after, afterEach, before } from 'node:test';
import { Call, type CallParts } from '../../src/call/call.js';
import type { MediaPort } from '../../src/call/call-route.js';
import type { CallEvent } from '../../src/call/call-events.js';
import { type Codec, PCMU, ticksPerFrame } from '../../src/codecs/codec.js';
import { EncoderPool } from '../../src/encoding/encoder-pool.js';
import { MediaPlane } from '../../src/media/media-plane.js';
import type { Continuity } from '../../src/speaking/continuity.js';
import type { FrameCache } from '../../src/speaking/frame-cache.js';
import type { FirstPiece } from '../../src/speaking/text-source.js';
import { ManualTime } from './manual-time.js';
import { ScriptedEngine } from './engines.js';
import { SILENT_LOG } from '../../src/log.js';

export const FRAME_MS = 20;
/** The playout's queue: the encoder is asked for more below the first, and waits from the second on. */
export const LOW_MS = 400;
export const HIGH_MS = 1500;
/** Sequence number of the first packet that a test sees. It and the timestamp wrap within every test. */
export const FIRST_SEQUENCE = 65_535;
export const FIRST_TIMESTAMP = 4_294_967_200;
const FIRST_SSRC = 0x1234_5678;
const START_MS = 10_000;

export interface SentPacket {
  readonly atMs: number;
  readonly marker: boolean;
  readonly payloadType: number;
  readonly ssrc: number;
  readonly sequence: number;
  readonly timestamp: number;
  readonly payload: Uint8Array;
}

const LIMITS: CallParts['limits'] = { maxTextLength: 1000, textIdleMs: 10_000, maxWaitingUtterances: 3 };

export interface CallUnderTest {
  readonly call: Call;
  /** The first one. */
  readonly port: MediaPort;
  readonly engine: ScriptedEngine;
  readonly plane: MediaPlane;
  readonly time: ManualTime;
  readonly events: CallEvent[];
  readonly log: string[];
  readonly ended: string[];
  /** Moves the plane's clock and the timers. */
  pass(ms: number): void;
  /** Another port: of the same source where it goes on from `continues`, else of another one. */
  openPort(codec: Codec, frameMs: number, continues?: MediaPort): MediaPort;
  /** RTP packets that left since the last time. */
  sent(): SentPacket[];
  close(): Promise<void>;
}

/** Payload types of the codecs here: those of RFC 3551, and one for Opus. */
export function payloadTypeOf(codec: Codec): number {
  return codec.staticPayloadType ?? 111;
}

function portOf(
  plane: MediaPlane,
  codec: Codec,
  frameMs: number,
  ssrc: number,
  continues?: MediaPort,
): MediaPort {
  const ticks = ticksPerFrame(codec, frameMs);
  const options = {
    ssrc,
    payloadType: payloadTypeOf(codec),
    clockRate: codec.clockRate,
    ticksPerFrame: ticks,
    frameMs,
    sequence: FIRST_SEQUENCE - 1,
    timestamp: FIRST_TIMESTAMP - ticks,
    silence: codec.silence(frameMs),
    lowMs: LOW_MS,
    highMs: HIGH_MS,
    cname: 'call',
    rtcpIntervalMs: 0,
    codec: codec.name,
  };
  const playout = plane.openStream(options, continues?.playout);
  playout.target({ capture: true });
  return { codec, frameMs, playout, path: 'captured', close: async () => playout.close() };
}

interface CallOptions {
  readonly codec?: Codec;
  readonly frameMs?: number;
  readonly engine?: ScriptedEngine;
  readonly continuity?: Continuity;
  readonly hangUpPhrase?: string | undefined;
  readonly firstPiece?: FirstPiece;
  /** With it the port has a socket. */
  readonly hearing?: CallParts['hearing'];
  readonly recordings?: CallParts['recordings'];
  /** Another port than one whose packets `sent` tells. */
  readonly makePort?: (plane: MediaPlane) => MediaPort;
}

/** One pool for a whole test file (openCalls), because starting a worker costs more than a test. */
export function openCall(
  encoders: EncoderPool,
  frames?: FrameCache,
  {
    codec = PCMU,
    frameMs = FRAME_MS,
    engine = new ScriptedEngine(),
    continuity,
    hangUpPhrase,
    firstPiece = 'sentence',
    hearing,
    recordings,
    makePort,
  }: CallOptions = {},
): CallUnderTest {
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: START_MS, wallMs: 1_000_000 });
  const time = new ManualTime(START_MS);
  const socket =
    hearing === undefined || makePort !== undefined ? {} : { socket: plane.openSocket({ mux: true }) };
  const port = makePort?.(plane) ?? { ...portOf(plane, codec, frameMs, FIRST_SSRC), ...socket };
  // The first tick is due at once: after it, n frames of time are n packets.
  plane.advance(START_MS);
  plane.takePackets();
  const log: string[] = [];
  const ended: string[] = [];
  const write = (fields: Record<string, unknown>, message: string) =>
    void log.push(`${message} ${JSON.stringify(fields)}`);
  const call = new Call('call-1', 'test', port, {
    routing: engine,
    encoders,
    frames,
    continuity,
    hearing,
    recordings,
    limits: { ...LIMITS, hangUpPhrase, firstPiece },
    time,
    log: { ...SILENT_LOG, info: write, warn: write },
    metrics: {
      callOpened: () => undefined,
      callClosed: () => undefined,
      utteranceEnded: (end) => void ended.push(end),
      firstAudio: () => undefined,
      turnEnded: () => undefined,
      bargeIn: () => undefined,
    },
  });
  const events: CallEvent[] = [];
  call.observe((event) => void events.push(event));
  let sources = 0;
  return {
    call,
    port,
    openPort: (to, ms, continues) =>
      portOf(plane, to, ms, continues === undefined ? FIRST_SSRC + ++sources : FIRST_SSRC, continues),
    engine,
    plane,
    time,
    events,
    log,
    ended,
    pass: (ms) => {
      plane.advance(plane.nowMs + ms);
      time.advance(ms);
    },
    sent: () =>
      plane
        .takePackets()
        .filter(({ kind }) => kind === 'rtp')
        .map(parse),
    close: async () => {
      await call.close('test over');
      plane.close();
    },
  };
}

function parse({ atMs, data }: { atMs: number; data: Uint8Array }): SentPacket {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  return {
    atMs,
    marker: (view.getUint8(1) & 0x80) !== 0,
    payloadType: view.getUint8(1) & 0x7f,
    ssrc: view.getUint32(8),
    sequence: view.getUint16(2),
    timestamp: view.getUint32(4),
    payload: data.subarray(12),
  };
}

interface OpenCalls {
  /** Available only while tests run. */
  readonly encoders: EncoderPool;
  open(frames?: FrameCache, options?: CallOptions): CallUnderTest;
}

/**
 * Call it once, at the top of a test file. The calls share one pool of encoders and are closed after each
 * test.
 */
export function openCalls(): OpenCalls {
  let encoders: EncoderPool | undefined;
  const opened: CallUnderTest[] = [];
  const pool = (): EncoderPool => {
    if (encoders === undefined) throw new TypeError('no test is running');
    return encoders;
  };
  before(async () => {
    encoders = new EncoderPool({ workers: 1 });
    await encoders.ready();
  });
  after(() => encoders?.close());
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((call) => call.close()));
  });
  return {
    get encoders() {
      return pool();
    },
    open(frames, options) {
      const under = openCall(pool(), frames, options);
      opened.push(under);
      return under;
    },
  };
}
