// Whoever wants a copy of every SIP message that a server gets and sends.
import type { Flow, Place } from '../transport/flow.js';

export type TapDirection = 'in' | 'out';

export interface MessageTap {
  /**
   * A whole message, as on the wire inside TLS; not to be changed, and not to be kept waiting for: it returns at
   * once and does not throw. Keep-alives are no messages. Without `callId` it is the tap's to find.
   */
  message(direction: TapDirection, bytes: Buffer, flow: Flow, callId?: string): void;
}

/** Every one of them gets every message. */
export function severalTaps(taps: readonly MessageTap[]): MessageTap {
  return {
    message(direction, bytes, flow, callId = callIdIn(bytes)) {
      for (const tap of taps) tap.message(direction, bytes, flow, callId);
    },
  };
}

const HEAD_BYTES = 8192; // a Call-ID further behind is not looked for
const CALL_ID = /\n(?:call-id|i)[ \t]*:[ \t]*([^\s]{1,512})/i; // lines may end in LF alone

/** Of a message that may be broken; undefined if none is found. */
export function callIdIn(bytes: Buffer): string | undefined {
  return CALL_ID.exec(bytes.toString('latin1', 0, HEAD_BYTES))?.[1];
}

// What captures want of a call's media: copies of its packets while they are
// wished for, and how it was in the end.

export interface MediaCopy {
  readonly from: Place;
  readonly to: Place;
  /** On the media plane's clock. */
  readonly atMs: number;
  readonly packet: Uint8Array;
}

export interface MediaSource {
  /** Copies from now on, or no longer. */
  tap(on: boolean): void;
  /** Those since the last time, and how many were never made because nobody took those before in time. */
  takeCopies(): { readonly copies: readonly MediaCopy[]; readonly missed: number };
}

export interface MediaQuality {
  readonly local: Place;
  readonly remote: Place;
  readonly report: MediaReport;
}

export interface CapturedMedia extends MediaSource {
  /** Called once, when the last packet has left and nothing is forgotten yet. */
  onClosing: (() => void) | undefined;
  /** Undefined if no media was agreed on. */
  readonly quality: MediaQuality | undefined;
}

// How the media of a call was, in the JSON that Homer's agents make of RTCP: a
// sender report about what we sent, with one block about what we received, if
// anything.

export interface MediaReport {
  /** Of the stream that we sent, and of the one that came. */
  readonly sentSsrc: number;
  readonly receivedSsrc: number;
  readonly sentPackets: number;
  readonly sentBytes: number;
  readonly receivedPackets: number;
  readonly lostPackets: number;
  /** Extended by its wraps. */
  readonly highestSequence: number;
  readonly jitterMs: number;
  readonly clockRate: number;
  readonly rttMs: number | null;
  /** 1 to 4.5; null where nothing was received. */
  readonly mos: number | null;
}

const SENDER_REPORT = 200;

export function reportJson(report: MediaReport): string {
  const expected = report.receivedPackets + report.lostPackets;
  const fraction = expected > 0 ? Math.max(0, report.lostPackets) / expected : 0;
  const block = {
    source_ssrc: report.receivedSsrc,
    fraction_lost: Math.min(255, Math.floor(fraction * 256)),
    packets_lost: report.lostPackets,
    highest_seq_no: report.highestSequence,
    ia_jitter: Math.round((report.jitterMs * report.clockRate) / 1000),
    dlsr: 0,
    lsr: 0,
  };
  const blocks = report.receivedPackets === 0 ? [] : [block];
  return JSON.stringify({
    ssrc: report.sentSsrc,
    type: SENDER_REPORT,
    sender_information: { packets: report.sentPackets, octets: report.sentBytes },
    report_count: blocks.length,
    report_blocks: blocks,
    ...(report.mos === null ? {} : { mos: report.mos }),
    ...(report.rttMs === null ? {} : { rtt: report.rttMs }),
  });
}
