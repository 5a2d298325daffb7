// Splits a byte stream into messages (RFC 3261, section 18.3) and finds the keep-alives between them
// (RFC 5626, section 4.4.1). It examines every byte once.
import { headEnd } from '../message/head.js';

export type Framed =
  | { readonly kind: 'message'; readonly bytes: Buffer }
  /** Two empty lines: the peer expects one as the answer. */
  | { readonly kind: 'ping' }
  /** One empty line: the answer to a ping. */
  | { readonly kind: 'pong' }
  /** The stream is broken. `bytes` holds the beginning of the message that broke it. */
  | { readonly kind: 'broken'; readonly reason: BrokenReason; readonly bytes: Buffer };

export type BrokenReason = 'head-too-large' | 'body-too-large' | 'unframed';

interface FramerLimits {
  readonly headBytes: number;
  readonly bodyBytes: number;
}

const CR = 0x0d;
const LF = 0x0a;
const START_BYTES = 4096;
const OVERLAP = 2; // bytes of an empty line that may have been received already
const LENGTH = /\n(?:content-length|l)[ \t]*:((?:[ \t]|\r?\n[ \t])*)([^\r\n]*)/gi;

export class StreamFramer {
  readonly #limits: FramerLimits;
  #buffer = Buffer.alloc(START_BYTES);
  #start = 0; // start of the message that is being received
  #end = 0; // end of the received bytes
  #searched = 0; // no end of the head was found before this offset
  #length: number | undefined; // length of the whole message, once its head is complete
  #emptyLines = 0;
  #broken = false;

  constructor(limits: FramerLimits) {
    this.#limits = limits;
  }

  /** True while a message is incomplete. */
  get pending(): boolean {
    return !this.#broken && this.#end > this.#start;
  }

  push(chunk: Buffer): Framed[] {
    const found: Framed[] = [];
    if (this.#broken) return found;
    this.#append(chunk);
    for (;;) {
      const next = this.#next();
      if (next === undefined) break;
      found.push(next);
      if (next.kind !== 'broken') continue;
      this.#broken = true;
      this.#buffer = Buffer.alloc(0);
      break;
    }
    return found;
  }

  #next(): Framed | undefined {
    if (this.#length === undefined) {
      const between = this.#emptyLine();
      if (between !== undefined) return between;
      const broken = this.#findHead();
      if (broken !== undefined) return broken;
    }
    if (this.#length === undefined || this.#end - this.#start < this.#length) return undefined;
    const bytes = Buffer.from(this.#buffer.subarray(this.#start, this.#start + this.#length));
    this.#start += this.#length;
    this.#searched = this.#start;
    this.#length = undefined;
    return { kind: 'message', bytes };
  }

  /**
   * Consumes empty lines before a message. The second of two in a row turns the reported pong into a ping.
   */
  #emptyLine(): Framed | undefined {
    const length = this.#emptyLineLength();
    if (length > 0) {
      this.#start += length;
      this.#searched = Math.max(this.#searched, this.#start);
      this.#emptyLines = (this.#emptyLines + 1) % 2;
      return { kind: this.#emptyLines === 0 ? 'ping' : 'pong' };
    }
    const first = this.#buffer[this.#start];
    if (this.#end > this.#start && first !== CR) this.#emptyLines = 0;
    return undefined;
  }

  /** Length of an empty line at the start; 0 if there is none. */
  #emptyLineLength(): number {
    const held = this.#end - this.#start;
    if (held >= 1 && this.#buffer[this.#start] === LF) return 1;
    return held >= 2 && this.#buffer[this.#start] === CR && this.#buffer[this.#start + 1] === LF ? 2 : 0;
  }

  /** Sets the length of the message once its head is complete. */
  #findHead(): Framed | undefined {
    const { headBytes, bodyBytes } = this.#limits;
    const from = Math.max(this.#start, this.#searched - OVERLAP);
    const found = headEnd(this.#buffer.subarray(0, this.#end), from);
    this.#searched = this.#end;
    const headLength = (found?.end ?? this.#end) - this.#start;
    if (headLength > headBytes) return this.#breakOff('head-too-large', headBytes);
    if (found === undefined) return undefined;
    const total = found.body - this.#start;
    const body = statedLength(this.#buffer.toString('latin1', this.#start, found.end));
    if (body === undefined) return this.#breakOff('unframed', total);
    if (body > bodyBytes) return this.#breakOff('body-too-large', total);
    this.#length = total + body;
    return undefined;
  }

  #breakOff(reason: BrokenReason, length: number): Framed {
    const bytes = Buffer.from(this.#buffer.subarray(this.#start, this.#start + length));
    return { kind: 'broken', reason, bytes };
  }

  #append(chunk: Buffer): void {
    const held = this.#end - this.#start;
    if (this.#end + chunk.length > this.#buffer.length) {
      const needed = held + chunk.length;
      const target =
        needed > this.#buffer.length ? Buffer.alloc(Math.max(needed, this.#buffer.length * 2)) : this.#buffer;
      this.#buffer.copy(target, 0, this.#start, this.#end);
      this.#buffer = target;
      this.#searched -= this.#start;
      this.#start = 0;
      this.#end = held;
    }
    chunk.copy(this.#buffer, this.#end);
    this.#end += chunk.length;
  }
}

/** Undefined if Content-Length is missing, repeated or not a number. */
function statedLength(head: string): number | undefined {
  const values = Array.from(head.matchAll(LENGTH), (match) => (match[2] ?? '').trim());
  const [value = ''] = values;
  return values.length === 1 && /^\d{1,9}$/.test(value) ? Number(value) : undefined;
}
