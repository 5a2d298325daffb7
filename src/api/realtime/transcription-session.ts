// Reads and writes the session object of OpenAI's realtime transcription, in its present form and in that of
// the beta.
import { HEARING_BOUNDS, type HearingSettings } from '../../config/hearing-config.js';
import { LIVE_RATES, type SoundEncoding } from '../../transcribing/live-sound.js';
import { CONTEXT_LIMITS } from '../../transcribing/transcriber.js';
import { type Fields, flagIn, invalid, wholeIn } from '../http/message-fields.js';

export interface RealtimeSession {
  readonly encoding: SoundEncoding;
  readonly rate: number;
  readonly model: string | undefined;
  /** The client's own name of it. */
  readonly language: string | undefined;
  readonly prompt: string | undefined;
  /** Texts are written with figures; undefined: the server's default. */
  readonly smartFormat: boolean | undefined;
  /** Undefined: the client commits each turn. */
  readonly turns: Partial<HearingSettings> | undefined;
}

const PCM_RATE = 24_000; // where a client names none
const TELEPHONE_RATE = 8000;
const SILENCE_MS = 500; // OpenAI's silence_duration_ms
const MOST_NAME = 200; // characters

export const USUAL_SESSION: RealtimeSession = {
  encoding: 'pcm_s16le',
  rate: PCM_RATE,
  model: undefined,
  language: undefined,
  prompt: undefined,
  smartFormat: undefined,
  turns: { silenceMs: SILENCE_MS },
};

/** The session after an update. Fields that it does not name stay as they are. Throws INVALID_FIELD. */
export function readSession(message: Fields, before: RealtimeSession, isBeta: boolean): RealtimeSession {
  const session = objectIn(message, 'session') ?? {};
  if (!isBeta && session['type'] !== undefined && session['type'] !== 'transcription')
    throw invalid('session.type', 'must be "transcription"');
  const input = isBeta ? session : (objectIn(objectIn(session, 'audio') ?? {}, 'input') ?? {});
  const format = (isBeta ? input['input_audio_format'] : input['format']) ?? undefined;
  const transcription = objectIn(input, isBeta ? 'input_audio_transcription' : 'transcription');
  return {
    ...before,
    ...(format === undefined ? {} : readFormat(format, isBeta)),
    ...(transcription === undefined ? {} : readTranscription(transcription)),
    ...('turn_detection' in input ? { turns: readTurns(input['turn_detection']) } : {}),
  };
}

function objectIn(fields: Fields, name: string): Fields | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'object' && !Array.isArray(value)) return value as Fields;
  throw invalid(name, 'must be an object');
}

const BETA_FORMATS: Readonly<Record<string, Pick<RealtimeSession, 'encoding' | 'rate'>>> = {
  pcm16: { encoding: 'pcm_s16le', rate: PCM_RATE },
  g711_ulaw: { encoding: 'mulaw', rate: TELEPHONE_RATE },
  g711_alaw: { encoding: 'alaw', rate: TELEPHONE_RATE },
};

function readFormat(format: unknown, isBeta: boolean): Pick<RealtimeSession, 'encoding' | 'rate'> {
  if (isBeta) {
    const known = typeof format === 'string' ? BETA_FORMATS[format] : undefined;
    if (known !== undefined) return known;
    throw invalid('input_audio_format', 'must be one of "pcm16", "g711_ulaw", "g711_alaw"');
  }
  const fields = objectIn({ format }, 'format') ?? {};
  switch (fields['type']) {
    case 'audio/pcm':
      return { encoding: 'pcm_s16le', rate: wholeIn(fields, 'rate', ...LIVE_RATES) ?? PCM_RATE };
    case 'audio/pcmu':
      return { encoding: 'mulaw', rate: TELEPHONE_RATE };
    case 'audio/pcma':
      return { encoding: 'alaw', rate: TELEPHONE_RATE };
    default:
      throw invalid('format.type', 'must be one of "audio/pcm", "audio/pcmu", "audio/pcma"');
  }
}

function readTranscription(
  fields: Fields,
): Pick<RealtimeSession, 'model' | 'language' | 'prompt' | 'smartFormat'> {
  const text = (name: string, most: number) => {
    const value = fields[name] ?? undefined;
    if (value === undefined || value === '') return undefined;
    if (typeof value === 'string' && value.length <= most) return value;
    throw invalid(`transcription.${name}`, `must be a string of at most ${most} characters`);
  };
  return {
    model: text('model', MOST_NAME),
    language: text('language', MOST_NAME),
    prompt: text('prompt', CONTEXT_LIMITS.prompt),
    smartFormat: flagIn(fields, 'smart_format'),
  };
}

/** `threshold` and `prefix_padding_ms` belong to another detector; `eagerness` has no silence of its own. */
function readTurns(turns: unknown): Partial<HearingSettings> | undefined {
  if (turns === null) return undefined;
  const fields = objectIn({ turn_detection: turns }, 'turn_detection') ?? {};
  if (fields['type'] === 'semantic_vad') return {};
  if (fields['type'] !== 'server_vad')
    throw invalid('turn_detection.type', 'must be "server_vad" or "semantic_vad", or turn_detection null');
  const { silence_duration_ms: silence } = fields;
  const stated = silence === null ? {} : { silence_duration_ms: silence };
  const silenceMs = wholeIn(stated, 'silence_duration_ms', ...HEARING_BOUNDS.silenceMs);
  return { silenceMs: silenceMs ?? SILENCE_MS };
}

const TYPES: Readonly<Record<SoundEncoding, string>> = {
  pcm_s16le: 'audio/pcm',
  mulaw: 'audio/pcmu',
  alaw: 'audio/pcma',
  opus: 'audio/opus',
};

/** The session in the words of the present API. */
export function sessionObject(id: string, session: RealtimeSession): object {
  const { encoding, rate, model = null, language = null, prompt = null, turns, smartFormat } = session;
  const written = smartFormat === undefined ? {} : { smart_format: smartFormat };
  const turnDetection =
    turns === undefined
      ? null
      : turns.silenceMs === undefined
        ? { type: 'semantic_vad' }
        : { type: 'server_vad', silence_duration_ms: turns.silenceMs };
  return {
    id,
    object: 'realtime.transcription_session',
    type: 'transcription',
    audio: {
      input: {
        format: encoding === 'pcm_s16le' ? { type: TYPES[encoding], rate } : { type: TYPES[encoding] },
        transcription: { model, language, prompt, ...written },
        noise_reduction: null,
        turn_detection: turnDetection,
      },
    },
    include: null,
  };
}
