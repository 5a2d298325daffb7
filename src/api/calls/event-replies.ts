// What happens somewhere, told as server-sent events until it is over. A reader
// that falls behind is told so and let go: it asks again from the last event
// that it has. Comments in between keep proxies from taking silence for an end.
import type { FastifyReply } from 'fastify';
import { ParleyError } from '../../errors.js';
import type { Time } from '../../time.js';
import { errorBody } from '../http/error-reply.js';
import { breakOff, isGone } from '../http/reply-connection.js';

export interface SentEvent {
  readonly id: number;
  readonly type: string;
  readonly data: object;
  /** Nothing comes after it. */
  readonly isLast: boolean;
}

/** Tells what was before and what comes; the function returned stops it. */
export type Follow = (told: (event: SentEvent) => void) => () => void;

export interface EventLimits {
  /** Replies at once; more are refused with QUEUE_FULL. */
  readonly maxReplies: number;
  /** Events that may wait for a reader. */
  readonly maxWaiting: number;
  readonly heartbeatMs: number;
  /** Milliseconds for which a reader may take nothing of what waits for it. */
  readonly stallMs: number;
}

const LIMITS: EventLimits = { maxReplies: 256, maxWaiting: 1000, heartbeatMs: 15_000, stallMs: 60_000 };
const RETRY_MS = 1000; // of a client that lost its connection
// A proxy must neither hold events back, nor keep them.
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

  /** Throws what `follow` throws, QUEUE_FULL, or ABORTED; after that the connection belongs to the events. */
  send(reply: FastifyReply, follow: Follow): void {
    const { maxReplies } = this.#limits;
    if (this.#closed || isGone(reply.raw)) throw new ParleyError('ABORTED', 'nobody is there any more');
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

  /** Ends every stream, and refuses new ones. */
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
  #forgetBeat: () => void = () => undefined;
  #forgetStall: (() => void) | undefined;
  #begun = false;
  #complete = false;
  #over = false;

  constructor(reply: FastifyReply, { time, limits }: { readonly time: Time; readonly limits: EventLimits }) {
    this.#reply = reply;
    this.#time = time;
    this.#limits = limits;
  }

  /** Throws what `follow` throws, before anything is sent. */
  begin(follow: Follow): void {
    this.#stopFollowing = follow((event) => this.#told(event));
    const { raw } = this.#reply;
    this.#reply.hijack();
    raw.writeHead(200, { ...(this.#reply.getHeaders() as Record<string, string>), ...HEADERS });
    raw.on('drain', () => this.#drained());
    this.#begun = true;
    this.#waiting.unshift(`retry: ${RETRY_MS}\n\n`);
    this.#flow();
    if (!this.#over) this.#beat();
  }

  /** Nothing more is told, and no timer is left. Idempotent. */
  stop(): void {
    this.#over = true;
    this.#stopFollowing();
    this.#forgetBeat();
    this.#forgetStall?.();
  }

  /** With a last word, if any. A reader that does not take it is broken off. Idempotent. */
  end(text = ''): void {
    if (this.#over) return;
    this.stop();
    const { raw } = this.#reply;
    const forget = this.#time.after(this.#limits.stallMs, () => breakOff(raw));
    raw.once('close', forget);
    raw.end(text);
  }

  #told({ id, type, data, isLast }: SentEvent): void {
    if (this.#over || this.#complete) return;
    this.#complete = isLast;
    this.#waiting.push(`id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
    if (!this.#begun) return; // bounded by what is kept of a call
    if (this.#forgetStall === undefined) this.#flow();
    else if (this.#waiting.length > this.#limits.maxWaiting) this.#letGo();
  }

  #flow(): void {
    for (let text = this.#waiting.shift(); text !== undefined; text = this.#waiting.shift()) {
      if (this.#reply.raw.write(text)) continue;
      this.#forgetStall = this.#time.after(this.#limits.stallMs, () => this.#stalled());
      return;
    }
    if (this.#complete) this.end();
  }

  #drained(): void {
    if (this.#over) return;
    this.#forgetStall?.();
    this.#forgetStall = undefined;
    this.#flow();
  }

  #beat(): void {
    this.#forgetBeat = this.#time.after(this.#limits.heartbeatMs, () => {
      if (this.#forgetStall === undefined) this.#reply.raw.write(':\n\n');
      this.#beat();
    });
  }

  /** What waits is not sent any more: the reader would ask for it again. */
  #letGo(): void {
    const message = `more than ${this.#limits.maxWaiting} events wait for this reader; ask again with Last-Event-ID`;
    const data = JSON.stringify(errorBody(503, 'slow_reader', message));
    this.end(`event: error\ndata: ${data}\n\n`);
  }

  #stalled(): void {
    this.stop();
    breakOff(this.#reply.raw);
  }
}
