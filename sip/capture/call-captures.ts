// A capture file for each call, from its first INVITE until some time after its
// end: SIP as it came and went, over TLS too, as datagrams that any reader of
// captures shows, and media where somebody hands it in.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Time } from '../../src/time.js';
import type { Flow, Place } from '../transport/flow.js';
import { ipDatagram } from './ip-datagram.js';
import { callIdIn, type MessageTap, type TapDirection } from './message-tap.js';
import { PcapFile } from './pcap-file.js';

export interface CallCapturesOptions {
  /** It has to be there. */
  readonly folder: string;
  readonly time: Time;
  /** The time of day, in milliseconds since 1970. */
  readonly unixMs: () => number;
  /** Whether a call that begins is to be captured; every one is, if nobody is asked. */
  readonly wants?: (callId: string) => boolean;
  readonly limits?: Partial<CaptureLimits>;
}

export interface CaptureLimits {
  readonly bytesPerFile: number;
  readonly openFiles: number;
  /** Milliseconds after the last packet of a call that has ended, for what is sent again; and of one that has not. */
  readonly lingerMs: number;
  readonly idleMs: number;
}

export const CAPTURE_LIMITS: CaptureLimits = {
  bytesPerFile: 32 * 1024 * 1024, // an hour of G.711 both ways is 80 MB: the end of a long call is cut
  openFiles: 100,
  lingerMs: 35_000, // longer than any transaction
  idleMs: 7_200_000,
};

interface Capture {
  readonly file: PcapFile;
  lastMs: number;
  /** There was a call: only BYE ends it from then on. */
  established: boolean;
  ended: boolean;
  callOff: () => void;
}

export class CallCaptures implements MessageTap {
  readonly #options: CallCapturesOptions;
  readonly #limits: CaptureLimits;
  readonly #open = new Map<string, Capture>();
  readonly #closing = new Set<Promise<void>>();
  #turnedAway = 0;
  #dropped = 0;
  #closed: Promise<void> | undefined;

  constructor(options: CallCapturesOptions) {
    this.#options = options;
    this.#limits = { ...CAPTURE_LIMITS, ...options.limits };
  }

  /** Files open now, calls that got none because of the limit or an error, packets that are in no file. */
  get counts(): { readonly open: number; readonly turnedAway: number; readonly dropped: number } {
    let dropped = this.#dropped;
    for (const { file } of this.#open.values()) dropped += file.dropped;
    return { open: this.#open.size, turnedAway: this.#turnedAway, dropped };
  }

  message(direction: TapDirection, bytes: Buffer, { local, remote }: Flow, callId = callIdIn(bytes)): void {
    if (callId === undefined) return;
    const capture = this.#open.get(callId) ?? (isInvite(bytes) ? this.#begin(callId) : undefined);
    if (capture === undefined) return;
    const [from, to] = direction === 'in' ? [remote, local] : [local, remote];
    this.#write(callId, capture, from, to, bytes);
    const change = changeBy(bytes);
    if (change === 'again') capture.ended = false;
    else if (change === 'established') capture.established = true;
    else if (change === 'over' || (change === 'refused' && !capture.established)) this.#end(callId, capture);
  }

  /** A packet of the call's media, as on the wire; nothing where the call is not captured. */
  media(callId: string, from: Place, to: Place, packet: Buffer, unixMs?: number): void {
    const capture = this.#open.get(callId);
    if (capture !== undefined) this.#write(callId, capture, from, to, packet, unixMs);
  }

  captures(callId: string): boolean {
    return this.#open.has(callId);
  }

  /** The dialog is over: the file is closed when nothing has come for a while. BYE and refusals are noticed without it. */
  ended(callId: string): void {
    const capture = this.#open.get(callId);
    if (capture !== undefined) this.#end(callId, capture);
  }

  /** Resolves when every file is written. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    for (const [callId, capture] of this.#open) this.#finish(callId, capture);
    await Promise.all(this.#closing);
  }

  #begin(callId: string): Capture | undefined {
    const { folder, unixMs, wants, time } = this.#options;
    if (this.#closed !== undefined || !(wants?.(callId) ?? true)) return undefined;
    if (this.#open.size >= this.#limits.openFiles) {
      this.#turnedAway++;
      return undefined;
    }
    const file = new PcapFile(join(folder, fileName(callId, unixMs())), this.#limits.bytesPerFile);
    const capture = { file, lastMs: time.now(), established: false, ended: false, callOff: () => undefined };
    this.#open.set(callId, capture);
    this.#watch(callId, capture);
    return capture;
  }

  #write(callId: string, capture: Capture, from: Place, to: Place, bytes: Buffer, unixMs?: number): void {
    capture.lastMs = this.#options.time.now();
    capture.file.write(ipDatagram(from, to, bytes), unixMs ?? this.#options.unixMs());
    if (!capture.file.failed) return;
    this.#turnedAway++;
    this.#finish(callId, capture);
  }

  #end(callId: string, capture: Capture): void {
    if (capture.ended) return;
    capture.ended = true;
    capture.callOff();
    this.#watch(callId, capture);
  }

  #watch(callId: string, capture: Capture): void {
    const { time } = this.#options;
    const dueMs = (): number =>
      capture.lastMs + (capture.ended ? this.#limits.lingerMs : this.#limits.idleMs);
    capture.callOff = time.after(Math.max(1, dueMs() - time.now()), () => {
      if (time.now() >= dueMs()) this.#finish(callId, capture);
      else this.#watch(callId, capture);
    });
  }

  #finish(callId: string, capture: Capture): void {
    capture.callOff();
    this.#open.delete(callId);
    this.#dropped += capture.file.dropped;
    const closing = capture.file.close();
    this.#closing.add(closing);
    void closing.then(() => this.#closing.delete(closing));
  }
}

/** Nothing of what a peer wrote: the time, and a hash of the Call-ID. */
function fileName(callId: string, unixMs: number): string {
  const time = new Date(unixMs).toISOString().replace(/[-:.]/g, '');
  return `${time}-${createHash('sha256').update(callId).digest('hex').slice(0, 16)}.pcap`;
}

function isInvite(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 7) === 'INVITE ';
}

type Change = 'again' | 'established' | 'refused' | 'over';

/** What a message means for the file. What follows a challenge has the same Call-ID, and begins the call again. */
function changeBy(bytes: Buffer): Change | undefined {
  const head = bytes.toString('latin1', 0, 8192);
  if (head.startsWith('INVITE ')) return 'again';
  if (head.startsWith('BYE ')) return 'over';
  const [, status] = /^SIP\/2\.0 ([2-6])/.exec(head) ?? [];
  if (status === undefined || !/\r\nCSeq[ \t]*:[ \t]*\d+[ \t]+INVITE/i.test(head)) return undefined;
  return status === '2' ? 'established' : 'refused';
}
