// Runs in the worker thread of flite. One sentence takes 10 to 50 ms and cannot be interrupted: an abort
// drops its result.
import { type Rendering, serveEngine, type SpeakJob } from '../engine-service.js';
import { FLITE_VOICES, FliteProgram } from './flite-program.js';
import { asciiText, wordsOfPhones } from './flite-text.js';

function render(program: FliteProgram, job: SpeakJob): Rendering {
  const text = asciiText(job.text);
  const gain = FLITE_VOICES.find((voice) => voice.name === job.voice)?.gain ?? 1;
  // Without letters or digits flite would produce no sound and fail.
  if (!/[a-z0-9]/i.test(text)) return { samples: new Int16Array(), gain, words: [] };
  const { samples, rate, phones } = program.speak(text, job.voice);
  if (rate !== job.rate) throw new Error(`the voice ${job.voice} speaks at ${rate} Hz, not ${job.rate}`);
  return { samples, gain, words: wordsOfPhones(job.text, phones) };
}

const program = await FliteProgram.load();
program.prepare();
serveEngine({
  render: (job) => Promise.resolve(render(program, job)),
  afterJob: () => program.prepare(),
});
