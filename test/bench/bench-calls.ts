// Calls as a browser page makes them, without the browser: the real data
// channel session, call room, encoder pool and media plane; packets go out
// encrypted over the loopback interface, a socket per call.
import { createSocket, type Socket } from 'node:dgram';
import { FrameCache } from '../../src/speaking/frame-cache.js';
import type { Call } from '../../src/call/call.js';
import { Switchboard } from '../../src/call/switchboard.js';
import type { MediaPort } from '../../src/call/call-route.js';
import { systemTime } from '../../src/time.js';
import { warmUpTexts } from '../../src/speaking/prepared-speech.js';
import { OPUS, ticksPerFrame, type Codec } from '../../src/codecs/codec.js';
import { EncoderPool } from '../../src/encoding/encoder-pool.js';
import { MediaPlane } from '../../src/media/media-plane.js';
import type { SpeechEngine } from '../../src/engines/engine.js';
import type { SpeechRouting } from '../../src/engines/routing.js';
import { DataChannelSession, type ServerMessage } from '../../signaling/data-channel.js';
import { descriptorOf } from './socket-descriptor.js';
import { streamPlans, type StreamPlan } from './stream-plan.js';
import { SILENT_LOG } from '../../src/log.js';

/** Bytes of a packet of silence: header, the three bytes of Opus silence, SRTP tag. */
export const SILENT_PACKET_BYTES = 12 + 3 + 10;

const LIMITS = { maxTextLength: 20_000, textIdleMs: 60_000, maxWaitingUtterances: 4 };
const MESSAGES = { perSecond: 10_000, burst: 10_000 };
export interface BenchCall {
  readonly ssrc: number;
  readonly session: DataChannelSession;
  readonly call: Call;
  onMessage: (message: ServerMessage) => void;
}

interface BenchOptions {
  /** As many as the server takes by default when absent. */
  readonly encoderWorkers?: number;
  readonly codec?: Codec;
  /** Bytes of sentences kept; 0 keeps none. */
  readonly frameCacheBytes?: number;
}

export class BenchCalls {
  readonly #plane = MediaPlane.open({ clock: 'real', seed: 11 });
  readonly frames: FrameCache;
  readonly #codec: Codec;
  readonly #pool: EncoderPool;
  readonly #switchboard: Switchboard;
  readonly #sockets: Socket[] = [];
  readonly #sessions: DataChannelSession[] = [];

  constructor(engine: SpeechEngine, voice: string, options: BenchOptions = {}) {
    const { encoderWorkers, codec = OPUS, frameCacheBytes = 0 } = options;
    this.#codec = codec;
    this.#pool = new EncoderPool(encoderWorkers === undefined ? {} : { workers: encoderWorkers });
    this.frames = new FrameCache(frameCacheBytes, this.#pool.settings);
    const routing = onlyEngine(engine, voice);
    warmUpTexts(routing); // as the server does before it listens
    this.#switchboard = new Switchboard(
      {
        routing,
        encoders: this.#pool,
        frames: this.frames,
        limits: LIMITS,
        time: systemTime,
        log: SILENT_LOG,
        metrics: {
          callOpened: () => undefined,
          callClosed: () => undefined,
          utteranceEnded: () => undefined,
          firstAudio: () => undefined,
          turnEnded: () => undefined,
          bargeIn: () => undefined,
        },
      },
      { maxCalls: 1000, newId: () => `call-${this.#sessions.length}` },
    );
  }

  /** Opens calls whose packets go to this port. */
  async open(count: number, port: number): Promise<BenchCall[]> {
    await this.#pool.ready();
    const calls: BenchCall[] = [];
    for (const plan of streamPlans(count)) calls.push(await this.#openCall(plan, port));
    return calls;
  }

  priority(): string {
    return this.#plane.stats().priority;
  }

  async close(): Promise<void> {
    for (const session of this.#sessions) session.close();
    await this.#switchboard.close();
    await this.#pool.close();
    this.#plane.close();
    for (const socket of this.#sockets) socket.close();
  }

  async #openCall(plan: StreamPlan, port: number): Promise<BenchCall> {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    this.#sockets.push(socket);
    const call = await this.#switchboard.open(async () => this.#port(plan, socket, port), {
      protocol: 'bench',
    });
    const channel = {
      bufferedAmount: 0,
      unacknowledged: 0,
      send: (text: string) => opened.onMessage(JSON.parse(text) as ServerMessage),
    };
    const opened: { onMessage: BenchCall['onMessage'] } = { onMessage: () => undefined };
    const limits = { maxTextLength: LIMITS.maxTextLength, messages: MESSAGES };
    const session = new DataChannelSession(call, { limits, time: systemTime, log: SILENT_LOG });
    session.attach(channel);
    this.#sessions.push(session);
    return Object.assign(opened, { ssrc: plan.ssrc, session, call });
  }

  #port(plan: StreamPlan, socket: Socket, port: number): MediaPort {
    const codec = this.#codec;
    const playout = this.#plane.openStream({
      ssrc: plan.ssrc,
      payloadType: plan.payloadType,
      clockRate: codec.clockRate,
      ticksPerFrame: ticksPerFrame(codec, plan.frameMs),
      frameMs: plan.frameMs,
      sequence: plan.sequence,
      timestamp: plan.timestamp,
      silence: codec.silence(plan.frameMs),
      lowMs: 400,
      highMs: 1500,
      cname: 'bench',
      rtcpIntervalMs: 5000,
      srtp: { profile: 'AES_CM_128_HMAC_SHA1_80', key: plan.key, salt: plan.salt },
    });
    playout.target({ fd: descriptorOf(socket), address: '127.0.0.1', port });
    const close = async (): Promise<void> => playout.close();
    return { codec, frameMs: plan.frameMs, playout, path: 'udp loopback', close };
  }
}

function onlyEngine(engine: SpeechEngine, voice: string): SpeechRouting {
  return {
    resolve: () => ({ engine, voice, language: 'en' }),
    voices: () => engine.voices(),
  };
}
