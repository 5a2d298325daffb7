// How many transactions are kept, and what is answered above that.

export interface TransactionLimits {
  /** Server transactions, over and lingering ones too: 400 calls a second leave some 26,000 lingering over UDP. */
  readonly server: number;
  /** INVITEs that wait for a final response. */
  readonly pendingInvites: number;
  readonly client: number;
  /** Seconds for Retry-After: from this many to twice as many, so that not all come back at once. */
  readonly retryAfterSeconds: number;
}

export const TRANSACTION_LIMITS: TransactionLimits = {
  server: 60_000,
  pendingInvites: 5000,
  client: 60_000,
  retryAfterSeconds: 5,
};

/** What the layer met that came to nothing, for metrics. Names are stable. */
export type TransactionCount =
  | 'requests'
  | 'responses'
  | 'retransmissions' // requests that came again and were absorbed
  | 'malformed' // answered 400 or the like without a transaction
  | 'not-sip'
  | 'bad-response'
  | 'bad-ack'
  | 'unanswerable'
  | 'not-admitted'
  | 'overload' // answered 503
  | 'failed' // met a defect of ours
  | 'stray-responses';
