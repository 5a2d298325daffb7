// Defines what the dialects of live transcription share: their parts, and the fields that several of them
// have.
import { HEARING_BOUNDS, SENSITIVITIES } from '../../config/hearing-config.js';
import type { RecognisedText } from '../../engines/recogniser.js';
import { ParleyError } from '../../errors.js';
import type { LiveTranscriber } from '../../transcribing/live-transcriber.js';
import { CONTEXT_LIMITS, NO_RECOGNISER } from '../../transcribing/transcriber.js';
import type { Time } from '../../time.js';
import type { ReportFailure } from '../http/error-reply.js';
import { choiceIn, type Fields, invalid, wholeIn } from '../http/message-fields.js';

export interface LiveSocketParts {
  /** Undefined if the server recognises no speech. */
  readonly live: LiveTranscriber | undefined;
  /** Throws MODEL_UNKNOWN if a client must not use this model name. */
  readonly checkModel: (name: string | undefined) => void;
  readonly time: Time;
  /** Called for every failure that is not the peer's fault. */
  readonly failed: ReportFailure;
  /** Reports a final text, and the milliseconds from the end of its turn to it. */
  readonly finalText: (requestId: string, text: RecognisedText, ms: number) => void;
}

/** Close code of a transcription that failed. */
export const FAILED_CLOSE = 1011;

/** Throws CAPABILITY_MISSING. */
export function liveTranscriberOf({ live }: LiveSocketParts): LiveTranscriber {
  if (live !== undefined) return live;
  throw new ParleyError('CAPABILITY_MISSING', NO_RECOGNISER);
}

/** The background of the speech, of `prompt` and `keywords`. Throws INVALID_FIELD. */
export function contextIn(fields: Fields): string | undefined {
  const { prompt = '', keywords = [] } = fields;
  if (typeof prompt !== 'string' || prompt.length > CONTEXT_LIMITS.prompt)
    throw invalid('prompt', `must be a string of at most ${CONTEXT_LIMITS.prompt} characters`);
  const isWord = (word: unknown) => typeof word === 'string' && word.length <= CONTEXT_LIMITS.keyword;
  if (!Array.isArray(keywords) || keywords.length > CONTEXT_LIMITS.keywords || !keywords.every(isWord)) {
    const limits = `at most ${CONTEXT_LIMITS.keywords} strings of at most ${CONTEXT_LIMITS.keyword} characters each`;
    throw invalid('keywords', `must be a list of ${limits}`);
  }
  const parts = [prompt.trim(), keywords.join(', ')].filter((part) => part !== '');
  return parts.length === 0 ? undefined : parts.join('\n');
}

/** The settings by which turns are found. Throws INVALID_FIELD. */
export function turnsIn(fields: Fields) {
  const silenceMs = wholeIn(fields, 'silence_ms', ...HEARING_BOUNDS.silenceMs);
  const maxTurnMs = wholeIn(fields, 'max_turn_ms', ...HEARING_BOUNDS.maxTurnMs);
  const sensitivity = choiceIn(fields, 'sensitivity', SENSITIVITIES);
  return {
    ...(silenceMs === undefined ? {} : { silenceMs }),
    ...(maxTurnMs === undefined ? {} : { maxTurnMs }),
    ...(sensitivity === undefined ? {} : { sensitivity }),
  };
}
