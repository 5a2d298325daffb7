// Streams events to a client as server-sent events until the last one. A reader that falls behind gets an
// error event and is disconnected: it can resume after the last event that it has. Heartbeat comments keep
// proxies from timing out.
import type { FastifyReply } from 'fastify';
import { ParleyError } from '../../errors.js';
import type { Time } from '../../time.js';
import { errorBody } from '../http/error-reply.js';
import { breakOff, isGone } from '../http/reply-connection.js';

export interface SentEvent {
  readonly id: number;
  readonly type: string;
  readonly data: object;
  /** True for the last event of the stream. */
  readonly isLast: boolean;
}

/** Passes past and future events to `onEvent`, until the returned function is called. */
type Follow = (onEvent: (event: SentEvent) => void) => () => void;

export interface EventLimits {
  /** Limit of open streams; more are refused with QUEUE_FULL. */
  readonly maxReplies: number;
  /** Limit of events that wait for a reader. */
  readonly maxWaiting: number;
  readonly heartbeatMs: number;
  /** Write timeout in milliseconds: how long a reader may leave sent data unread. */
  readonly stallMs: number;
}

const LIMITS: EventLimits = { maxReplies: 256, maxWaiting: 1000, heartbeatMs: 15_000, stallMs: 60_000 };
const RETRY_MS = 1000; // until a client that lost its connection tries again
// A proxy must neither buffer events nor cache them.
const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-store',
  'x-accel-buffering': 'no',
};

export class EventReplies {
  readonly #time: Time;
  readonly #limits: EventLimits;
  readonly #open = new Set<EventReply>();
  #closed = false;

  constructor(time: Time, limits: Partial<EventLimits> = {}) {
    this.#time = time;
    this.#limits = { ...LIMITS, ...limits };
  }

  /**
   * Sends the events as the reply. Throws QUEUE_FULL, ABORTED or any error of `follow`, before anything is
   * sent.
   */
  send(reply: FastifyReply, follow: Follow): void {
    const { maxReplies } = this.#limits;
    if (this.#closed || isGone(reply.raw))
      throw new ParleyError('ABORTED', 'the client has left, or the server is closing');
    if (this.#open.size >= maxReplies) {
      throw new ParleyError('QUEUE_FULL', `${maxReplies} streams of events are open already`);
    }
    const one = new EventReply(reply, { time: this.#time, limits: this.#limits });
    one.begin(follow);
    this.#open.add(one);
    reply.raw.once('close', () => {
      this.#open.delete(one);
      one.stop();
    });
  }

  /** Ends every stream and refuses new ones. */
  close(): void {
    this.#closed = true;
    for (const one of this.#open) one.end();
  }
}

class EventReply {
  readonly #reply: FastifyReply;
  readonly #time: Time;
  readonly #limits: EventLimits;
  readonly #waiting: string[] = [];
  #stopFollowing: () => void = () => undefined;
  #cancelHeartbeat: () => void = () => undefined;
  /** Set while the reader has sent data to read. */
  #cancelStall: (() => void) | undefined;
  #begun = false;
  #complete = false;
  #over = false;

  constructor(reply: FastifyReply, { time, limits }: { readonly time: Time; readonly limits: EventLimits }) {
    this.#reply = reply;
    this.#time = time;
    this.#limits = limits;
  }

  /** Throws the errors of `follow` before anything is sent. */
  begin(follow: Follow): void {
    this.#stopFollowing = follow((event) => this.#add(event));
    const { raw } = this.#reply;
    this.#reply.hijack();
    raw.writeHead(200, { ...(this.#reply.getHeaders() as Record<string, string>), ...HEADERS });
    raw.on('drain', () => this.#drained());
    this.#begun = true;
    this.#waiting.unshift(`retry: ${RETRY_MS}\n\n`);
    this.#flow();
    if (!this.#over) this.#heartbeat();
  }

  /** Stops the events and every timer. Idempotent. */
  stop(): void {
    this.#over = true;
    this.#stopFollowing();
    this.#cancelHeartbeat();
    this.#cancelStall?.();
  }

  /**
   * Ends the stream, with the events that wait or another last text. A reader that does not read it is cut
   * off. Idempotent.
   */
  end(text = this.#waiting.splice(0).join('')): void {
    if (this.#over) return;
    this.stop();
    const { raw } = this.#reply;
    const cancel = this.#time.after(this.#limits.stallMs, () => breakOff(raw));
    raw.once('close', cancel);
    raw.end(text);
  }

  #add({ id, type, data, isLast }: SentEvent): void {
    if (this.#over || this.#complete) return;
    this.#complete = isLast;
    this.#waiting.push(`id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
    if (!this.#begun) return; // the history of a call is bounded
    if (this.#cancelStall === undefined) this.#flow();
    else if (this.#waiting.length > this.#limits.maxWaiting) this.#dropReader();
  }

  #flow(): void {
    for (let text = this.#waiting.shift(); text !== undefined; text = this.#waiting.shift()) {
      if (this.#reply.raw.write(text)) continue;
      this.#cancelStall = this.#time.after(this.#limits.stallMs, () => this.#stalled());
      return;
    }
    if (this.#complete) this.end();
  }

  #drained(): void {
    if (this.#over) return;
    this.#cancelStall?.();
    this.#cancelStall = undefined;
    this.#flow();
  }

  #heartbeat(): void {
    this.#cancelHeartbeat = this.#time.after(this.#limits.heartbeatMs, () => {
      if (this.#cancelStall === undefined) this.#reply.raw.write(':\n\n');
      this.#heartbeat();
    });
  }

  /** Drops the waiting events: the reader will ask for them again. */
  #dropReader(): void {
    const message = `more than ${this.#limits.maxWaiting} events wait for this reader; ask again with Last-Event-ID`;
    const data = JSON.stringify(errorBody(503, 'slow_reader', message));
    this.end(`event: error\ndata: ${data}\n\n`);
  }

  #stalled(): void {
    this.stop();
    breakOff(this.#reply.raw);
  }
}
