// How long is waited for what, in milliseconds (RFC 3261, table 4).

export interface SipTimers {
  /** The round trip that is reckoned with. */
  readonly t1: number;
  /** The longest time between two sendings of the same. */
  readonly t2: number;
  /** How long a message may be under way. */
  readonly t4: number;
  /** For a response to a response of the other side: D. */
  readonly d: number;
}

export const SIP_TIMERS: SipTimers = { t1: 500, t2: 4000, t4: 5000, d: 32_000 };

/** B, F, H, J, L, M: how long a transaction may take at most. */
export function lifetime({ t1 }: SipTimers): number {
  return 64 * t1;
}
