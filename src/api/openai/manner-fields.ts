// The manner of speaking that a request wishes for. Engines differ in what they
// can heed; the rest is left out, and named to whoever asked.
import type { SpeechBody } from './speech-body.js';
import type { EngineAbilities, SpeechOptions } from './speech-source.js';

/** Fields of a request with what they mean. */
export interface Manner {
  readonly stated: readonly StatedOption[];
  /** Fields that no engine heeds. */
  readonly unheeded: readonly string[];
}

interface StatedOption {
  /** Of the request. */
  readonly field: string;
  readonly option: keyof SpeechOptions;
  readonly value: string | number;
  readonly needs: 'instruct' | 'sampling';
}

const SAMPLING = [
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
  ['top_k', 'topK'],
  ['seed', 'seed'],
  ['max_new_tokens', 'maxNewTokens'],
] as const satisfies readonly (readonly [keyof SpeechBody, keyof SpeechOptions])[];

// Most requests state nothing of the kind.
const PLAIN: Manner = { stated: [], unheeded: [] };

export function readManner(body: SpeechBody): Manner {
  const stated: StatedOption[] = [];
  const instructions = body.task_type === 'VoiceDesign' ? undefined : readInstructions(body);
  if (instructions !== undefined) {
    const field = body.instructions === undefined ? 'instruct' : 'instructions';
    stated.push({ field, option: 'instructions', value: instructions, needs: 'instruct' });
  }
  for (const [field, option] of SAMPLING) {
    const value = body[field];
    if (value !== undefined) stated.push({ field, option, value, needs: 'sampling' });
  }
  const unheeded: string[] = [];
  if (body.initial_codec_chunk_frames !== undefined) unheeded.push('initial_codec_chunk_frames');
  return stated.length === 0 && unheeded.length === 0 ? PLAIN : { stated, unheeded };
}

/** What `instructions` say, under either name; some clients write None where there are none. */
export function readInstructions({ instructions, instruct }: SpeechBody): string | undefined {
  const words = instructions ?? instruct;
  return words === undefined || words === '' || words === 'None' ? undefined : words;
}

/** What an engine of these abilities heeds of it, and the fields that it does not. */
export function heeded(
  { stated, unheeded }: Manner,
  abilities: EngineAbilities,
): { readonly options: SpeechOptions | undefined; readonly ignored: readonly string[] } {
  const able = stated.filter(({ needs }) => abilities[needs]);
  const unable = stated.filter(({ needs }) => !abilities[needs]);
  return {
    options:
      able.length === 0 ? undefined : Object.fromEntries(able.map(({ option, value }) => [option, value])),
    ignored: [...unable.map(({ field }) => field), ...unheeded],
  };
}
