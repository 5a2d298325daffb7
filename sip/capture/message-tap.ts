// Whoever wants a copy of every SIP message that a server gets and sends.
import type { Flow } from '../transport/flow.js';

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
