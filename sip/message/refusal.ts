// An answer to a request that is not let in: a value, for whoever sends it.
import type { HeaderFields } from './header-fields.js';
import type { Via } from './via.js';

/** As much of a request as its response repeats. A SipRequest is one. */
export interface Answerable {
  readonly via: Via;
  readonly fields: HeaderFields;
}

export interface Refusal {
  readonly status: number;
  readonly reason: string;
  /** Further header fields of the response, such as Allow or Unsupported. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

export function refusal(status: number, reason: string, headers: Refusal['headers'] = []): Refusal {
  return { status, reason, headers };
}
