// Sound as OpenAI's events: pieces of it, then what it came to; or what went
// wrong, and then no word of an end.
import type { ParleyError } from '../../errors.js';
import { errorReply } from '../http/error-reply.js';
import type { EventWords } from './event-stream.js';
import type { SoundOutcome } from '../../speaking/sound.js';

const BYTES_PER_TOKEN = 4; // of text; a usual count where no tokenizer is asked
const FRAME_MS = 80; // of sound: codec frames come 12.5 times a second

export interface EventFacts {
  readonly text: string;
  readonly requestId: string;
  /** On the clock of `performance.now()`. */
  readonly startedAtMs: number;
  /** Told what broke the sound off. */
  readonly broken: (error: ParleyError) => void;
}

export function speechEvents({ text, requestId, startedAtMs, broken }: EventFacts): EventWords {
  return {
    chunk: (bytes) => {
      // Base64 needs no escapes, and a sound has many pieces.
      const audio = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
      return `event: speech.audio.delta\ndata: {"type":"speech.audio.delta","audio":"${audio}"}\n\n`;
    },
    done: (outcome) => {
      const totalMs = performance.now() - startedAtMs;
      return event({
        type: 'speech.audio.done',
        usage: usageOf(text, outcome),
        timing: timingOf(outcome, totalMs),
      });
    },
    failed: (error) => {
      broken(error);
      return event({ type: 'error', ...errorReply(error, requestId).body });
    },
  };
}

function event(data: { readonly type: string } & Readonly<Record<string, unknown>>): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

function usageOf(text: string, { durationMs }: SoundOutcome) {
  const input_tokens = Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
  const output_tokens = Math.ceil(durationMs / FRAME_MS);
  return { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
}

function timingOf({ timing }: SoundOutcome, totalMs: number) {
  const rounded = (ms: number) => Math.round(ms * 10) / 10;
  return {
    queue_ms: rounded(timing.queueMs),
    load_ms: rounded(timing.loadMs),
    infer_ms: rounded(timing.inferMs),
    encode_ms: rounded(timing.encodeMs),
    total_ms: rounded(totalMs),
  };
}
