// The speech endpoints that OpenAI's clients know: text in, sound out, and the
// lists of what there is to choose from.
import type { FastifyInstance } from 'fastify';
import type { AudioFormat } from '../call/audio-format.js';
import { isAborted, ParleyError } from '../errors.js';
import type { Log } from '../observe/log.js';
import type { Metrics } from '../observe/metrics.js';
import type { AudioReplies, AudioStream } from './audio-replies.js';
import type { WholeSound } from './found-stream.js';
import { readSpeechRequest } from './speech-request.js';

/** What the lists tell of a voice. */
export interface ListedVoice {
  readonly name: string;
  readonly engine: string;
  readonly languages: readonly string[];
  readonly description: string;
}

export interface SpokenRequest {
  readonly text: string;
  readonly voice?: string;
  readonly language?: string;
  readonly container: AudioFormat['container'];
  /** Hz. */
  readonly sampleRate: number;
  readonly speed: number;
  readonly client?: string;
  readonly cache?: boolean;
}

export interface SpeechSource {
  /** A rendering that is there already. Throws what can be known of a voice and language. */
  find(request: SpokenRequest): WholeSound | undefined;
  /** Rejects with what can be known before the first byte. */
  openStream(request: SpokenRequest, signal: AbortSignal): Promise<AudioStream>;
  /** Forgets every rendering and answers how many there were. */
  clear(): number;
  voices(): Promise<readonly ListedVoice[]>;
}

export interface SpeechRouteParts {
  readonly speech: SpeechSource;
  readonly replies: AudioReplies;
  readonly metrics: Pick<Metrics, 'firstAudio'>;
  readonly log: Log;
  /** Unix seconds that the model claims to be made at: when the server started. */
  readonly startedAt: number;
}

const SAMPLE_RATE = 24_000; // Hz; of a request that names neither a rate nor a format with one of its own
const MODEL = 'parley';

export function addSpeechRoutes(app: FastifyInstance, parts: SpeechRouteParts): void {
  const { speech, replies, metrics, log, startedAt } = parts;

  app.post('/v1/audio/speech', async (request, reply) => {
    const receivedAtMs = performance.now();
    const { format, ...wish } = readSpeechRequest(request.body);
    const asked = { ...wish, container: format.container, client: request.client };
    const headers = { 'content-type': format.contentType, ...rawHeaders(format, wish.sampleRate) };
    const begun = () => metrics.firstAudio(performance.now() - receivedAtMs, 'http');
    const found = speech.find(asked);
    if (found !== undefined) {
      begun();
      replies.sendWhole(reply, found, headers);
      return;
    }
    await replies.send(reply, {
      open: (signal) => speech.openStream(asked, signal).catch(rename),
      headers,
      begun,
      broken: (error) => {
        // A client that left is told by the request's own line.
        if (!isAborted(error)) log.warn({ requestId: request.id, err: error }, 'speech broken off');
      },
    });
  });

  app.post('/cache/clear', () => ({ cleared: speech.clear() }));

  app.get('/v1/audio/voices', async () => {
    const voices = (await speech.voices()).map(voiceEntry);
    // Readers in the wild take `voices` or `data`; none of them minds the other.
    return { object: 'list', voices, data: voices, uploaded_voices: [] };
  });

  app.get('/v1/audio/models', () => ({ models: [{ id: MODEL, name: 'Parley' }] }));

  app.get('/v1/models', async () => ({ object: 'list', data: [await model(speech, startedAt)] }));

  app.get<{ Params: { id: string } }>('/v1/models/:id', async ({ params }) => {
    if (params.id === MODEL) return model(speech, startedAt);
    throw new ParleyError('NOT_FOUND', `there is no model of this name; there is "${MODEL}"`, {
      field: 'model',
    });
  });
}

/** Raw samples say nothing of themselves; these are said in the names that ffmpeg has for them. */
export function rawHeaders({ raw }: AudioFormat, rate: number): Record<string, string> {
  if (raw === undefined) return {};
  return {
    'x-pcm-sample-rate': String(rate),
    'x-pcm-channels': '1',
    'x-pcm-bit-depth': String(raw.bits),
    'x-pcm-format': raw.encoding,
  };
}

// Inside, the field is called text; whoever asked called it input.
function rename(error: unknown): never {
  if (error instanceof ParleyError && error.field === 'text') {
    throw new ParleyError(error.code, error.message, { field: 'input', cause: error });
  }
  throw error;
}

function voiceEntry({ name, engine, languages, description }: ListedVoice) {
  return { id: name, name, engine, languages, description };
}

async function model(speech: SpeechSource, created: number) {
  const voices = await speech.voices();
  return {
    id: MODEL,
    object: 'model',
    created,
    owned_by: 'parley',
    task: 'text-to-speech',
    sample_rate: SAMPLE_RATE,
    language: [...new Set(voices.flatMap(({ languages }) => languages))],
    voices: voices.map(({ name, languages }) => ({ name, language: languages[0] ?? 'und' })),
  };
}
