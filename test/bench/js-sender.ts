// The rival of the native plane: the best that a JavaScript timer can do.
//
// Due times are absolute (counted from the first, so that a late timer does not
// slow the stream) and spread over the period; one timer serves all streams.
import { createSocket, type Socket } from 'node:dgram';
import { SrtpPacketWriter } from './rtp-packet.js';
import type { Schedule } from './arrivals.js';
import type { StreamPlan } from './stream-plan.js';

const now = (): number => Number(process.hrtime.bigint()) / 1e6;

const MOST_PER_TURN = 500; // packets; then the event loop gets its turn, however late the sender is

interface JsStream {
  readonly plan: StreamPlan;
  readonly socket: Socket;
  readonly writer: SrtpPacketWriter;
  readonly firstDueMs: number;
  sent: number;
}

export class JsSender {
  readonly #streams: JsStream[] = []; // in the order of their due times within the period
  #timer: NodeJS.Timeout | undefined;
  #next = 0; // index of the stream that is due next

  static async open(plans: readonly StreamPlan[], port: number): Promise<JsSender> {
    const sender = new JsSender();
    const startMs = now() + 100;
    for (const [index, plan] of plans.entries()) {
      const socket = createSocket('udp4');
      await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
      await new Promise<void>((resolve) => socket.connect(port, '127.0.0.1', resolve));
      sender.#streams.push({
        plan,
        socket,
        writer: new SrtpPacketWriter(plan),
        firstDueMs: startMs + (index * plan.frameMs) / plans.length,
        sent: 0,
      });
    }
    sender.#sleep();
    return sender;
  }

  schedules(): Schedule[] {
    return this.#streams.map(({ plan, firstDueMs }) => ({
      ssrc: plan.ssrc,
      timestamp: plan.timestamp,
      dueMs: firstDueMs,
    }));
  }

  packets(): number {
    return this.#streams.reduce((sum, { sent }) => sum + sent, 0);
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const { socket } of this.#streams) socket.close();
  }

  #sleep(): void {
    const stream = this.#streams[this.#next];
    if (stream === undefined) return;
    this.#timer = setTimeout(() => this.#wake(), Math.max(0, dueMs(stream) - now()));
  }

  #wake(): void {
    for (let turn = 0; turn < MOST_PER_TURN; turn++) {
      const stream = this.#streams[this.#next];
      if (stream === undefined || dueMs(stream) > now()) break;
      send(stream);
      this.#next = (this.#next + 1) % this.#streams.length;
    }
    this.#sleep();
  }
}

function dueMs({ firstDueMs, plan, sent }: JsStream): number {
  return firstDueMs + sent * plan.frameMs;
}

function send(stream: JsStream): void {
  const { plan, sent } = stream;
  const header = {
    marker: sent === 0,
    payloadType: plan.payloadType,
    sequence: (plan.sequence + sent) & 0xffff,
    timestamp: (plan.timestamp + sent * plan.ticksPerFrame) >>> 0,
    ssrc: plan.ssrc,
  };
  stream.socket.send(stream.writer.write(header, plan.payload, plan.sequence + sent));
  stream.sent++;
}
