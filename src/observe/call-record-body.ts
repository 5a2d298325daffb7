// A record of a telephone call as it is sent to an application: in the words
// and units of the HTTP interface.
import type { CallRecord } from '../call/phone-calls.js';

export const CALL_ENDED = 'call.ended';

/** What is not known is left out; times are Unix seconds. */
export function callRecordBody(record: CallRecord) {
  const { id, door, direction, callId, from, to, headers, trunk, route, startedAt, answeredAt, endedAt } =
    record;
  const { end, codec, srtp, setupMs, firstAudioMs, digits, transferredTo } = record;
  return {
    event: CALL_ENDED,
    created_at: endedAt / 1000,
    call: {
      object: 'call.record',
      id,
      door,
      direction,
      sip_call_id: callId,
      from,
      to,
      headers,
      trunk,
      route,
      created_at: startedAt / 1000,
      answered_at: answeredAt === undefined ? undefined : answeredAt / 1000,
      ended_at: endedAt / 1000,
      end,
      codec,
      srtp,
      setup_ms: setupMs,
      first_audio_ms: firstAudioMs,
      ...mediaOf(record),
      digit_count: digits,
      transferred_to: transferredTo,
    },
  };
}

function mediaOf({ sent, received, remote }: CallRecord) {
  return {
    sent: sent && {
      packets: sent.packets,
      silence_packets: sent.silencePackets,
      underruns: sent.underruns,
    },
    received: received && {
      packets: received.packets,
      loss: received.loss,
      jitter_ms: received.jitterMs,
      mos: received.mos,
    },
    remote: remote && { loss: remote.loss, jitter_ms: remote.jitterMs, rtt_ms: remote.rttMs },
  };
}
