// The telephone door, as far as HTTP needs it, and what its failures mean here.
import type { PhoneCalls } from '../../call/phone-calls.js';
import type { PlayedSound } from '../../speaking/line-piece.js';
import { ParleyError } from '../../errors.js';
import { type FieldNames, renamed } from '../openai/field-names.js';

/** Files of sound made into samples. */
export interface SoundReader {
  /**
   * Of the file itself, or of a data: or http(s) URL of it. Rejects with INVALID_FIELD, AUDIO_INVALID, TOO_LARGE,
   * QUEUE_FULL or ABORTED, naming the field.
   */
  read(source: string | Uint8Array, field: string, signal: AbortSignal): Promise<PlayedSound>;
}

export interface PhoneDoor {
  readonly calls: PhoneCalls;
  readonly sounds: SoundReader;
}

/** The variables that may have closed it. */
const SWITCH = 'SIP_ENABLED=1, with a free SIP_PORT,';

export function telephoneOff(): ParleyError {
  return new ParleyError('TELEPHONE_OFF', `this server has no telephone door; ${SWITCH} opens one`);
}

/** By the name that the contract of calls has for a field, that of a request. */
const NAMES: FieldNames = {
  displayName: 'display_name',
  ringTimeoutMs: 'ring_timeout',
  durationMs: 'duration_ms',
  pauseMs: 'pause_ms',
};

/**
 * What a call threw, as whoever asked is told. Whoever asks a call for what its state forbids is wrong, and not the
 * server; nor will the call be able to later, once it is over.
 */
export function phoneFailure(error: unknown, names: FieldNames = {}): unknown {
  if (error instanceof ParleyError && (error.code === 'WRONG_STATE' || error.code === 'CALL_CLOSED')) {
    return new ParleyError('CALL_STATE', error.message, { cause: error });
  }
  return renamed(error, { ...NAMES, ...names });
}
