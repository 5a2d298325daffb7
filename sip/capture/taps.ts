// Declares what captures receive: a copy of every SIP message, copies of a call's media packets while
// requested, and a quality report at its end.
import type { Flow, Place } from '../transport/flow.js';

export type TapDirection = 'in' | 'out';

export interface MessageTap {
  /**
   * Receives a whole message as sent or received inside TLS. The tap must not change the bytes, block or
   * throw. Keep-alives are not messages. Without `callId` the tap finds the Call-ID itself.
   */
  message(direction: TapDirection, bytes: Buffer, flow: Flow, callId?: string): void;
}

/** Combines several taps into one. */
export function severalTaps(taps: readonly MessageTap[]): MessageTap {
  return {
    message(direction, bytes, flow, callId = callIdIn(bytes)) {
      for (const tap of taps) tap.message(direction, bytes, flow, callId);
    },
  };
}

const HEAD_BYTES = 8192; // only this much is searched for the Call-ID
const CALL_ID = /\n(?:call-id|i)[ \t]*:[ \t]*([^\s]{1,512})/i; // lines may end in LF alone

/** Finds the Call-ID, also of a malformed message; undefined if there is none. */
export function callIdIn(bytes: Buffer): string | undefined {
  return CALL_ID.exec(bytes.toString('latin1', 0, HEAD_BYTES))?.[1];
}

export interface MediaCopy {
  readonly from: Place;
  readonly to: Place;
  /** Time on the media plane's clock. */
  readonly atMs: number;
  readonly packet: Uint8Array;
}

export interface MediaSource {
  /** Starts or stops the copies. */
  tap(on: boolean): void;
  /**
   * Returns the copies since the last call, and how many were lost because copies were not fetched in time.
   */
  takeCopies(): { readonly copies: readonly MediaCopy[]; readonly missed: number };
}

export interface MediaQuality {
  readonly local: Place;
  readonly remote: Place;
  readonly report: MediaReport;
}

export interface CapturedMedia extends MediaSource {
  /** Called once after the last packet, before the state is dropped. */
  onClosing: (() => void) | undefined;
  /** Undefined if no media was agreed on. */
  readonly quality: MediaQuality | undefined;
}

export interface MediaReport {
  /** SSRCs of the sent and of the received stream. */
  readonly sentSsrc: number;
  readonly receivedSsrc: number;
  readonly sentPackets: number;
  readonly sentBytes: number;
  readonly receivedPackets: number;
  readonly lostPackets: number;
  /** Extended sequence number. */
  readonly highestSequence: number;
  readonly jitterMs: number;
  readonly clockRate: number;
  readonly rttMs: number | null;
  /** 1 to 4.5; null if nothing was received. */
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
