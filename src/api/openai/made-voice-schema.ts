// A voice that was made over HTTP, as answers tell of it.
import { INTEGER, object, STRING } from '../http/json-schema.js';

export const MADE_VOICE = object(
  {
    object: { type: 'string', enum: ['audio.voice'] },
    id: STRING,
    name: STRING,
    created_at: { ...INTEGER, description: 'Unix seconds' },
    type: { type: 'string', enum: ['audio_sample', 'prompt'] },
    language: STRING,
    description: STRING,
    consent: STRING,
    ref_text: STRING,
    prompt: STRING,
  },
  ['language', 'description', 'consent', 'ref_text', 'prompt'],
);
