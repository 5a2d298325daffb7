// Describes the two realtime sockets for transcription that OpenAI-compatible servers have: OpenAI's own
// (speaches has it, too) and vLLM's. Both take sound in base64 within JSON; their messages differ.
import { field } from './api-client.js';

interface RealtimeSettings {
  readonly model: string;
  readonly language: string | undefined;
  readonly prompt: string | undefined;
}

/** Meaning of a server's message for the turn that is open. */
export type RealtimeNews =
  | { readonly what: 'ready' }
  | { readonly what: 'delta'; readonly text: string }
  /** The whole text of the turn. */
  | { readonly what: 'completed'; readonly text: string }
  /** The socket is of no more use. */
  | { readonly what: 'failed'; readonly reason: string }
  | undefined;

export interface RealtimeDialect {
  /** Hz of the sound: PCM16, mono. */
  readonly rate: number;
  /** Behind the base URL. */
  readonly path: string;
  /** Sent once the server is ready. */
  readonly hello: (settings: RealtimeSettings) => readonly object[];
  readonly begin: readonly object[];
  readonly end: object;
  readonly read: (message: unknown) => RealtimeNews;
}

export type RealtimeDialectName = 'openai' | 'vllm';

const TRANSCRIPTION = 'conversation.item.input_audio_transcription';

const OPENAI_RATE = 24_000; // the only one that OpenAI takes

export const REALTIME_DIALECTS: Readonly<Record<RealtimeDialectName, RealtimeDialect>> = {
  // https://developers.openai.com/api/docs/guides/realtime-transcription
  openai: {
    rate: OPENAI_RATE,
    path: 'realtime?intent=transcription',
    hello: ({ model, language, prompt }) => [
      {
        type: 'session.update',
        session: {
          type: 'transcription',
          audio: {
            input: {
              format: { type: 'audio/pcm', rate: OPENAI_RATE },
              transcription: { model, language, prompt },
              turn_detection: null, // turns are decided here
            },
          },
        },
      },
    ],
    begin: [],
    end: { type: 'input_audio_buffer.commit' },
    read: (message) =>
      readWith(message, {
        ready: 'session.created',
        delta: `${TRANSCRIPTION}.delta`,
        completed: [`${TRANSCRIPTION}.completed`, 'transcript'],
        failed: ['error', `${TRANSCRIPTION}.failed`],
      }),
  },
  // https://docs.vllm.ai/en/stable/api/vllm/entrypoints/openai/realtime/connection/
  vllm: {
    rate: 16_000,
    path: 'realtime',
    hello: ({ model }) => [{ type: 'session.update', model }],
    begin: [{ type: 'input_audio_buffer.commit', final: false }], // it starts to recognise
    end: { type: 'input_audio_buffer.commit', final: true },
    read: (message) =>
      readWith(message, {
        ready: 'session.created',
        delta: 'transcription.delta',
        completed: ['transcription.done', 'text'],
        failed: ['error'],
      }),
  },
};

interface Names {
  readonly ready: string;
  readonly delta: string;
  /** Type, and the field of the text. */
  readonly completed: readonly [string, string];
  readonly failed: readonly string[];
}

function readWith(message: unknown, { ready, delta, completed, failed }: Names): RealtimeNews {
  const type = field(message, 'type');
  const text = (name: string) => {
    const value = field(message, name);
    return typeof value === 'string' ? value : '';
  };
  if (type === ready) return { what: 'ready' };
  if (type === delta) return { what: 'delta', text: text('delta') };
  if (type === completed[0]) return { what: 'completed', text: text(completed[1]) };
  if (!failed.includes(String(type))) return undefined;
  // Its message may repeat what was sent; its code and type are names.
  const error = field(message, 'error');
  const names = [field(error, 'type'), field(error, 'code'), field(message, 'code')];
  const known = names.filter((name) => typeof name === 'string').join(', ');
  return { what: 'failed', reason: `the server answered an error (${known || 'without a code'})` };
}
