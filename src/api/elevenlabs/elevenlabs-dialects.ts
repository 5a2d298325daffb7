// Both of ElevenLabs' WebSockets for text that becomes speech.
import type { Dialect } from '../http/socket-dialect.js';
import { elevenLabsMultiStreamInput } from './elevenlabs-multi-stream-input.js';
import type { ElevenLabsParts } from './elevenlabs-socket.js';
import { elevenLabsStreamInput } from './elevenlabs-stream-input.js';

export function elevenLabsDialects(parts: ElevenLabsParts): readonly Dialect[] {
  return [elevenLabsStreamInput(parts), elevenLabsMultiStreamInput(parts)];
}
