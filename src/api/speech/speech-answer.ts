// Answers a SpeechRequest over HTTP: from the cache or made now; as sound, streamed or whole, or as events.
// Before that it fits the request to the engine that will speak: it makes the voice that comes with the
// request, and takes out the options that the engine cannot heed.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SpeechOptions, VoiceReference } from '../../engines/engine.js';
import { isAborted, ParleyError } from '../../errors.js';
import type { Log } from '../../log.js';
import type { HttpMetrics } from '../http/http-metrics.js';
import { AUDIO_FORMATS, type AudioFormat } from '../../speaking/audio-format.js';
import type { Sound, SoundSource } from '../../speaking/sound.js';
import type { SpeechRequest } from '../../speaking/speech-request.js';
import { stated } from '../../stated.js';
import { unheededMarkup } from '../../speaking/text-reading.js';
import { errorCode } from '../http/error-reply.js';
import { type AudioReplies, NO_WORK } from './audio-replies.js';
import { EventStream, FoundStream, speechEvents } from './sound-forms.js';
import { SpeechLog } from './speech-log.js';
import { type FieldNames, type ModelNames, renamed } from './speech-request.js';
import type { SpeechLimits } from './speech-schema.js';
import type { EngineAbilities, SpeechSource, VoiceSource } from './speech-source.js';

export interface SpeechAnswerParts {
  readonly speech: SpeechSource;
  readonly replies: AudioReplies;
  readonly metrics: Pick<HttpMetrics, 'firstAudio'>;
  readonly log: Log;
}

/** Dependencies of every route that speaks. */
export interface SpeakingParts extends SpeechAnswerParts {
  readonly limits: SpeechLimits;
  readonly voices: Pick<VoiceSource, 'list'>;
  readonly models: ModelNames;
}

/** A request with everything that is needed to answer it. */
interface Asked {
  readonly parts: SpeechAnswerParts;
  readonly speech: SpeechRequest;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Converts the audio to a dialect's own form, which is sent instead. */
  readonly form?: (sound: SoundSource) => SoundSource;
  /** In addition to those of the sound, or of its form. */
  readonly headers?: Headers;
  /** The client's names of fields that have other names internally. */
  readonly names: FieldNames;
}

type Headers = Readonly<Record<string, string>>;

const VOICE = 'x-voice';
const IGNORED = 'x-ignored-fields';

/** Rejects with what is wrong before the first byte. */
export async function answerSpeech(asked: Asked): Promise<void> {
  try {
    await answer(asked);
  } catch (error) {
    throw renamed(error, asked.names);
  }
}

async function answer(asked: Asked): Promise<void> {
  const { parts, speech, request, reply } = asked;
  const { speech: source, replies } = parts;
  const speechLog = new SpeechLog(speech, speech.format.name);
  request.speechLog = speechLog;
  // A voice that comes with the request takes time to be made, and nothing spoken with it is kept.
  const ready = speech.sample === undefined ? fitted(source, speech) : undefined;
  if (ready !== undefined) speechLog.resolve(source, ready);
  const found = ready === undefined ? undefined : source.find(ready);
  if (ready === undefined || found === undefined) return make(asked, ready);
  if (formOf(asked) !== undefined) return make(asked, ready, found);
  speechLog.cache = 'hit';
  speechLog.timing = NO_WORK;
  replies.sendWhole(reply, found, audioHeaders(asked, ready), speech.delivery === 'whole');
  begun(asked);
  return undefined;
}

function make(asked: Asked, ready: SpeechRequest | undefined, found?: Sound): Promise<void> {
  const { parts, speech, reply } = asked;
  const form = formOf(asked);
  // Mutable: `opened` adds X-Ignored-Fields, which may be known only once the voice is made.
  const headers = {
    ...(form === undefined
      ? audioHeaders(asked)
      : { ...rawHeaders(speech), ...asked.headers, ...voiceHeader(asked) }),
  };
  return parts.replies.send(reply, {
    open: async (signal) => {
      const stream =
        found === undefined ? await opened(asked, ready, headers, signal) : new FoundStream(found);
      return form === undefined ? stream : form(stream);
    },
    headers,
    begun: () => begun(asked),
    broken: (error) => brokenOff(asked.request, parts.log, error),
    whole: speech.delivery === 'whole',
  });
}

/** Records a broken-off rendering in the request's own log line, and in the log. */
export function brokenOff(request: FastifyRequest, log: Log, error: unknown): void {
  request.failure = errorCode(error);
  // For a client that left, the request's own log line is enough.
  if (!isAborted(error)) log.warn({ requestId: request.id, err: error }, 'speech broken off');
}

function formOf(asked: Asked): Asked['form'] {
  const { parts, speech, request, form } = asked;
  if (form !== undefined || speech.delivery !== 'events') return form;
  const { id: requestId, startedAtMs } = request;
  const broken = (error: unknown) => brokenOff(request, parts.log, error);
  return (sound) =>
    new EventStream(sound, speechEvents({ text: speech.text, requestId, startedAtMs, broken }));
}

async function opened(
  { parts, speech, request, names }: Asked,
  ready: SpeechRequest | undefined,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<SoundSource> {
  const last = ready ?? (await fittedWithVoice(parts.speech, speech, signal));
  const ignored = ignoredNames(last, names);
  if (ignored !== undefined) headers[IGNORED] = ignored.join(', ');
  if (ready === undefined) request.speechLog?.resolve(parts.speech, last);
  return parts.speech.openStream(last, signal);
}

function begun({ parts, request }: Asked): void {
  parts.metrics.firstAudio(performance.now() - request.startedAtMs, 'http');
}

// Most requests have no other headers; these objects are made once.
const PLAIN_HEADERS: ReadonlyMap<AudioFormat, Headers> = new Map(
  AUDIO_FORMATS.map((format) => [format, { 'content-type': format.contentType }]),
);

function audioHeaders(asked: Asked, ready?: SpeechRequest): Headers {
  const { speech, names, headers } = asked;
  const plain = PLAIN_HEADERS.get(speech.format) ?? {};
  const ignored = ready === undefined ? undefined : ignoredNames(ready, names);
  const standIn = voiceHeader(asked);
  if (speech.format.raw === undefined && ignored === undefined && (headers ?? standIn) === undefined)
    return plain;
  const ignoredHeader = ignored === undefined ? {} : { [IGNORED]: ignored.join(', ') };
  return { ...plain, ...rawHeaders(speech), ...headers, ...standIn, ...ignoredHeader };
}

/** Names the voice that stands in for the one that was asked for. */
function voiceHeader({ request: { speechLog } }: Asked): Headers | undefined {
  const standIn = speechLog?.standIn;
  return standIn === undefined ? undefined : { [VOICE]: standIn };
}

/** Raw samples say nothing of themselves; these are said in the names that ffmpeg has for them. */
function rawHeaders({ format: { raw }, sampleRate }: SpeechRequest): Headers {
  if (raw === undefined) return {};
  return {
    'x-pcm-sample-rate': String(sampleRate),
    'x-pcm-channels': '1',
    'x-pcm-bit-depth': String(raw.bits),
    'x-pcm-format': raw.encoding,
  };
}

/** The field of a request that states the option, and the capability that an engine needs for it. */
const OPTIONS: Readonly<
  Record<keyof SpeechOptions, readonly [field: string, needs: 'instruct' | 'sampling']>
> = {
  instructions: ['instructions', 'instruct'],
  temperature: ['temperature', 'sampling'],
  topP: ['top_p', 'sampling'],
  topK: ['top_k', 'sampling'],
  seed: ['seed', 'sampling'],
  maxNewTokens: ['max_new_tokens', 'sampling'],
};

/**
 * The request as its engine can speak it, with the fields that it cannot heed as `ignoredFields`. Throws what
 * can be known of a voice and language without waiting.
 */
function fitted(speech: SpeechSource, request: SpeechRequest): SpeechRequest {
  const { text, markup, options, reference, ignoredFields = [] } = request;
  const unheeded = markup === true ? [...ignoredFields, ...unheededIn(speech, request, text)] : ignoredFields;
  // A plain request need not ask for the capabilities of its engine.
  if (options === undefined && reference === undefined) return withIgnored(request, unheeded);
  const abilities = speech.abilities(request);
  if (reference !== undefined) refuseIncapable(abilities, reference);
  const stating = Object.entries(options ?? {}) as [keyof SpeechOptions, string | number][];
  const able = stating.filter(([option]) => abilities[OPTIONS[option][1]]);
  const unable = stating.filter(([option]) => !abilities[OPTIONS[option][1]]);
  const { options: _stated, ...plain } = request;
  return withIgnored(able.length === 0 ? plain : { ...plain, options: Object.fromEntries(able) }, [
    ...unable.map(([option]) => OPTIONS[option][0]),
    ...unheeded,
  ]);
}

function unheededIn(speech: SpeechSource, request: SpeechRequest, text: string): string[] {
  const unheeded = unheededMarkup(text, () => speech.abilities(request).hints ?? []);
  return unheeded.map((what) => `SSML ${what}`);
}

function withIgnored(request: SpeechRequest, ignoredFields: readonly string[]): SpeechRequest {
  return ignoredFields.length === 0 ? request : { ...request, ignoredFields };
}

/**
 * The same with the voice made of the sample that the request brings. Rejects with whatever is wrong with it.
 */
export async function fittedWithVoice(
  speech: SpeechSource,
  { sample, ...request }: SpeechRequest,
  signal: AbortSignal,
): Promise<SpeechRequest> {
  if (sample === undefined) return fitted(speech, request);
  const reference = await speech.reference({ ...sample, ...stated({ language: request.language }) }, signal);
  return fitted(speech, { ...request, reference });
}

/** The ignored fields for a header, by the client's names for them; undefined if there are none. */
export function ignoredNames(
  { ignoredFields = [] }: SpeechRequest,
  names: FieldNames,
): readonly string[] | undefined {
  return ignoredFields.length === 0 ? undefined : ignoredFields.map((field) => names[field] ?? field);
}

function refuseIncapable({ engine, clone, design }: EngineAbilities, { kind }: VoiceReference): void {
  if (kind === 'sample' ? clone : design) return;
  const what =
    kind === 'sample'
      ? 'speak with the voice of a sample ("ref_audio")'
      : 'make a voice from a description ("task_type" "VoiceDesign")';
  const field = kind === 'sample' ? 'ref_audio' : 'task_type';
  throw new ParleyError('CAPABILITY_MISSING', `the engine ${engine} cannot ${what}`, { field });
}
