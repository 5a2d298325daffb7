// Reads the agents of AGENTS_FILE that are backends of their own, behind a WebSocket with Twilio's
// ConversationRelay protocol. The fields have the names and defaults of the attributes of its TwiML element:
//
//   {"relay": {"url": "wss://bot.example.com/calls", "welcomeGreeting": "Good morning.",
//              "interruptible": "speech", "events": "speaker-events tokens-played",
//              "parameters": {"tenant": "acme"}, "authTokenEnv": "RELAY_TOKEN"}}
//
// https://www.twilio.com/docs/voice/twiml/connect/conversationrelay
import type { FieldReader, Fields } from './fields.js';
import { isFields } from './fields.js';
import { IDLE_FIELDS, type IdleCallerConfig, readIdle } from './idle-config.js';

const INPUTS = ['none', 'dtmf', 'speech', 'any'] as const;
type Input = (typeof INPUTS)[number];
const EVENTS = ['speaker-events', 'tokens-played'] as const;

/** Voice and recogniser of one language of the conversation. */
interface RelayLanguage {
  /** BCP 47 tag. */
  readonly code: string;
  readonly voice: string | undefined;
}

/** How a session behaves. */
export interface RelayAttributes {
  readonly welcomeGreeting: string | undefined;
  readonly welcomeGreetingInterruptible: Input;
  readonly ttsLanguage: string;
  readonly transcriptionLanguage: string;
  readonly voice: string | undefined;
  readonly languages: readonly RelayLanguage[];
  readonly hints: string | undefined;
  /** Prompts are written with figures; undefined: the server's default. */
  readonly smartFormat?: boolean | undefined;
  /** Longest silence inside a turn, in milliseconds; undefined: that of the server. */
  readonly speechTimeoutMs: number | undefined;
  readonly partialPrompts: boolean;
  readonly interruptible: Input;
  readonly interruptSensitivity: 'high' | 'medium' | 'low';
  readonly reportInputDuringAgentSpeech: Input;
  readonly ignoreBackchannel: boolean;
  readonly preemptible: boolean;
  readonly dtmfDetection: boolean;
  readonly events: ReadonlySet<(typeof EVENTS)[number]>;
  readonly parameters: Readonly<Record<string, string>>;
  /** After a lost socket: the session goes on with another one, or it has failed, as with Twilio. */
  readonly lostSocket: 'resume' | 'end';
  /** Spoken while the socket is lost. */
  readonly holdPhrase: string;
  /** Spoken when the session has failed, before the call ends. */
  readonly failurePhrase: string;
  /** Undefined: a caller may be silent for as long as the call lasts. */
  readonly idle: IdleCallerConfig | undefined;
}

/** An application that this server dials. */
export interface RelayConfig extends RelayAttributes {
  readonly name: string;
  /** `wss`, or `ws` on loopback. */
  readonly url: string;
  /** Signs the handshake and the action callback; undefined: neither is signed. */
  readonly authToken: string | undefined;
  /** Told at the end of the session; undefined: nobody is. */
  readonly action: string | undefined;
}

const LANGUAGE = 'en-US';
const HOLD = 'One moment, please.';
const FAILED = 'I am sorry, we have a technical problem. Please call again later.';
const MOST_PHRASE = 1000;
const MOST_PARAMETERS = 64;
const SPEECH_TIMEOUT = [600, 5000] as const;

/** Attributes that choose products of others; they are taken, and have no effect. */
const WITHOUT_EFFECT = [
  'ttsProvider',
  'transcriptionProvider',
  'speechModel',
  'eotThreshold',
  'elevenlabsTextNormalization',
] as const;

/** The fields that say how a session behaves. */
export const RELAY_ATTRIBUTES = [
  'welcomeGreeting',
  'welcomeGreetingInterruptible',
  'language',
  'ttsLanguage',
  'transcriptionLanguage',
  'voice',
  'languages',
  'hints',
  'smart_format',
  'speechTimeout',
  'partialPrompts',
  'interruptible',
  'interruptSensitivity',
  'reportInputDuringAgentSpeech',
  'ignoreBackchannel',
  'preemptible',
  'dtmfDetection',
  'events',
  'debug',
  'parameters',
  'lostSocket',
  'holdPhrase',
  'failurePhrase',
  ...IDLE_FIELDS,
  ...WITHOUT_EFFECT,
] as const;

const FIELDS = ['url', 'authTokenEnv', 'action', ...RELAY_ATTRIBUTES] as const;

/** Undefined for what is no object; other mistakes are problems of the reader. */
export function readRelay(
  read: FieldReader,
  value: unknown,
  { name, at, secret }: { name: string; at: string; secret: (variable: string) => string | undefined },
): RelayConfig | undefined {
  if (!read.fields(value, at, FIELDS)) return undefined;
  const url = read.text(value, 'url', at, 1000) ?? '';
  if (!isSocketUrl(url))
    read.problem(`${at}.url`, 'must be a wss URL, or a ws URL of this machine, without user and fragment');
  const tokenEnv = read.text(value, 'authTokenEnv', at, 200);
  return {
    name,
    url,
    authToken: tokenEnv === undefined ? undefined : secret(tokenEnv),
    action: readAction(read, value, at),
    ...attributesIn(read, value, at),
  };
}

/** Attributes that a query cannot say, because they are no texts. */
const STRUCTURED: readonly string[] = ['languages', 'parameters'];
const NUMBERS = ['speechTimeout', 'idleSeconds', 'idleTimes'];
const FLAGS = [
  'partialPrompts',
  'smart_format',
  'interruptible',
  'ignoreBackchannel',
  'preemptible',
  'dtmfDetection',
];

/** The attributes of an application that opens its socket itself, in the query of its URL. */
export function readRelayAttributes(read: FieldReader, query: URLSearchParams, at: string): RelayAttributes {
  const value = Object.fromEntries([...query].map(([name, text]) => [name, valueOf(name, text)]));
  const known = RELAY_ATTRIBUTES.filter((name) => !STRUCTURED.includes(name));
  read.fields(value, at, known);
  return attributesIn(read, value, at);
}

/** The attributes of a page that is the application of its own call, in a JSON object. */
export function readRelaySession(read: FieldReader, value: Fields, at: string): RelayAttributes {
  read.fields(value, at, RELAY_ATTRIBUTES);
  return attributesIn(read, value, at);
}

function valueOf(name: string, text: string): string | boolean | number {
  if (FLAGS.includes(name) && (text === 'true' || text === 'false')) return text === 'true';
  return NUMBERS.includes(name) && /^\d{1,6}(\.\d{1,3})?$/.test(text) ? Number(text) : text;
}

function attributesIn(read: FieldReader, value: Fields, at: string): RelayAttributes {
  const language = read.text(value, 'language', at, 35) ?? LANGUAGE;
  const phrase = (field: string) => phraseIn(read, value, field, at);
  return {
    welcomeGreeting: phrase('welcomeGreeting'),
    welcomeGreetingInterruptible: inputIn(read, value, 'welcomeGreetingInterruptible', at) ?? 'any',
    ttsLanguage: read.text(value, 'ttsLanguage', at, 35) ?? language,
    transcriptionLanguage: read.text(value, 'transcriptionLanguage', at, 35) ?? language,
    voice: read.text(value, 'voice', at, 100),
    languages: readLanguages(read, value['languages'], `${at}.languages`),
    hints: phrase('hints'),
    ...smartFormatIn(read, value, at),
    speechTimeoutMs: readSpeechTimeout(read, value, at),
    partialPrompts: read.flag(value, 'partialPrompts', at) ?? false,
    interruptible: inputIn(read, value, 'interruptible', at) ?? 'any',
    interruptSensitivity: read.word(value, 'interruptSensitivity', at, ['high', 'medium', 'low']) ?? 'high',
    reportInputDuringAgentSpeech: inputIn(read, value, 'reportInputDuringAgentSpeech', at) ?? 'none',
    ignoreBackchannel: read.flag(value, 'ignoreBackchannel', at) ?? false,
    preemptible: read.flag(value, 'preemptible', at) ?? false,
    dtmfDetection: read.flag(value, 'dtmfDetection', at) ?? false,
    events: readEvents(read, value, at),
    parameters: readParameters(read, value['parameters'], `${at}.parameters`),
    lostSocket: read.word(value, 'lostSocket', at, ['resume', 'end']) ?? 'resume',
    holdPhrase: phrase('holdPhrase') ?? HOLD,
    failurePhrase: phrase('failurePhrase') ?? FAILED,
    idle: readIdle(read, value, at, undefined),
  };
}

function smartFormatIn(read: FieldReader, value: Fields, at: string): Pick<RelayAttributes, 'smartFormat'> {
  const smartFormat = read.flag(value, 'smart_format', at);
  return smartFormat === undefined ? {} : { smartFormat };
}

/** A word, or a boolean as in older versions of the protocol. */
function inputIn(read: FieldReader, fields: Fields, name: string, at: string): Input | undefined {
  if (fields[name] === true) return 'any';
  if (fields[name] === false) return 'none';
  return read.word(fields, name, at, INPUTS);
}

export function phraseIn(read: FieldReader, fields: Fields, name: string, at: string): string | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (typeof value === 'string' && value.trim() !== '' && value.length <= MOST_PHRASE) return value.trim();
  return read.problem(`${at}.${name}`, `must be a text of 1 to ${MOST_PHRASE} characters`);
}

function readAction(read: FieldReader, fields: Fields, at: string): string | undefined {
  const action = read.text(fields, 'action', at, 1000);
  if (action === undefined || isActionUrl(action)) return action;
  return read.problem(`${at}.action`, 'must be an http or https URL, without a user name or password');
}

function isActionUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username + password === '';
}

function readSpeechTimeout(read: FieldReader, fields: Fields, at: string): number | undefined {
  return fields['speechTimeout'] === 'auto'
    ? undefined
    : read.integer(fields, 'speechTimeout', at, ...SPEECH_TIMEOUT);
}

function readLanguages(read: FieldReader, value: unknown, at: string): RelayLanguage[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length > MOST_PARAMETERS) {
    read.problem(at, `must be a list of at most ${MOST_PARAMETERS} languages`);
    return [];
  }
  return value.flatMap((language: unknown, index) => {
    const place = `${at}[${index}]`;
    const known = ['code', 'voice', 'ttsProvider', 'transcriptionProvider', 'speechModel'];
    if (!read.fields(language, place, known)) return [];
    const code = read.text(language, 'code', place, 35);
    if (code === undefined && language['code'] === undefined) read.problem(`${place}.code`, 'is missing');
    return code === undefined ? [] : [{ code, voice: read.text(language, 'voice', place, 100) }];
  });
}

/** A list with spaces between its words; `debug` is its older name. */
function readEvents(read: FieldReader, fields: Fields, at: string): RelayConfig['events'] {
  const name = fields['events'] === undefined ? 'debug' : 'events';
  const words = (read.text(fields, name, at, 200) ?? '').split(/\s+/u).filter((word) => word !== '');
  const known = words.flatMap((word) => EVENTS.find((event) => event === word) ?? []);
  if (known.length < words.length) read.problem(`${at}.${name}`, `may have ${EVENTS.join(' and ')}`);
  return new Set(known);
}

export function readParameters(
  read: FieldReader,
  value: unknown,
  at: string,
): Readonly<Record<string, string>> {
  if (value === undefined) return {};
  if (isFields(value) && Object.keys(value).length <= MOST_PARAMETERS) {
    const texts = Object.entries(value).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    );
    if (texts.length === Object.keys(value).length) return Object.fromEntries(texts);
  }
  read.problem(at, `must be an object of at most ${MOST_PARAMETERS} texts`);
  return {};
}

/** Words of a call must not cross a network in the clear. */
export function isSocketUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, hash } = new URL(text);
  const isSafe = protocol === 'wss:' || (protocol === 'ws:' && isLocalHost(hostname));
  return isSafe && username + password + hash === '';
}

/** True if the host of a URL is this machine. */
export function isLocalHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}
