// Bodies of requests about telephone calls, as their schemas let them through,
// as the calls have them. What fields mean together is checked here.
import type {
  DigitsRequest,
  PhoneCallRequest,
  PhoneSpeech,
  TransferRequest,
} from '../../call/phone-calls.js';
import { tagOfStated } from '../../speaking/language-plan.js';
import type { TextFormat } from '../../speaking/text-source.js';
import { requestLexicon } from '../../speaking/text-reading.js';
import { ParleyError } from '../../errors.js';
import { checkHeaders } from './sip-header-names.js';

export interface SpeechFields {
  readonly text: string;
  readonly input_format?: TextFormat;
  readonly voice?: string | { readonly id: string };
  readonly language?: string;
  readonly lexicon?: readonly object[];
}

export interface PlaceBody {
  readonly to: string;
  readonly from?: string;
  readonly display_name?: string;
  readonly trunk?: string;
  readonly say?: SpeechFields & { readonly after?: 'stay' | 'hangup' };
  readonly agent?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly ring_timeout?: number;
  readonly codecs?: NonNullable<PhoneCallRequest['codecs']>;
  readonly idempotency?: string;
}

export interface DtmfBody {
  readonly digits: string;
  readonly duration_ms?: number;
  readonly pause_ms?: number;
  readonly by?: 'rtp' | 'info';
}

/** Throws INVALID_FIELD. */
export function readPlaceBody(body: PlaceBody): PhoneCallRequest {
  const { to, from, display_name: displayName, trunk, say, agent, headers, ring_timeout, codecs } = body;
  if (say !== undefined && agent !== undefined) {
    throw invalid('agent', '"agent" must be absent where there is "say"');
  }
  if (headers !== undefined) checkHeaders(headers);
  if (codecs !== undefined && new Set(codecs).size < codecs.length) {
    throw invalid('codecs', '"codecs" must name each codec once');
  }
  return {
    to,
    ...(from === undefined ? {} : { from }),
    ...(displayName === undefined || displayName === '' ? {} : { displayName }),
    ...(trunk === undefined ? {} : { trunk }),
    ...(say === undefined ? {} : { say: { ...readSpeech(say), ...afterOf(say) } }),
    ...(agent === undefined ? {} : { agent }),
    ...(headers === undefined ? {} : { headers }),
    ...(ring_timeout === undefined ? {} : { ringTimeoutMs: Math.round(ring_timeout * 1000) }),
    ...(codecs === undefined ? {} : { codecs }),
  };
}

/** Throws INVALID_FIELD. */
export function readSpeech(fields: SpeechFields): PhoneSpeech {
  const { text, input_format: format, voice: named, language: stated, lexicon } = fields;
  const voice = typeof named === 'object' ? named.id : named;
  const language = stated === undefined ? undefined : tagOfStated(stated);
  return {
    text,
    ...(format === undefined ? {} : { format }),
    ...(voice === undefined ? {} : { voice }),
    ...(language === undefined ? {} : { language }),
    ...(lexicon === undefined ? {} : { lexicon: requestLexicon(lexicon) }),
  };
}

export function readDigits({ digits, duration_ms, pause_ms, by }: DtmfBody): DigitsRequest {
  return {
    digits: digits.toUpperCase(),
    ...(duration_ms === undefined ? {} : { durationMs: duration_ms }),
    ...(pause_ms === undefined ? {} : { pauseMs: pause_ms }),
    ...(by === undefined ? {} : { by }),
  };
}

/** Throws INVALID_FIELD. */
export function readTransfer({ to, call }: TransferRequest): TransferRequest {
  if ((to === undefined) === (call === undefined)) {
    throw invalid('to', 'either "to" or "call" must be there: where a call is transferred to');
  }
  if (to !== undefined) return { to };
  return call === undefined ? {} : { call };
}

function afterOf({ after }: NonNullable<PlaceBody['say']>) {
  return after === undefined ? {} : { after };
}

function invalid(field: string, message: string): ParleyError {
  return new ParleyError('INVALID_FIELD', message, { field });
}
