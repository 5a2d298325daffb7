// Opens checkpoints of Qwen3-TTS in the native engine.
import { ParleyError } from '../../errors.js';
import { checkpointIdentity } from '../native/checkpoint-identity.js';
import { NativeEngine, type NativeEngineOptions } from '../native/native-engine.js';
import { inspectModel } from '../native/native-speech.js';
import { capabilitiesOf, languageOf, voicesOf } from './checkpoint.js';

/**
 * Inspects the checkpoint without loading it. Rejects with ENGINE_UNAVAILABLE, naming the defect, if it is
 * unusable.
 */
export async function openQwen3(options: NativeEngineOptions): Promise<NativeEngine> {
  try {
    const { directory } = options.native;
    const facts = await inspectModel(directory);
    const model = {
      engine: 'qwen3',
      identity: await checkpointIdentity(directory, ['speech_tokenizer']),
      facts,
      voices: voicesOf(facts),
      capabilities: capabilitiesOf(facts),
      languageOf: (tag: string) => languageOf(facts, tag),
    };
    return new NativeEngine(model, options);
  } catch (cause) {
    const message = `the checkpoint of MODEL_DIR or MODEL_ID cannot be used: ${(cause as Error).message}`;
    throw new ParleyError('ENGINE_UNAVAILABLE', message, { field: 'MODEL_DIR', cause });
  }
}
