// The verbs and nouns of TwiML: those that this server does, and those that it refuses.
// https://www.twilio.com/docs/voice/twiml
import { CONNECT_ATTRIBUTES } from './connect-verb.js';
import { DIAL_ATTRIBUTES } from './dial-parser.js';
import { RECORD_ATTRIBUTES } from './record-verb.js';
import { REFER_ATTRIBUTES } from './refer-verb.js';
import { START_ATTRIBUTES } from './start-verb.js';

/** Attributes of the verbs that are done. */
export const VERB_ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  Say: ['voice', 'language', 'loop'],
  Play: ['loop', 'digits'],
  Pause: ['length'],
  Gather: [
    'input',
    'action',
    'method',
    'timeout',
    'finishOnKey',
    'numDigits',
    'speechTimeout',
    'maxSpeechTime',
    'hints',
    'language',
    'actionOnEmptyResult',
    'bargeIn',
    'partialResultCallback',
    'partialResultCallbackMethod',
    // These choose products and have no effect here.
    'profanityFilter',
    'speechModel',
    'enhanced',
    'debug',
  ],
  Dial: DIAL_ATTRIBUTES,
  Connect: CONNECT_ATTRIBUTES,
  Start: START_ATTRIBUTES,
  Stop: [],
  Record: RECORD_ATTRIBUTES,
  Refer: REFER_ATTRIBUTES,
  Enqueue: ['action', 'method', 'waitUrl', 'waitUrlMethod', 'maxQueueSize', 'workflowSid'],
  Leave: [],
  Redirect: ['method'],
  Hangup: [],
  Reject: ['reason'],
};

/** Attributes of the nouns that are done. */
export const NOUN_ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  Conference: [
    'muted',
    'beep',
    'startConferenceOnEnter',
    'endConferenceOnExit',
    'participantLabel',
    'waitUrl',
    'waitMethod',
    'maxParticipants',
    'record',
    'coach',
    'statusCallback',
    'statusCallbackMethod',
    'statusCallbackEvent',
    'recordingStatusCallback',
    'recordingStatusCallbackMethod',
    // Both states of a recording are told, and its silence is kept.
    'recordingStatusCallbackEvent',
    'trim',
    // These choose products and places of Twilio and have no effect here.
    'jitterBufferSize',
    'region',
    'eventCallbackUrl',
    'recordingConfigurationId',
  ],
  Queue: ['url', 'method', 'reservationSid', 'postWorkActivitySid'],
};

/** Verbs that a prompt of Gather may have. */
export const PROMPTS: readonly string[] = ['Say', 'Play', 'Pause'];

/** Elements that a verb may hold besides prompts; they have no effect. */
export const WITHOUT_EFFECT: Readonly<Record<string, readonly string[]>> = {
  Reject: ['Parameter'],
  Enqueue: [],
};

const OF_TWILIO = 'it stands for a product of Twilio';
const NO_CARDS = 'this server collects no card numbers';
const NO_MESSAGES = 'this server sends no messages';

/** Verbs and nouns that this server refuses, with the reason. */
export const REFUSED: ReadonlyMap<string, string> = new Map([
  ['AiSession', OF_TWILIO],
  ['Application', OF_TWILIO],
  ['Assistant', OF_TWILIO],
  ['Autopilot', OF_TWILIO],
  ['Conversation', OF_TWILIO],
  ['ConversationRelaySession', OF_TWILIO],
  ['Echo', OF_TWILIO],
  ['Pay', NO_CARDS],
  ['Prompt', NO_CARDS],
  ['Room', OF_TWILIO],
  ['Sim', OF_TWILIO],
  ['Siprec', 'this server records calls itself'],
  ['Sms', NO_MESSAGES],
  ['Task', OF_TWILIO],
  ['VirtualAgent', OF_TWILIO],
  ['WhatsApp', NO_MESSAGES],
]);

const BY_LOWER_CASE: ReadonlyMap<string, string> = new Map(
  [...Object.keys(VERB_ATTRIBUTES), ...REFUSED.keys()].map((name) => [name.toLowerCase(), name]),
);

/** The verb that a name with wrong case stands for. */
export function verbInOtherCase(name: string): string | undefined {
  return BY_LOWER_CASE.get(name.toLowerCase());
}
