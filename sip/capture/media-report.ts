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
