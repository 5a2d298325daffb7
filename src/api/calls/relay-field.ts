// The field `relay` of requests: a ConversationRelay application for one call, with the fields of the `relay`
// of an agent in AGENTS_FILE. src/config/named-relay.ts says which applications a request may name.
import { FieldReader } from '../../config/fields.js';
import { IDLE_SECONDS } from '../../config/idle-config.js';
import { type NamedRelays, readNamedRelay } from '../../config/named-relay.js';
import type { RelayConfig } from '../../config/relay-config.js';
import { ParleyError } from '../../errors.js';
import type { JsonSchema } from '../http/json-schema.js';

const TEXT: JsonSchema = { type: 'string', minLength: 1, maxLength: 1000 };
const TAG: JsonSchema = { type: 'string', minLength: 1, maxLength: 35, examples: ['en-US'] };
const VOICE: JsonSchema = { type: 'string', minLength: 1, maxLength: 100 };
const FLAG: JsonSchema = { type: 'boolean', default: false };
const INPUT: JsonSchema = { type: 'string', enum: ['none', 'dtmf', 'speech', 'any'] };
const INPUT_OR_FLAG: JsonSchema = { anyOf: [INPUT, { type: 'boolean' }] };
const WITHOUT_EFFECT: JsonSchema = { description: 'taken, and without effect' };

export const RELAY_FIELD: JsonSchema = {
  type: 'object',
  required: ['url'],
  description:
    'the ConversationRelay application that talks, at a host of RELAY_ALLOWED_HOSTS; not together with `agent` or `say`',
  examples: [{ url: 'wss://bot.example.com/calls', welcomeGreeting: 'Good morning.' }],
  properties: {
    url: { ...TEXT, description: 'a wss URL, or a ws URL of the machine of this server' },
    action: { ...TEXT, description: 'an https URL that is told the end of the session' },
    welcomeGreeting: TEXT,
    welcomeGreetingInterruptible: INPUT_OR_FLAG,
    language: { ...TAG, description: 'of both voice and recogniser' },
    ttsLanguage: TAG,
    transcriptionLanguage: TAG,
    voice: VOICE,
    languages: {
      type: 'array',
      maxItems: 64,
      items: { type: 'object', required: ['code'], properties: { code: TAG, voice: VOICE } },
    },
    hints: { ...TEXT, description: 'names and words for the recogniser' },
    smart_format: { type: 'boolean', description: 'prompts have figures: "4207" for "four two oh seven"' },
    speechTimeout: {
      anyOf: [
        { type: 'string', enum: ['auto'] },
        { type: 'integer', minimum: 600, maximum: 5000 },
      ],
      description: 'milliseconds of silence that end a turn',
    },
    partialPrompts: FLAG,
    interruptible: INPUT_OR_FLAG,
    interruptSensitivity: { type: 'string', enum: ['high', 'medium', 'low'] },
    reportInputDuringAgentSpeech: INPUT_OR_FLAG,
    ignoreBackchannel: FLAG,
    preemptible: FLAG,
    dtmfDetection: FLAG,
    events: { type: 'string', examples: ['speaker-events tokens-played'] },
    debug: { type: 'string', deprecated: true, description: 'older name of `events`' },
    parameters: {
      type: 'object',
      maxProperties: 64,
      additionalProperties: { type: 'string' },
      description: '`customParameters` of the setup message',
    },
    lostSocket: { type: 'string', enum: ['resume', 'end'] },
    holdPhrase: TEXT,
    failurePhrase: TEXT,
    idleSeconds: { type: 'number', minimum: IDLE_SECONDS[0], maximum: IDLE_SECONDS[1] },
    idlePhrase: TEXT,
    idleTimes: { type: 'integer', minimum: 0, maximum: 100 },
    goodbye: TEXT,
    ttsProvider: WITHOUT_EFFECT,
    transcriptionProvider: WITHOUT_EFFECT,
    speechModel: WITHOUT_EFFECT,
    eotThreshold: WITHOUT_EFFECT,
    elevenlabsTextNormalization: WITHOUT_EFFECT,
  },
};

/** Throws INVALID_FIELD with the first mistake. */
export function readRelayField(value: object, relays: NamedRelays): RelayConfig {
  const read = new FieldReader();
  const relay = readNamedRelay(read, value, 'relay', relays);
  const [problem = 'relay must be an object'] = read.problems;
  if (relay !== undefined) return relay;
  const [, field = 'relay', what = problem] = /^([\w.[\]-]+):? ([^]*)$/.exec(problem) ?? [];
  throw new ParleyError('INVALID_FIELD', `"${field}" ${what}`, { field });
}
