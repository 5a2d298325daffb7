// The published checkpoints with their short names, and the names that `parley pull` accepts.
import { MOONSHINE_MODELS, TURN_MODELS } from '../config/onnx-catalog.js';
import { POCKET_MODELS } from '../config/pocket-catalog.js';
import { ParleyError } from '../errors.js';

export type Kind = 'voice' | 'recogniser' | 'aligner';

/** Names that stand for several models. `light`: a server that speaks and hears English on a CPU. */
export const SETS: Readonly<Record<string, readonly string[]>> = {
  light: ['pocket-en', 'moonshine-small-en', 'turn-en'],
};

interface PublishedModel {
  readonly name: string;
  /** owner/name on the hub. */
  readonly id: string;
  readonly kind: Kind;
  /** Figures of the published files with QUANTIZE=none, for a model that is not in the cache. */
  readonly published: {
    readonly downloadBytes: number;
    readonly needs: WeightNeeds;
  };
}

export interface WeightNeeds {
  /** Weights in memory as loaded, without the state of streams. */
  readonly memoryBytes: number;
  /**
   * Weights that one step reads: a frame of 80 ms of a voice, a token of a recogniser. Undefined for an
   * aligner, whose cost is arithmetic.
   */
  readonly stepBytes: number | undefined;
}

// A voice loads its checkpoint and the decoder of the codec (458 MB in f32). It reads the talker once in a
// frame, the code predictor 15 times and the codec once.
// prettier-ignore
export const PUBLISHED: readonly PublishedModel[] = [
  { name: 'qwen3-tts-0.6b', id: 'Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice', kind: 'voice', published: { downloadBytes: 2498e6, needs: { memoryBytes: 2269e6, stepBytes: 3732e6 } } },
  { name: 'qwen3-tts-1.7b', id: 'Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice', kind: 'voice', published: { downloadBytes: 4520e6, needs: { memoryBytes: 4291e6, stepBytes: 5739e6 } } },
  { name: 'qwen3-asr-0.6b', id: 'Qwen/Qwen3-ASR-0.6B', kind: 'recogniser', published: { downloadBytes: 1881e6, needs: { memoryBytes: 1565e6, stepBytes: 1192e6 } } },
  { name: 'qwen3-asr-1.7b', id: 'Qwen/Qwen3-ASR-1.7B', kind: 'recogniser', published: { downloadBytes: 4703e6, needs: { memoryBytes: 4076e6, stepBytes: 3441e6 } } },
  { name: 'qwen3-aligner', id: 'Qwen/Qwen3-ForcedAligner-0.6B', kind: 'aligner', published: { downloadBytes: 1840e6, needs: { memoryBytes: 1835e6, stepBytes: undefined } } },
];

/** A repository of the hub at one revision: a branch, a tag or a commit. */
export interface HubModel {
  readonly id: string;
  readonly revision: string;
}

const PART = /^[\w-][\w.-]{0,95}$/;
const REVISION = /^[\w-][\w.-]{0,95}(?:\/[\w-][\w.-]{0,95}){0,3}$/;

export const MAIN = 'main';

/** Reads a short name or `owner/name`, each with an optional `@revision`. Throws INVALID_FIELD. */
export function modelNamed(text: string): HubModel {
  const at = text.indexOf('@');
  const [name, revision] = at < 0 ? [text, MAIN] : [text.slice(0, at), text.slice(at + 1)];
  if (!REVISION.test(revision) || revision.includes('..')) {
    throw invalid(`the revision must be a branch, a tag or a commit, not "${revision}"`);
  }
  const known = PUBLISHED.find((model) => model.name === name.toLowerCase());
  if (known !== undefined) return { id: known.id, revision };
  const parts = name.split('/');
  if (parts.length === 2 && parts.every((part) => PART.test(part) && !/\.\.|--/.test(part))) {
    return { id: name, revision };
  }
  throw invalid(`"${name}" is no name of a model; use owner/name or one of ${knownNames()}`);
}

/** The short names for a sentence. */
export function knownNames(): string {
  const models = [...PUBLISHED, ...POCKET_MODELS, ...MOONSHINE_MODELS, ...TURN_MODELS];
  return [...models.map(({ name }) => name), ...Object.keys(SETS)].join(', ');
}

function invalid(message: string): ParleyError {
  return new ParleyError('INVALID_FIELD', message, { field: 'NAME' });
}
