// Defines the requests of telephone calls, over HTTP and over their sockets: the JSON schema, the type and
// the reader of each body. The readers check what fields mean together; the schemas have checked each field
// before.
import { type Country, TONE_COUNTRIES } from '../../audio/country-tones.js';
import { ANSWER_BOUNDS } from '../../call/answer-detector.js';
import type {
  AnswerRequest,
  CallText,
  DigitsRequest,
  PhoneCallRequest,
  TransferRequest,
} from '../../call/phone-calls.js';
import { INTERRUPTIBLE, type Interruptible } from '../../call/utterance.js';
import { HEARING_BOUNDS, type HearingSettings, SENSITIVITIES } from '../../config/hearing-config.js';
import type { NamedRelays } from '../../config/named-relay.js';
import { ParleyError } from '../../errors.js';
import { tagOfStated } from '../../speaking/language-plan.js';
import type { TextFormat } from '../../speaking/text-source.js';
import { requestLexicon } from '../../speaking/text-reading.js';
import type { JsonSchema } from '../http/json-schema.js';
import {
  INPUT_FORMAT_FIELD,
  LANGUAGE_FIELD,
  LEXICON_FIELD,
  type SpeechFieldLimits,
  textField,
  VOICE_FIELD,
} from '../speech/speech-schema.js';
import { stated } from '../../stated.js';
import { PROGRAM_FIELD, type ProgramFields, readProgramFields, TWIML_FIELD } from './program-field.js';
import { readRelayField, RELAY_FIELD } from './relay-field.js';

export interface SpeechFields {
  readonly text: string;
  readonly input_format?: TextFormat;
  readonly voice?: string | { readonly id: string };
  readonly language?: string;
  readonly lexicon?: readonly object[];
  readonly interruptible?: Interruptible;
}

export interface DetectFields {
  readonly speech_threshold_ms?: number;
  readonly speech_end_threshold_ms?: number;
  readonly silence_timeout_ms?: number;
  /** Seconds. */
  readonly timeout?: number;
  readonly language?: string;
  readonly country?: Country;
  readonly screening?: Omit<SpeechFields, 'interruptible'>;
}

export interface PlaceBody extends ProgramFields {
  readonly to: string;
  readonly from?: string;
  readonly display_name?: string;
  readonly trunk?: string;
  readonly say?: SpeechFields & { readonly after?: 'stay' | 'hangup' };
  readonly agent?: string;
  readonly relay?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly ring_timeout?: number;
  readonly codecs?: NonNullable<PhoneCallRequest['codecs']>;
  readonly detect?: DetectFields;
  readonly idempotency?: string;
}

export interface DtmfBody {
  readonly digits: string;
  readonly duration_ms?: number;
  readonly pause_ms?: number;
  readonly by?: 'rtp' | 'info' | 'audio';
}

/** The sound of a request. */
export interface PlayRequest {
  /** An audio file, or a URL of one; empty with a name. */
  readonly source: string | Uint8Array;
  /** File of SOUNDS_DIR. */
  readonly name?: string | undefined;
  /** The field of the request that has the sound, for errors. */
  readonly field: string;
  readonly times?: number | undefined;
  readonly interruptible?: Interruptible | undefined;
}

export interface PlayBody {
  readonly audio?: string;
  readonly file?: string;
  readonly url?: string;
  readonly times?: number;
  readonly interruptible?: Interruptible;
}

export interface ListenBody {
  readonly on?: boolean;
  readonly silence_ms?: number;
  readonly min_silence_ms?: number;
  readonly max_silence_ms?: number;
  readonly min_speech_ms?: number;
  readonly max_turn_ms?: number;
  readonly no_input_ms?: number;
  readonly resume_ms?: number;
  readonly sensitivity?: HearingSettings['sensitivity'];
  readonly ignore_backchannel?: boolean;
  readonly ignore_distant?: boolean;
}

/** The fields that name who or what talks in a call. */
const TALKERS = ['say', 'agent', 'relay', 'twiml', 'program'] as const;
const ALONE = 'not together with `say`, `agent` or `relay`';
const MAX_HEADERS = 16;
const MAX_HEADER_VALUE = 512; // characters of one value
const MAX_NAME = 64;
const MAX_BYTES = 4096; // all headers together: an INVITE has to fit into a datagram

const TOKEN = /^[A-Za-z0-9.!%*_+`'~-]+$/; // RFC 3261, section 25.1

/** Header fields that requests must not set, because SIP needs them; in lower case. */
const RESERVED: ReadonlySet<string> = new Set(
  `via from to call-id cseq contact route record-route max-forwards
  authorization www-authenticate authentication-info require supported unsupported
  accept accept-encoding allow allow-events expires min-expires session-expires min-se
  rseq rack replaces join target-dialog refer-to referred-by refer-sub event subscription-state
  sip-etag sip-if-match mime-version date timestamp user-agent server warning retry-after reason
  path service-route recv-info info-package identity identity-info`.split(/\s+/),
);
/** Prefixes of further reserved header fields. */
const FAMILIES = ['content-', 'proxy-', 'security-'];

const ONE_LINE = '^[^\\u0000-\\u001f\\u007f]*$';

export const ADDRESS: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 256,
  pattern: '^[^\\s\\u0000-\\u001f\\u007f<>"]+$',
  'x-must-be': 'a SIP or tel URI or a number, of at most 256 characters without spaces',
};

export const NAME: JsonSchema = { type: 'string', minLength: 1, maxLength: 200, pattern: ONE_LINE };

const HEADERS: JsonSchema = {
  type: 'object',
  maxProperties: MAX_HEADERS,
  additionalProperties: {
    type: 'string',
    maxLength: MAX_HEADER_VALUE,
    pattern: ONE_LINE,
    'x-must-be': `one line of at most ${MAX_HEADER_VALUE} characters`,
  },
  description: 'further header fields of the INVITE; those that SIP itself needs cannot be set',
  examples: [{ 'X-Order': '4711' }],
};

export const IDEMPOTENCY_KEY: JsonSchema = {
  type: 'string',
  pattern: '^[\\u0021-\\u007e]{1,255}$',
  description: 'the same as the header Idempotency-Key',
  'x-must-be': 'a key of 1 to 255 characters of ASCII without spaces',
};

export const INTERRUPTIBLE_FIELD: JsonSchema = {
  type: 'string',
  enum: [...INTERRUPTIBLE],
  default: 'none',
  description: 'the input of the caller that interrupts it: none, a key, speech, or either',
};

function speechFields(limits: SpeechFieldLimits): Readonly<Record<string, JsonSchema>> {
  return {
    text: textField(limits),
    input_format: INPUT_FORMAT_FIELD,
    voice: VOICE_FIELD,
    language: LANGUAGE_FIELD,
    lexicon: LEXICON_FIELD,
    interruptible: INTERRUPTIBLE_FIELD,
  };
}

export function sayBody(limits: SpeechFieldLimits): JsonSchema {
  return { type: 'object', required: ['text'], properties: speechFields(limits) };
}

function detectField(limits: SpeechFieldLimits): JsonSchema {
  const { interruptible: _interruptible, ...text } = speechFields(limits);
  const bounded = (setting: keyof typeof ANSWER_BOUNDS, description: string, unit = 1): JsonSchema => {
    const [least, usual, most] = ANSWER_BOUNDS[setting];
    const [minimum, maximum] = [least / unit, most / unit];
    return { type: 'integer', minimum, maximum, default: usual / unit, description };
  };
  return {
    type: 'object',
    description:
      'the server detects who or what answers, and tells it in events `answer.detected`; an empty object takes the usual values',
    examples: [{ screening: { text: 'This is the workshop of Miller. Your car is ready.' } }],
    properties: {
      speech_threshold_ms: bounded(
        'speechThresholdMs',
        "milliseconds of speech that make a greeting a machine's",
      ),
      speech_end_threshold_ms: bounded(
        'speechEndThresholdMs',
        "milliseconds of silence that end a person's greeting",
      ),
      silence_timeout_ms: bounded(
        'silenceTimeoutMs',
        'milliseconds of silence after the answer until `silence`',
      ),
      timeout: bounded('timeoutMs', 'seconds after the answer until the detection ends', 1000),
      language: { ...LANGUAGE_FIELD, description: 'of the greeting, for the recogniser; found where absent' },
      country: {
        type: 'string',
        enum: [...TONE_COUNTRIES],
        default: 'US',
        description: 'of the tones of the network',
      },
      screening: {
        type: 'object',
        required: ['text'],
        properties: text,
        description: 'spoken to a service that asks who is calling; the detection goes on behind it',
      },
    },
  };
}

export function placeBody(limits: SpeechFieldLimits): JsonSchema {
  const after: JsonSchema = {
    type: 'string',
    enum: ['stay', 'hangup'],
    default: 'stay',
    description: 'what happens once the text was heard',
  };
  return {
    type: 'object',
    required: ['to'],
    examples: [{ to: '+491701234567', say: { text: 'Your order has shipped.', after: 'hangup' } }],
    properties: {
      to: { ...ADDRESS, description: "a SIP or tel URI, or a number that the trunk's domain completes" },
      from: { ...ADDRESS, description: 'the caller; that of the trunk where absent' },
      display_name: {
        type: 'string',
        maxLength: 128,
        pattern: ONE_LINE,
        'x-must-be': 'one line of at most 128 characters',
      },
      trunk: { ...NAME, description: 'a configured trunk; the first that works where absent' },
      say: {
        type: 'object',
        required: ['text'],
        properties: { ...speechFields(limits), after },
        description: 'spoken as soon as the call is answered',
      },
      agent: { ...NAME, description: 'the agent that talks; not together with `say`' },
      relay: RELAY_FIELD,
      twiml: { ...TWIML_FIELD, description: `${TWIML_FIELD.description}; ${ALONE}` },
      program: { ...PROGRAM_FIELD, description: `${PROGRAM_FIELD.description}; ${ALONE}` },
      headers: HEADERS,
      ring_timeout: { type: 'number', minimum: 1, maximum: 180, default: 60, description: 'seconds' },
      codecs: {
        type: 'array',
        minItems: 1,
        maxItems: 4,
        items: { type: 'string', enum: ['PCMU', 'PCMA', 'G722', 'opus'] },
        description: 'preferred first',
      },
      detect: detectField(limits),
      idempotency: IDEMPOTENCY_KEY,
    },
  };
}

export const DTMF_BODY: JsonSchema = {
  type: 'object',
  required: ['digits'],
  properties: {
    digits: {
      type: 'string',
      pattern: '^[0-9*#A-Da-d,]{1,64}$',
      description: '`,` waits half a second',
      examples: ['1#'],
      'x-must-be': '1 to 64 of 0-9, *, #, A-D and ","',
    },
    duration_ms: { type: 'integer', minimum: 40, maximum: 5000, description: 'of one digit' },
    pause_ms: { type: 'integer', minimum: 40, maximum: 5000, description: 'between two' },
    by: {
      type: 'string',
      enum: ['rtp', 'info', 'audio'],
      description:
        'RFC 4733 where the far end takes it, INFO otherwise, and tones in the sound where it refuses both, where absent',
    },
  },
};

export const TRANSFER_BODY: JsonSchema = {
  type: 'object',
  properties: {
    to: { ...ADDRESS, description: 'blind: where to' },
    call: { ...NAME, description: 'attended: another connected call of this server' },
  },
};

export const TIMES: JsonSchema = { type: 'integer', minimum: 1, maximum: 100, default: 1 };
const URL_FIELD: JsonSchema = {
  type: 'string',
  maxLength: 2048,
  pattern: '^[hH][tT][tT][pP][sS]?://',
  description: 'of a file, where the server fetches any (REFERENCE_URLS)',
  examples: ['https://example.org/greeting.wav'],
  'x-must-be': 'an http(s) URL of at most 2048 characters',
};

const FILE_FIELD: JsonSchema = {
  type: 'string',
  pattern: '^[^/\\\\\\0]{1,100}$',
  description: 'the name of a file in SOUNDS_DIR',
  examples: ['hold.wav'],
  'x-must-be': 'the name of a file, without a path',
};

export const PLAY_BODY: JsonSchema = {
  type: 'object',
  properties: {
    file: FILE_FIELD,
    audio: {
      type: 'string',
      minLength: 1,
      description: 'a file in base64, bare or as a data: URL',
      examples: ['UklGRiQ='],
    },
    url: URL_FIELD,
    times: TIMES,
    interruptible: INTERRUPTIBLE_FIELD,
  },
};

/** The socket message: it takes a URL or a name only, because messages must stay small. */
export const PLAY_MESSAGE: JsonSchema = {
  type: 'object',
  properties: { url: URL_FIELD, file: FILE_FIELD, times: TIMES, interruptible: INTERRUPTIBLE_FIELD },
};

/** The form fields besides `file`. */
export const PLAY_FORM: JsonSchema = {
  type: 'object',
  properties: { times: TIMES, interruptible: INTERRUPTIBLE_FIELD },
};

function milliseconds(setting: keyof typeof HEARING_BOUNDS, description: string): JsonSchema {
  const [minimum, maximum] = HEARING_BOUNDS[setting];
  return { type: 'integer', minimum, maximum, description: `milliseconds ${description}` };
}

export const LISTEN_BODY: JsonSchema = {
  type: 'object',
  properties: {
    on: { type: 'boolean', default: true, description: 'false ends it' },
    silence_ms: milliseconds('silenceMs', 'of silence that end a turn'),
    min_silence_ms: milliseconds('minSilenceMs', 'of silence that suffice after a complete sentence'),
    max_silence_ms: milliseconds('maxSilenceMs', 'of silence that suffice after an unfinished one'),
    min_speech_ms: milliseconds('minSpeechMs', 'of speech that a turn or an interruption must have'),
    max_turn_ms: milliseconds('maxTurnMs', 'after which a turn ends; 0: no limit'),
    no_input_ms: milliseconds(
      'noInputMs',
      'without speech, after what is spoken now, until the event `no_input`; 0: none',
    ),
    resume_ms: milliseconds('resumeMs', 'after which the paused voice goes on if there was no speech'),
    sensitivity: { type: 'string', enum: [...SENSITIVITIES], description: 'how little sound is speech' },
    ignore_backchannel: {
      type: 'boolean',
      description: 'words such as "mhm" and a short sound without words do not interrupt',
    },
    ignore_distant: {
      type: 'boolean',
      description: "a voice 10 dB weaker than the caller's does not interrupt",
    },
  },
};

/** Undefined ends it. */
export function readListen(body: ListenBody): Partial<HearingSettings> | undefined {
  if (body.on === false) return undefined;
  return stated({
    silenceMs: body.silence_ms,
    minSilenceMs: body.min_silence_ms,
    maxSilenceMs: body.max_silence_ms,
    minSpeechMs: body.min_speech_ms,
    maxTurnMs: body.max_turn_ms,
    noInputMs: body.no_input_ms,
    resumeMs: body.resume_ms,
    sensitivity: body.sensitivity,
    ignoreBackchannel: body.ignore_backchannel,
    ignoreDistant: body.ignore_distant,
  });
}

/** `relays`: the applications that a request may name. Throws INVALID_FIELD. */
export function readPlaceBody(body: PlaceBody, relays: NamedRelays): PhoneCallRequest {
  const { to, from, display_name: displayName, trunk, say, agent, headers, ring_timeout } = body;
  const { codecs, detect } = body;
  checkTalker(body);
  if (headers !== undefined) checkHeaders(headers);
  if (codecs !== undefined && new Set(codecs).size < codecs.length) {
    throw invalid('codecs', '"codecs" must name each codec once');
  }
  return {
    to,
    ...stated({
      from,
      displayName: displayName === '' ? undefined : displayName,
      trunk,
      say: say && { ...readSpeech(say), ...stated({ after: say.after }) },
      agent,
      relay: body.relay && readRelayField(body.relay, relays),
      program: readProgramFields(body),
      headers,
      ringTimeoutMs: ring_timeout === undefined ? undefined : Math.round(ring_timeout * 1000),
      codecs,
      detect: detect && readDetect(detect),
    }),
  };
}

function readDetect(fields: DetectFields): AnswerRequest {
  const { timeout, language, country, screening } = fields;
  return stated({
    speechThresholdMs: fields.speech_threshold_ms,
    speechEndThresholdMs: fields.speech_end_threshold_ms,
    silenceTimeoutMs: fields.silence_timeout_ms,
    timeoutMs: timeout === undefined ? undefined : timeout * 1000,
    language: language === undefined ? undefined : tagOfStated(language),
    country,
    screening: screening && readSpeech(screening),
  });
}

/** Throws INVALID_FIELD if more than one of them is to talk. */
function checkTalker(body: PlaceBody): void {
  const [first, second] = TALKERS.filter((name) => body[name] !== undefined);
  if (first !== undefined && second !== undefined)
    throw invalid(second, `"${second}" must be absent where there is "${first}"`);
}

/** Throws INVALID_FIELD. */
export function readSpeech(fields: SpeechFields): CallText {
  const { text, input_format: format, voice, language, lexicon, interruptible } = fields;
  return {
    text,
    ...stated({
      format,
      voice: typeof voice === 'object' ? voice.id : voice,
      language: language === undefined ? undefined : tagOfStated(language),
      lexicon: lexicon && requestLexicon(lexicon),
      interruptible,
    }),
  };
}

export function readDigits({ digits, duration_ms, pause_ms, by }: DtmfBody): DigitsRequest {
  const timing = stated({ durationMs: duration_ms, pauseMs: pause_ms, by });
  return { digits: digits.toUpperCase(), ...timing };
}

/** Throws INVALID_FIELD. */
export function readTransfer({ to, call }: TransferRequest): TransferRequest {
  if ((to === undefined) === (call === undefined)) {
    throw invalid('to', 'either "to" or "call" must be there: where a call is transferred to');
  }
  return stated({ to, call });
}

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** Throws INVALID_FIELD. */
export function readPlayBody({ audio, url, file, times, interruptible }: PlayBody): PlayRequest {
  if (file !== undefined) {
    if (audio !== undefined || url !== undefined)
      throw invalid('file', '"file" must be absent where there is "audio" or "url"');
    return { source: '', name: file, field: 'file', times, interruptible };
  }
  if (url !== undefined) {
    if (audio !== undefined) throw invalid('url', '"url" must be absent where there is "audio"');
    return { source: url, field: 'url', times, interruptible };
  }
  if (audio === undefined)
    throw invalid('audio', '"audio" must be a file in base64, "url" its address, or "file" the name of one');
  if (/^data:/i.test(audio)) return { source: audio, field: 'audio', times, interruptible };
  if (!BASE64.test(audio)) {
    throw invalid(
      'audio',
      '"audio" must be a file in base64, bare or as a data: URL; an address goes into "url"',
    );
  }
  return { source: Buffer.from(audio, 'base64'), field: 'audio', times, interruptible };
}

/** A message of the socket. Throws INVALID_FIELD. */
export function readPlayMessage({ audio: _none, ...body }: PlayBody): PlayRequest {
  if (body.url === undefined && body.file === undefined)
    throw invalid('url', '"url" must be the address of a file, or "file" the name of one');
  return readPlayBody(body);
}

/** Throws INVALID_FIELD for a reserved or invalid name, and if all headers together are too long. */
function checkHeaders(headers: Readonly<Record<string, string>>): void {
  const seen = new Set<string>();
  let bytes = 0;
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (name.length > MAX_NAME || !TOKEN.test(name))
      throw headerRefusal(name, 'is no name of a header field');
    // One letter is the short form of a longer name (RFC 3261, section 7.3.3).
    if (lower.length === 1 || RESERVED.has(lower) || FAMILIES.some((family) => lower.startsWith(family))) {
      throw headerRefusal(name, 'cannot be set: SIP itself needs it');
    }
    if (seen.has(lower)) throw headerRefusal(name, 'is there twice');
    seen.add(lower);
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
  }
  if (bytes > MAX_BYTES) {
    throw new ParleyError('INVALID_FIELD', `"headers" may have ${MAX_BYTES} bytes together`, {
      field: 'headers',
    });
  }
}

function headerRefusal(name: string, what: string): ParleyError {
  const shown = name.slice(0, MAX_NAME).replace(/[^\x20-\x7e]/g, '?');
  return new ParleyError('INVALID_FIELD', `"headers.${shown}" ${what}`, { field: `headers.${shown}` });
}

function invalid(field: string, message: string): ParleyError {
  return new ParleyError('INVALID_FIELD', message, { field });
}
