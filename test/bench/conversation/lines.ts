// The lines over which scripted callers talk.
import type { Impairment } from '../../fakes/impaired-relay.js';
import type { BenchConversationServer } from './bench-conversation-server.js';
import { type Line, Network } from './line.js';
import { SipLine } from './sip-line.js';
import { WebRtcLine } from './webrtc-line.js';

export interface LineKind {
  readonly name: string;
  readonly over: 'SIP' | 'WebRTC';
  readonly impairment: Impairment;
}

export const LINES: readonly LineKind[] = [
  { name: 'G.711', over: 'SIP', impairment: {} },
  { name: 'Opus', over: 'WebRTC', impairment: {} },
  { name: 'Opus, 3 % lost', over: 'WebRTC', impairment: { lossShare: 0.03 } },
  { name: 'G.711, 60 ms jitter', over: 'SIP', impairment: { jitterMs: 60 } },
];

export function openLine(
  { over, impairment }: LineKind,
  { sip, url }: Pick<BenchConversationServer, 'sip' | 'url'>,
  number: string,
  seed: number,
): Promise<Line> {
  const network = new Network(impairment, seed);
  return over === 'SIP' ? SipLine.open(sip, number, network) : WebRtcLine.open(url, number, network);
}
