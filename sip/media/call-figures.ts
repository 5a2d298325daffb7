// Computes the media figures of a call for its record, and the packet copies and quality reports for
// captures.
import type { CallRecord } from '../../src/call/phone-calls.js';
import { CODECS } from '../../src/codecs/codec.js';
import type { MediaSocket } from '../../src/media/media-socket.js';
import type { SocketStats } from '../../src/media/media-addon.js';
import { mosOf, ratingOf, type RemoteReception, remoteReception } from '../../src/media/quality.js';
import type { MediaQuality, MediaSource } from '../capture/taps.js';
import type { AgreedAudio } from '../sdp/agreed-audio.js';
import type { SentCounts, SentSource } from './outgoing-voice.js';

/** RTP packets of a caller: those that were received, and those that are missing by their numbers. */
export type PacketCounts = Pick<SocketStats, 'received' | 'lost'>;

export type CallFigures = Pick<CallRecord, 'codec' | 'srtp' | 'sent' | 'received' | 'remote'>;

/** Empty if nothing was agreed on. */
export function figuresOf(
  agreed: AgreedAudio | undefined,
  sent: SentCounts,
  stats: SocketStats,
): CallFigures {
  if (agreed === undefined) return {};
  const { received: packets } = stats;
  const loss = stats.expected > 0 ? Math.max(0, stats.lost) / stats.expected : 0;
  const { codec, packetTimeMs: frameMs, keys } = agreed;
  const { jitterMs, rttMs } = stats;
  const mos = mosOf(ratingOf({ codec, frameMs, rttMs, jitterMs, loss }));
  const remote = remoteOf(agreed, sent, stats);
  return {
    codec,
    srtp: keys.kind,
    sent,
    ...(packets === 0 ? {} : { received: { packets, loss, jitterMs, mos } }),
    ...(remote === undefined ? {} : { remote: recordedRemote(remote) }),
  };
}

function recordedRemote({ loss, jitterMs, rttMs, mos }: RemoteReception): NonNullable<CallFigures['remote']> {
  return { loss, jitterMs, rttMs, mos };
}

/** Our sound as the far end reports it; undefined until its first report. */
export function remoteOf(
  { codec, packetTimeMs: frameMs }: AgreedAudio,
  { packets }: SentCounts,
  stats: SocketStats,
): RemoteReception | undefined {
  return remoteReception(stats, { codec, frameMs, packets });
}

/** Copies since the last call; `address` is our local address. */
export function copiesOf(socket: MediaSocket, address: string): ReturnType<MediaSource['takeCopies']> {
  const { packets, missed } = socket.takeTapped();
  const copies = packets.map(({ sent, rtcpPort, atMs, address: host, port, data }) => {
    const local = { address, port: socket.port + (rtcpPort ? 1 : 0) };
    const remote = { address: host, port };
    return { from: sent ? local : remote, to: sent ? remote : local, atMs, packet: data };
  });
  return { copies, missed };
}

export function qualityOf(
  agreed: AgreedAudio,
  socket: MediaSocket,
  address: string,
  sent: SentSource,
  figures: CallFigures,
): MediaQuality {
  const stats = socket.stats();
  return {
    local: { address, port: socket.port },
    remote: { address: stats.address, port: stats.port },
    report: {
      sentSsrc: sent.ssrc,
      sentPackets: figures.sent?.packets ?? 0,
      sentBytes: sent.octets,
      receivedSsrc: stats.ssrc,
      receivedPackets: stats.received,
      lostPackets: stats.lost,
      highestSequence: stats.highestSequence,
      jitterMs: stats.jitterMs,
      clockRate: CODECS[agreed.codec].clockRate,
      rttMs: stats.rttMs,
      mos: figures.received?.mos ?? null,
    },
  };
}
