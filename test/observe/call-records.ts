// A record of a call that went well, for tests that change a little of it.
import type { CallRecord } from '../../src/call/phone-calls.js';

export function callRecord(changes: Partial<CallRecord> = {}): CallRecord {
  return {
    id: 'call_1',
    protocol: 'sip',
    direction: 'outbound',
    callId: 'a84b4c76e66710@192.0.2.1',
    from: 'sip:+4930123456@trunk.example',
    to: 'sip:+491701234567@trunk.example;user=phone',
    trunk: 'main',
    startedAt: 1_700_000_000_000,
    answeredAt: 1_700_000_002_500,
    endedAt: 1_700_000_012_500,
    end: { reason: 'peer hung up', cause: 16 },
    codec: 'PCMA',
    srtp: 'none',
    setupMs: 2400,
    totalMs: 12_500,
    connectedMs: 10_000,
    firstAudioMs: 35,
    sent: { packets: 500, silencePackets: 200, underruns: 0 },
    received: { packets: 490, loss: 0.02, jitterMs: 1.5, mos: 4.2 },
    remote: { loss: 0, jitterMs: 2, rttMs: null, mos: 4.38 },
    digits: 3,
    ...changes,
  };
}
