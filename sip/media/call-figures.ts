// What is known of a call's media at its end, or in its middle: figures of the
// call's record.
import type { CallRecord } from '../../src/call/phone-calls.js';
import { mosOf, ratingOf } from '../../src/media/call-quality.js';
import type { SocketStats } from '../../src/media/socket-addon.js';
import type { AgreedAudio } from '../sdp/agreed-audio.js';
import type { SentCounts } from './outgoing-voice.js';

export type CallFigures = Pick<CallRecord, 'codec' | 'srtp' | 'sent' | 'received' | 'remote'>;

/** Undefined where nothing was agreed on. */
export function figuresOf(
  agreed: AgreedAudio | undefined,
  sent: SentCounts,
  heard: SocketStats,
): CallFigures {
  if (agreed === undefined) return {};
  const { received: packets } = heard;
  const loss = heard.expected > 0 ? Math.max(0, heard.lost) / heard.expected : 0;
  const { codec, packetTimeMs: frameMs, keys } = agreed;
  const { jitterMs, rttMs } = heard;
  const mos = mosOf(ratingOf({ codec, frameMs, rttMs, jitterMs, loss }));
  const remoteLoss = sent.packets > 0 ? Math.min(1, Math.max(0, heard.remoteLost) / sent.packets) : 0;
  return {
    codec,
    srtp: keys.kind,
    sent,
    ...(packets === 0 ? {} : { received: { packets, loss, jitterMs, mos } }),
    ...(heard.remoteReports === 0 ? {} : { remote: { loss: remoteLoss, jitterMs: heard.remoteJitterMs, rttMs } }),
  }; // prettier-ignore
}
