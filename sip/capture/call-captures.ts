// Writes a capture file for each selected call, from its first INVITE until some time after its end:
// SIP messages (decrypted, as datagrams) and media if available. The configuration and the first
// INVITE select the calls.
import { join } from 'node:path';
import type { CapturedCalls } from '../../src/config/telephone-config.js';
import type { Time } from '../../src/time.js';
import { headEnd } from '../message/head.js';
import { parseMessage } from '../message/message.js';
import { fits, Pattern } from '../routing-table.js';
import type { Flow, Place } from '../transport/flow.js';
import { CaptureFolder, captureName, PcapFile } from './capture-files.js';
import { ipDatagram } from './ip-datagram.js';
import { callIdIn, type MediaSource, type MessageTap, type TapDirection } from './taps.js';

export interface CallCapturesOptions {
  /** Must exist. */
  readonly folder: string;
  readonly time: Time;
  /** Wall clock in milliseconds since 1970. */
  readonly unixMs: () => number;
  /** Clock of media copies; the wall clock by default. */
  readonly mediaMs?: () => number;
  /** Selects the calls to capture; all by default. */
  readonly wants?: WantsCall;
  readonly limits?: Partial<CaptureLimits>;
}

interface CaptureLimits {
  readonly bytesPerFile: number;
  readonly openFiles: number;
  /**
   * Milliseconds after the last packet until a file is closed: `lingerMs` after the end of a call, for
   * retransmissions; `idleMs` during a call.
   */
  readonly lingerMs: number;
  readonly idleMs: number;
  /** Retention in milliseconds and total size in bytes; 0 means unlimited. */
  readonly keepMs: number;
  readonly keepBytes: number;
}

const CAPTURE_LIMITS: CaptureLimits = {
  bytesPerFile: 32 * 1024 * 1024, // an hour of G.711 both ways is 80 MB: the end of a long call is cut
  openFiles: 100,
  lingerMs: 35_000, // longer than any transaction
  idleMs: 7_200_000,
  keepMs: 0,
  keepBytes: 0,
};

const DRAIN_MS = 250; // media copies wait this long or until the next message, which keeps packets in order

interface Capture {
  readonly file: PcapFile;
  /** Direction of the first INVITE. */
  readonly invited: TapDirection;
  lastMs: number;
  /** Offset from the media clock to the wall clock, fixed per file so that times never go back. */
  readonly unixAheadMs: number;
  /** A 2xx came: only BYE ends the call from now on. */
  established: boolean;
  /** The other side has answered the INVITE other than with a challenge: the call may last long. */
  answered: boolean;
  ended: boolean;
  cancelTimer: () => void;
  media: MediaSource | undefined;
  /** Lost copies of media. */
  missed: number;
}

export class CallCaptures implements MessageTap {
  readonly #options: CallCapturesOptions;
  readonly #limits: CaptureLimits;
  readonly #open = new Map<string, Capture>();
  /** Media sources of all calls: the first INVITE may follow later. */
  readonly #sources = new Map<string, MediaSource>();
  readonly #closing = new Set<Promise<void>>();
  readonly #folder: CaptureFolder;
  #cancelDrain: (() => void) | undefined;
  #turnedAway = 0;
  #dropped = 0;
  #closed: Promise<void> | undefined;

  constructor(options: CallCapturesOptions) {
    this.#options = options;
    this.#limits = { ...CAPTURE_LIMITS, ...options.limits };
    const { folder, time, unixMs } = options;
    const { keepMs, keepBytes } = this.#limits;
    const isOpen = (path: string): boolean => [...this.#open.values()].some(({ file }) => file.path === path);
    this.#folder = new CaptureFolder({ folder, keepMs, keepBytes, isOpen, time, unixMs });
    this.#folder.start();
  }

  /** Open files, calls without a file because of the limit or an error, and packets that were not written. */
  get counts(): { readonly open: number; readonly turnedAway: number; readonly dropped: number } {
    let dropped = this.#dropped;
    for (const { file, missed } of this.#open.values()) dropped += file.dropped + missed;
    return { open: this.#open.size, turnedAway: this.#turnedAway, dropped };
  }

  message(direction: TapDirection, bytes: Buffer, flow: Flow, callId = callIdIn(bytes)): void {
    if (callId === undefined) return;
    const capture =
      this.#open.get(callId) ?? (isInvite(bytes) ? this.#begin(callId, direction, bytes, flow) : undefined);
    if (capture === undefined) return;
    const atUnixMs = this.#mediaMs() + capture.unixAheadMs;
    this.#drain(callId, capture);
    const { local, remote } = flow;
    const [from, to] = direction === 'in' ? [remote, local] : [local, remote];
    this.#write(callId, capture, from, to, bytes, atUnixMs);
    this.#change(callId, capture, direction, changeBy(bytes));
  }

  /** Writes a media packet; ignored if the call is not captured. */
  media(callId: string, from: Place, to: Place, packet: Buffer, unixMs?: number): void {
    const capture = this.#open.get(callId);
    if (capture !== undefined) this.#write(callId, capture, from, to, packet, unixMs);
  }

  /** Sets the media source of a call, captured or not. */
  follow(callId: string, source: MediaSource): void {
    const before = this.#sources.get(callId);
    if (before !== undefined) this.leave(callId, before);
    if (this.#closed !== undefined) return;
    this.#sources.set(callId, source);
    const capture = this.#open.get(callId);
    if (capture !== undefined) this.#tap(capture, source);
  }

  /** Removes the media source; copies made so far are written. */
  leave(callId: string, source: MediaSource): void {
    if (this.#sources.get(callId) !== source) return;
    this.#sources.delete(callId);
    const capture = this.#open.get(callId);
    if (capture !== undefined) this.#untap(callId, capture);
  }

  captures(callId: string): boolean {
    return this.#open.has(callId);
  }

  /**
   * Reports the end of a dialog: the file is closed after the linger time. BYE and refusals are recognised
   * without it.
   */
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
    this.#sources.clear();
    this.#cancelDrain?.();
    await Promise.all(this.#closing);
    await this.#folder.close();
  }

  #begin(callId: string, direction: TapDirection, invite: Buffer, flow: Flow): Capture | undefined {
    const { folder, unixMs, wants, time } = this.#options;
    if (this.#closed !== undefined || !(wants?.(direction, invite, flow) ?? true)) return undefined;
    if (this.#open.size >= this.#limits.openFiles) {
      this.#turnedAway++;
      return undefined;
    }
    const file = new PcapFile(join(folder, captureName(callId, unixMs())), this.#limits.bytesPerFile);
    const capture: Capture = {
      file,
      invited: direction,
      lastMs: time.now(),
      unixAheadMs: unixMs() - this.#mediaMs(),
      established: false,
      answered: false,
      ended: false,
      cancelTimer: () => undefined,
      media: undefined,
      missed: 0,
    };
    this.#open.set(callId, capture);
    const source = this.#sources.get(callId);
    if (source !== undefined) this.#tap(capture, source);
    this.#watch(callId, capture);
    return capture;
  }

  #change(callId: string, capture: Capture, direction: TapDirection, change: Change | undefined): void {
    if (change === 'again') {
      capture.ended = false;
      capture.answered &&= capture.established;
      return;
    }
    const isResponse = change !== undefined && change !== 'over';
    if (isResponse && change !== 'challenged' && direction !== capture.invited) capture.answered = true;
    if (change === 'established') capture.established = true;
    const isRefused = change === 'refused' || change === 'challenged';
    if (change === 'over' || (isRefused && !capture.established)) this.#end(callId, capture);
  }

  #write(callId: string, capture: Capture, from: Place, to: Place, bytes: Buffer, unixMs?: number): void {
    capture.lastMs = this.#options.time.now();
    capture.file.write(ipDatagram(from, to, bytes), unixMs ?? this.#options.unixMs());
    if (!capture.file.failed || this.#open.get(callId) !== capture) return;
    this.#turnedAway++;
    this.#finish(callId, capture);
  }

  #mediaMs(): number {
    const { mediaMs, unixMs } = this.#options;
    return (mediaMs ?? unixMs)();
  }

  #tap(capture: Capture, source: MediaSource): void {
    capture.media = source;
    source.tap(true);
    this.#drainLater();
  }

  #untap(callId: string, capture: Capture): void {
    this.#drain(callId, capture);
    capture.media?.tap(false);
    capture.media = undefined;
    this.#dropped += capture.missed;
    capture.missed = 0;
  }

  #drain(callId: string, capture: Capture): void {
    if (capture.media === undefined) return;
    const { copies, missed } = capture.media.takeCopies();
    capture.missed = missed;
    for (const { from, to, atMs, packet } of copies) {
      const bytes = Buffer.from(packet.buffer, packet.byteOffset, packet.length);
      this.#write(callId, capture, from, to, bytes, atMs + capture.unixAheadMs);
    }
  }

  #drainLater(): void {
    this.#cancelDrain ??= this.#options.time.after(DRAIN_MS, () => {
      this.#cancelDrain = undefined;
      const tapped = [...this.#open].filter(([, { media }]) => media !== undefined);
      for (const [callId, capture] of tapped) this.#drain(callId, capture);
      if (tapped.length > 0) this.#drainLater();
    });
  }

  #end(callId: string, capture: Capture): void {
    if (capture.ended) return;
    capture.ended = true;
    capture.cancelTimer();
    this.#watch(callId, capture);
  }

  #watch(callId: string, capture: Capture): void {
    const { time } = this.#options;
    const { lingerMs, idleMs } = this.#limits;
    const dueMs = (): number => capture.lastMs + (capture.ended || !capture.answered ? lingerMs : idleMs);
    capture.cancelTimer = time.after(Math.max(1, dueMs() - time.now()), () => {
      if (time.now() >= dueMs()) this.#finish(callId, capture);
      else this.#watch(callId, capture);
    });
  }

  #finish(callId: string, capture: Capture): void {
    capture.cancelTimer();
    this.#open.delete(callId); // first, so that an error while draining does not recurse
    this.#untap(callId, capture);
    this.#dropped += capture.file.dropped;
    const closing = capture.file.close();
    this.#closing.add(closing);
    void closing.then(() => {
      this.#closing.delete(closing);
      void this.#folder.sweep();
    });
  }
}

function isInvite(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 7) === 'INVITE ';
}

type Change = 'again' | 'under way' | 'challenged' | 'established' | 'refused' | 'over';

/** Classifies a message. A request after a challenge has the same Call-ID and starts the call again. */
function changeBy(bytes: Buffer): Change | undefined {
  const head = bytes.toString('latin1', 0, 8192);
  if (head.startsWith('INVITE ')) return 'again';
  if (head.startsWith('BYE ')) return 'over';
  const [, status = ''] = /^SIP\/2\.0 ([1-6]\d\d)/.exec(head) ?? [];
  if (status === '' || !/\nCSeq[ \t]*:[ \t]*\d+[ \t]+INVITE/i.test(head)) return undefined;
  if (status === '401' || status === '407') return 'challenged';
  return status < '200' ? 'under way' : status < '300' ? 'established' : 'refused';
}

/** True if the call of this INVITE shall be captured. */
export type WantsCall = (direction: TapDirection, invite: Buffer, flow: Flow) => boolean;

const HEAD_BYTES = 8192; // only this much is searched for the mark
const MARK = /\nx-parley-capture[ \t]*:[ \t]*1[ \t]*\r?\n/i;

/**
 * `isTrusted` tells whether callers of an address may request a capture with the mark; our own INVITEs
 * always may.
 */
export function wantedCalls(calls: CapturedCalls, isTrusted: (address: string) => boolean): WantsCall {
  if (calls === 'off') return () => false;
  if (calls === 'all') return () => true;
  const patterns =
    calls === 'marked' ? [] : calls.map(({ field, pattern }) => ({ field, pattern: new Pattern(pattern) }));
  return (direction, invite, { remote }) => {
    const isMarked = MARK.test(headOf(invite)) && (direction === 'out' || isTrusted(remote.address));
    if (isMarked || patterns.length === 0) return isMarked;
    const parsed = parseMessage(invite);
    if (parsed.kind !== 'request') return false;
    const { uri: to, from } = parsed.request;
    return patterns.some(({ field, pattern }) => fits(pattern, field === 'to' ? to : from.uri));
  };
}

/** Head of the message: the body may contain foreign text. */
function headOf(message: Buffer): string {
  const { body = HEAD_BYTES } = headEnd(message, 0) ?? {};
  return message.toString('latin1', 0, Math.min(body, HEAD_BYTES));
}
