// What captures are given of a leg: its packets with both ends, and how they
// fared.
import type { MediaQuality, MediaSource } from '../capture/media-source.js';
import { CODECS } from '../../src/codecs/codec.js';
import type { MediaSocket } from '../../src/media/media-socket.js';
import type { AgreedAudio } from '../sdp/agreed-audio.js';
import type { CallFigures } from './call-figures.js';
import type { SentSource } from './outgoing-voice.js';

/** Since the last time; `address` is ours. */
export function copiesOf(socket: MediaSocket, address: string): ReturnType<MediaSource['takeCopies']> {
  const { packets, missed } = socket.takeTapped();
  const copies = packets.map(({ sent, rtcpPort, atMs, address: host, port, data }) => {
    const local = { address, port: socket.port + (rtcpPort ? 1 : 0) };
    const remote = { address: host, port };
    return { from: sent ? local : remote, to: sent ? remote : local, atMs, packet: data };
  });
  return { copies, missed };
}

export function qualityOf(agreed: AgreedAudio, socket: MediaSocket, address: string, sent: SentSource, figures: CallFigures): MediaQuality {
  const heard = socket.stats();
  return {
    local: { address, port: socket.port },
    remote: { address: heard.address, port: heard.port },
    report: {
      sentSsrc: sent.ssrc,
      sentPackets: figures.sent?.packets ?? 0,
      sentBytes: sent.octets,
      receivedSsrc: heard.ssrc,
      receivedPackets: heard.received,
      lostPackets: heard.lost,
      highestSequence: heard.highestSequence,
      jitterMs: heard.jitterMs,
      clockRate: CODECS[agreed.codec].clockRate,
      rttMs: heard.rttMs,
      mos: figures.received?.mos ?? null,
    },
  };
} // prettier-ignore
