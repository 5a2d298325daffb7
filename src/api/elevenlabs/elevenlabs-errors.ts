// Refusals in ElevenLabs' words: {"message", "error", "code"}, where the code is
// the one with which the socket closes, or would close.
import { type ErrorCode, meaningOf, type ParleyError } from '../../errors.js';

export interface Refusal {
  readonly message: string;
  readonly error: string;
  /** Of a WebSocket's close frame. */
  readonly code: number;
}

interface Verdict {
  readonly error: string;
  readonly code: number;
  /** Nothing that follows on this socket could succeed. */
  readonly socket?: true;
  /** The message is for the operator and stays in the log. */
  readonly hidden?: true;
}

const POLICY = 1008;
const INTERNAL = 1011;
const TRY_LATER = 1013;

const VERDICTS: Readonly<Partial<Record<ErrorCode, Verdict>>> = {
  CAPABILITY_MISSING: { error: 'unsupported_feature', code: POLICY },
  ENGINE_BUSY: { error: 'system_busy', code: TRY_LATER },
  ENGINE_LOST: { error: 'service_unavailable', code: TRY_LATER },
  ENGINE_UNAVAILABLE: { error: 'service_unavailable', code: TRY_LATER },
  INVALID_FIELD: { error: 'invalid_request', code: POLICY, socket: true },
  LANGUAGE_UNAVAILABLE: { error: 'unsupported_language', code: POLICY },
  MALFORMED: { error: 'invalid_message', code: POLICY, socket: true },
  MODEL_UNKNOWN: { error: 'model_not_found', code: POLICY, socket: true },
  QUEUE_FULL: { error: 'system_busy', code: POLICY },
  RATE_LIMITED: { error: 'too_many_requests', code: POLICY },
  TEXT_TOO_LONG: { error: 'max_character_limit_exceeded', code: POLICY },
  TIMEOUT: { error: 'timeout', code: POLICY },
  UNAUTHORIZED: { error: 'invalid_api_key', code: POLICY, socket: true },
  VOICE_UNKNOWN: { error: 'voice_not_found', code: POLICY, socket: true },
};
const FAILED: Verdict = { error: 'internal_error', code: INTERNAL, hidden: true };

export interface ErrorRefusal extends Refusal {
  /** The whole socket is refused, not only one of its contexts. */
  readonly socket: boolean;
  /** What happened is not told to the peer. */
  readonly hidden: boolean;
}

export function refusalOf(error: ParleyError, requestId: string): ErrorRefusal {
  const verdict = VERDICTS[error.code] ?? FAILED;
  const hidden = verdict.hidden === true;
  const message = hidden
    ? `${meaningOf(error.code)}; the log has more under request ${requestId}`
    : error.message;
  return { message, error: verdict.error, code: verdict.code, socket: verdict.socket === true, hidden };
}

export function tooManyContexts(most: number): Refusal {
  return {
    message:
      `Maximum simultaneous contexts per WebSocket connection exceeded (${most}). ` +
      'Please close an existing context before opening a new one.',
    error: 'max_active_conversations',
    code: POLICY,
  };
}

export function inactive(ms: number): Refusal {
  return {
    message:
      `Have not received a new text input within the timeout of ${ms / 1000} seconds. Streaming input terminated. ` +
      'Please make sure to either feed the input in the timely manner, or to send the end of input text ' +
      '(empty string "") when done.',
    error: 'input_timeout_exceeded',
    code: POLICY,
  };
}
