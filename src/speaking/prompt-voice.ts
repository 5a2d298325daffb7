// A voice that is made from a description of it, as part of a request.
import type { VoiceReference } from '../engines/engine.js';
import { renderingKey } from '../engines/rendering-key.js';

export function promptVoice(prompt: string): VoiceReference {
  return { kind: 'prompt', hash: renderingKey(['prompt', prompt]), prompt };
}
