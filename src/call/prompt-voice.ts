// A voice that is made from a description of it, as part of a request.
import type { VoiceReference } from '../speech/engine.js';
import { renderingKey } from '../speech/rendering-key.js';

export function promptVoice(prompt: string): VoiceReference {
  return { kind: 'prompt', hash: renderingKey(['prompt', prompt]), prompt };
}
