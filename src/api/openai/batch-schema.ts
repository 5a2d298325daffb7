// Several texts in one request.
import {
  INTEGER,
  jsonAnswer,
  type JsonSchema,
  listOf,
  object,
  type RouteSchema,
  STRING,
  TAGS,
} from '../http/json-schema.js';
import type { SpeechFieldLimits } from './speech-fields-schema.js';
import { speechBody } from './speech-schema.js';

export const MAX_ITEMS = 32;

// An item is held against the schema of a speech request when its turn has come: what is wrong with one leaves the others.
const ITEMS: JsonSchema = {
  type: 'array',
  minItems: 1,
  maxItems: MAX_ITEMS,
  items: { type: 'object', description: 'a body of `/v1/audio/speech`' },
  description:
    'each a body of `/v1/audio/speech`; fields beside the list count for every item without its own',
  'x-must-be': `a list of 1 to ${MAX_ITEMS} speech requests`,
};

const NULLABLE: JsonSchema = { type: ['string', 'null'] };

const RESULT = object(
  {
    index: INTEGER,
    status: { type: 'string', enum: ['success', 'error'] },
    audio_data: { ...NULLABLE, description: 'the sound in base64' },
    media_type: { ...NULLABLE, description: 'of the sound' },
    error: { ...NULLABLE, description: 'what was wrong, in words' },
    error_detail: { type: 'object', description: 'the same as the error object of other answers has it' },
    voice: {
      ...STRING,
      description: 'the voice that stands in for the one of OpenAI or Qwen that was named',
    },
    ignored_fields: { ...listOf(STRING), description: 'fields that the engine cannot heed' },
  },
  ['error_detail', 'voice', 'ignored_fields'],
);

export function batchSchema(limits: SpeechFieldLimits): RouteSchema {
  const { input: _input, ...shared } = speechBody(limits).properties ?? {};
  const names = Object.keys(shared).join('`, `');
  return {
    summary: 'Speak several texts',
    description: `Fields that may stand beside the list: \`${names}\`. \`response_format\` is wav where none is named.`,
    tags: [TAGS.speech],
    body: {
      type: 'object',
      properties: { items: ITEMS, requests: { ...ITEMS, description: 'another name of `items`' } },
    },
    response: {
      200: jsonAnswer(
        'a result for each item, in order',
        object({
          id: STRING,
          results: listOf(RESULT),
          total: INTEGER,
          succeeded: INTEGER,
          failed: INTEGER,
        }),
      ),
    },
  };
}
