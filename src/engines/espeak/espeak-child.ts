// Runs espeak in its own process, the only place where GPL-3.0 code is loaded. espeak-worker.ts starts it
// with the path of the package; only types are imported from here. Messages use Node's "advanced"
// serialization.
import { setPriority } from 'node:os';
import { pathToFileURL } from 'node:url';
import type { SpeechHint, WordTime } from '../engine.js';
import { EspeakInput } from './espeak-input.js';
import { withEnds, wordTimes, type WordEvent } from './espeak-text.js';

export interface ToEspeak {
  readonly id: number;
  readonly text: string;
  readonly hints?: readonly SpeechHint[] | undefined;
  /** espeak's name of the voice. */
  readonly identifier: string;
}

export type FromEspeak =
  | { readonly type: 'ready'; readonly rate: number }
  | {
      readonly type: 'spoken';
      readonly id: number;
      readonly samples: Int16Array;
      readonly words: readonly WordTime[];
    }
  | { readonly type: 'failed'; readonly id: number; readonly message: string };

const NICE = 5; // as the engines' threads

// The first sentences take ten times as long as later ones, until their code is optimised.
const WARM_UP = [
  ['gmw/en-US', 'Hello, this is a short sentence.'],
  ['roa/fr', 'Bonjour, ceci est une courte phrase.'],
  ['roa/it', 'Buongiorno, questa è una breve frase.'],
] as const;

/** The used part of the package. */
interface Espeak {
  set_voice(identifier: string, language: string): number;
  get_samplerate(): number;
  synthesize(
    text: string,
    callback: (samples: Int16Array | null, events: readonly (WordEvent & { type: string })[]) => boolean,
  ): void;
}
type Package = () => Promise<{ eSpeakNGWorker: new () => Espeak }>;

function say(message: FromEspeak): void {
  process.send?.(message);
}

function join(chunks: readonly Int16Array[]): Int16Array {
  const samples = new Int16Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    samples.set(chunk, at);
    at += chunk.length;
  }
  return samples;
}

function render(espeak: Espeak, text: string, identifier: string, hints?: readonly SpeechHint[]) {
  const written = new EspeakInput(text, hints);
  const chunks: Int16Array[] = [];
  const events: WordEvent[] = [];
  if (espeak.set_voice(identifier, '') !== 0) throw new Error(`espeak has no voice ${identifier}`);
  espeak.synthesize(written.input, (samples, heard) => {
    if (samples !== null) chunks.push(samples);
    events.push(...heard.filter((event) => event.type === 'word').map((event) => written.placed(event)));
    return false; // go on
  });
  const samples = join(chunks);
  return { samples, words: withEnds(wordTimes(text, events), samples, espeak.get_samplerate()) };
}

const [, , packageFile = ''] = process.argv;
process.on('disconnect', () => process.exit());
const { default: load } = (await import(pathToFileURL(packageFile).href)) as { default: Package };
const { eSpeakNGWorker } = await load();
const espeak = new eSpeakNGWorker();
process.on('message', (message: ToEspeak) => {
  try {
    say({
      type: 'spoken',
      id: message.id,
      ...render(espeak, message.text, message.identifier, message.hints),
    });
  } catch (error) {
    say({ type: 'failed', id: message.id, message: (error as Error).message });
  }
});
for (const [identifier, text] of WARM_UP) render(espeak, text, identifier);
setPriority(NICE);
say({ type: 'ready', rate: espeak.get_samplerate() });
