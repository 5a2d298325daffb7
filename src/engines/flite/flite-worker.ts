// Flite's worker thread. One sentence takes 10 to 50 ms and cannot be stopped
// half-way: an abort drops it when it is done.
import type { SpeakJob } from '../engine-messages.js';
import { serveEngine, type Rendering } from '../engine-service.js';
import { FliteProgram } from './flite-program.js';
import { asciiText } from './flite-text.js';
import { wordsOfPhones } from './flite-words.js';
import { FLITE_VOICES } from './flite-voices.js';

function render(program: FliteProgram, job: SpeakJob): Rendering {
  const text = asciiText(job.text);
  const gain = FLITE_VOICES.find((voice) => voice.name === job.voice)?.gain ?? 1;
  // Nothing that can be said in English letters: flite would spell silence.
  if (!/[a-z0-9]/i.test(text)) return { samples: new Int16Array(), gain, words: [] };
  const { samples, rate, phones } = program.speak(text, job.voice);
  if (rate !== job.rate) throw new Error(`the voice ${job.voice} speaks at ${rate} Hz, not ${job.rate}`);
  return { samples, gain, words: wordsOfPhones(job.text, phones) };
}

const program = await FliteProgram.load();
program.prepare();
serveEngine({
  render: (job) => Promise.resolve(render(program, job)),
  rest: () => program.prepare(),
});
