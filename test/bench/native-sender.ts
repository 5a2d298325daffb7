// The native plane as the pacing bench drives it: one playout and one socket a
// stream, fed from a worker thread.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { MediaPlane } from '../../src/media/media-plane.js';
import type { Playout } from '../../src/media/playout.js';
import type { Schedule } from './arrivals.js';
import { descriptorOf } from './socket-descriptor.js';
import type { FeederData } from './feeder-worker.js';
import { TICKS_PER_MS, type StreamPlan } from './stream-plan.js';

export interface NativeCounts {
  readonly packets: number;
  readonly underruns: number;
  readonly lateTicks: number;
  readonly skippedTicks: number;
  readonly sendErrors: number;
  readonly priority: string;
}

const TRACE_PACKETS = 1 << 20; // all of 500 streams in 40 s

export class NativeSender {
  readonly #plane = MediaPlane.open({ clock: 'real', seed: 7 });
  readonly #playouts: Playout[];
  readonly #sockets: Socket[] = [];
  readonly #plans: readonly StreamPlan[];
  #feeder: Worker | undefined;

  private constructor(plans: readonly StreamPlan[]) {
    this.#plans = plans;
    this.#playouts = plans.map((plan) => this.#plane.openStream(streamOptions(plan)));
  }

  static async open(plans: readonly StreamPlan[], port: number): Promise<NativeSender> {
    const sender = new NativeSender(plans);
    sender.#plane.startTrace(TRACE_PACKETS);
    await sender.#feed();
    for (const playout of sender.#playouts) {
      const socket = createSocket('udp4');
      await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
      sender.#sockets.push(socket);
      playout.target({ fd: descriptorOf(socket), address: '127.0.0.1', port });
    }
    return sender;
  }

  /** The first packet of each stream that the clock sent, and when it was due. */
  schedules(firstTimestamps: ReadonlyMap<number, number>): Schedule[] {
    const first = new Map<number, number>();
    for (const { stream, dueMs } of this.#plane.takeTrace()) {
      if (!first.has(stream)) first.set(stream, dueMs);
    }
    return this.#playouts.flatMap((playout, index) => {
      const ssrc = this.#plans[index]?.ssrc ?? 0;
      const dueMs = first.get(playout.handle);
      const timestamp = firstTimestamps.get(ssrc);
      return dueMs === undefined || timestamp === undefined ? [] : [{ ssrc, timestamp, dueMs }];
    });
  }

  counts(): NativeCounts {
    return this.#plane.stats();
  }

  /** Nothing leaves any more; counts and schedules stay readable. */
  stop(): void {
    for (const playout of this.#playouts) playout.target(null);
  }

  async close(): Promise<void> {
    this.#feeder?.postMessage('end');
    if (this.#feeder !== undefined) await once(this.#feeder, 'exit');
    this.#plane.close();
    for (const socket of this.#sockets) socket.close();
  }

  /** Resolves when every playout is full for the first time. */
  async #feed(): Promise<void> {
    const playouts = this.#playouts.map(({ handle, generation }, index) => ({
      handle,
      generation,
      payload: this.#plans[index]?.payload ?? new Uint8Array(1),
    }));
    const workerData: FeederData = { playouts };
    this.#feeder = new Worker(new URL('./feeder-worker.js', import.meta.url), { workerData });
    await once(this.#feeder, 'message');
  }
}

export function streamOptions(plan: StreamPlan) {
  return {
    ssrc: plan.ssrc,
    payloadType: plan.payloadType,
    clockRate: TICKS_PER_MS * 1000,
    ticksPerFrame: plan.ticksPerFrame,
    frameMs: plan.frameMs,
    sequence: plan.sequence,
    timestamp: plan.timestamp,
    silence: Uint8Array.of(0xf8, 0xff, 0xfe),
    lowMs: 400,
    highMs: 1500,
    cname: 'bench',
    rtcpIntervalMs: 0,
    srtp: { profile: 'AES_CM_128_HMAC_SHA1_80' as const, key: plan.key, salt: plan.salt },
  };
}
