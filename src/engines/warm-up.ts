// The first sentences of an engine that was just loaded take longer than later
// ones, each length of its own: code is compiled, buffers grow. Better before
// somebody waits for them.
import { PcmRing } from '../audio/pcm-ring.js';
import type { SpeechRequest } from './engine.js';

/** Of several lengths: most of the first tokens of a conversation are short, and most sentences are not. */
export const WARM_UP_TEXTS: readonly string[] = [
  'Yes.',
  'Hello, this is a short sentence.',
  'This one is longer: your order of May 3rd, over 12.50 dollars, has left our house and arrives on Tuesday.',
];

const RING_SECONDS = 1;

export interface WarmUp {
  readonly voice: string;
  /** BCP 47 primary tag. */
  readonly language: string;
  /** Hz, of the voice. */
  readonly rate: number;
}

/** Has each text spoken into a ring that nobody hears; rejects with what `speak` rejects with. */
export async function speakToNobody(
  { rate, ...voice }: WarmUp,
  speak: (request: SpeechRequest, out: PcmRing) => Promise<unknown>,
): Promise<void> {
  for (const text of WARM_UP_TEXTS) {
    const ring = PcmRing.open(rate, rate * RING_SECONDS);
    const drain = () => {
      const status = ring.status();
      if (status === null || status.aborted) return;
      ring.read(new Float32Array(status.readable));
      if (!status.ended) ring.onReadable(drain);
    };
    drain();
    try {
      await speak({ text, ...voice }, ring);
    } finally {
      ring.close();
    }
  }
}
