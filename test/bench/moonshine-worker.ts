// A worker of Moonshine whose graphs do all their work, and whose decoder says a script: random weights would
// never end a text, and never say the same twice.
//
// The script has 3.3 tokens for a second of sound, as English speech has. The last three of them change from
// pass to pass.
import { OnnxGraphs } from '../../src/engines/moonshine/onnx-graphs.js';

const FRAMES_PER_SECOND = 50;
const TOKENS_PER_SECOND = 3.3;
const UNSURE_TOKENS = 3;
const END = 2;
const FIRST_WORD = 300; // behind the single bytes
const OTHER_WORDS = 2000;
const SURE = 1e30; // a logit above all others

/** The token at a place of the text of so many frames of memory. */
function scripted(place: number, frames: number): number {
  const count = Math.floor((frames / FRAMES_PER_SECOND) * TOKENS_PER_SECOND);
  if (place >= count) return END;
  const isUnsure = place >= count - UNSURE_TOKENS;
  return isUnsure ? OTHER_WORDS + ((frames * 7 + place) % 1000) : FIRST_WORD + place;
}

const decoder = OnnxGraphs.prototype.decoder;
OnnxGraphs.prototype.decoder = async function (tokens, self, cross) {
  const made = await decoder.call(this, tokens, self, cross);
  const { vocabulary } = this.sizes;
  for (let row = 0; row < tokens.length; row++)
    made.logits[row * vocabulary + scripted((self?.frames ?? 0) + row, cross.frames)] = SURE;
  return made;
};
await import('../../src/engines/moonshine/moonshine-worker.js');
