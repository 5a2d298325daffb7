// What a peer is told of an error. Its code is that of HTTP's error object; what
// is for the operator only stays in the log.
import { asParleyError, type ErrorCode, meaningOf, type ParleyError } from '../../errors.js';

const HIDDEN: ReadonlySet<ErrorCode> = new Set([
  'ADDON_MISSING',
  'CONFIG_INVALID',
  'ENCODER_FAILED',
  'ENGINE_FAILED',
  'WRONG_STATE',
]);

const CODES: Readonly<Partial<Record<ErrorCode, string>>> = {
  INVALID_FIELD: 'invalid_value',
  MODEL_UNKNOWN: 'model_not_found',
};

export interface ToldError {
  readonly code: string;
  readonly message: string;
  readonly field: string | undefined;
}

export type FailureNote = (error: ParleyError, requestId: string) => void;

/** `note` is called with what is not the peer's fault. */
export function toldError(error: unknown, requestId: string, note: FailureNote): ToldError {
  const known = asParleyError(error, 'WRONG_STATE');
  const code = CODES[known.code] ?? known.code.toLowerCase();
  if (!HIDDEN.has(known.code)) return { code, message: known.message, field: known.field };
  note(known, requestId);
  const message = `${meaningOf(known.code)}; the log has more under request ${requestId}`;
  return { code, message, field: undefined };
}
