// Reads the verb Connect of TwiML with its nouns ConversationRelay and Stream, as fields of the `relay` and
// the `mediaStream` of an agent. https://www.twilio.com/docs/voice/twiml/connect
import { IDLE_FIELDS } from '../../config/idle-config.js';
import { RELAY_ATTRIBUTES } from '../../config/relay-config.js';
import type { Connect } from '../../ivr/verbs.js';
import type { ElementParser } from './dial-parser.js';
import { TwimlAttributes } from './twiml-attributes.js';
import { elementsOf, type TwimlElement } from './twiml-document.js';

export const CONNECT_ATTRIBUTES: readonly string[] = ['action', 'method'];

/** Fields that are no attributes: elements, and settings of ours. */
const NO_ATTRIBUTES: ReadonlySet<string> = new Set([
  'languages',
  'parameters',
  'lostSocket',
  'holdPhrase',
  'failurePhrase',
  'smart_format', // deepgramSmartFormat, with Twilio
  ...IDLE_FIELDS,
]);
const OF_RELAY: readonly string[] = ['url', ...RELAY_ATTRIBUTES.filter((name) => !NO_ATTRIBUTES.has(name))];
/** As the client library of Twilio writes them. */
const OTHER_CASE: Readonly<Record<string, string>> = {
  speechtimeout: 'speechTimeout',
  ignorebackchannel: 'ignoreBackchannel',
  deepgramsmartformat: 'smart_format',
  deepgramSmartFormat: 'smart_format',
};
/** They choose products, and have no effect here. */
const WITHOUT_EFFECT = ['backgroundnoisereduction', 'intelligenceService', 'profanityFilter'];
const OF_STREAM = ['url', 'track', 'name', 'connectorName', 'statusCallback', 'statusCallbackMethod'];
const OF_LANGUAGE = ['code', 'voice', 'ttsProvider', 'transcriptionProvider', 'speechModel'];
/** The values of these are texts, whatever they look like. */
const TEXTS: readonly string[] = ['welcomeGreeting', 'hints', 'url', 'voice'];

type Nouns = Readonly<Record<string, unknown>>;

export function readConnect(
  element: TwimlElement,
  read: TwimlAttributes,
  parser: ElementParser,
): Connect | undefined {
  const nouns = elementsOf(element);
  const targets = nouns.flatMap((noun) => targetOf(noun, parser) ?? []);
  const [to] = targets;
  if (targets.length > 1) parser.warn(element, '<Connect> has one noun; those behind the first are skipped');
  if (to === undefined && nouns.length > 0) return undefined; // a warning tells why
  if (to === undefined)
    return parser.warn(element, '<Connect> must hold <ConversationRelay> or <Stream>; it is skipped');
  const action = read.raw('action')?.trim() ?? '';
  return {
    verb: 'connect',
    to,
    action: action === '' ? undefined : parser.target(action, read, 'method'),
  };
}

function targetOf(noun: TwimlElement, parser: ElementParser): Connect['to'] | undefined {
  if (noun.name === 'ConversationRelay') return { kind: 'relay', fields: relayFields(noun, parser) };
  if (noun.name === 'Stream') return { kind: 'stream', fields: streamFields(noun, parser) };
  return parser.skip(noun);
}

function relayFields(noun: TwimlElement, parser: ElementParser): Nouns {
  parser.checkAttributes(noun, [...OF_RELAY, ...Object.keys(OTHER_CASE), ...WITHOUT_EFFECT]);
  const fields: Record<string, unknown> = { lostSocket: 'end' }; // as with Twilio
  for (const [written, value] of Object.entries(noun.attributes)) {
    const name = OTHER_CASE[written] ?? written;
    if (OF_RELAY.includes(name) || written in OTHER_CASE)
      fields[name] = TEXTS.includes(name) ? value.trim() : valueOf(value.trim());
  }
  const languages = elementsOf(noun).filter(({ name }) => name === 'Language');
  for (const language of languages) parser.checkAttributes(language, OF_LANGUAGE);
  const parameters = parametersOf(noun, parser, ['Language']);
  return {
    ...fields,
    ...(languages.length === 0 ? {} : { languages: languages.map(languageOf) }),
    parameters,
  };
}

/** A flag or a number, where the text is one. */
function valueOf(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^\d{1,6}$/.test(text) ? Number(text) : text;
}

function languageOf({ attributes }: TwimlElement): Nouns {
  return Object.fromEntries(
    OF_LANGUAGE.flatMap((name) => (name in attributes ? [[name, attributes[name]]] : [])),
  );
}

function streamFields(noun: TwimlElement, parser: ElementParser): Nouns {
  parser.checkAttributes(noun, OF_STREAM);
  const read = new TwimlAttributes(noun, parser.warn);
  if (read.raw('statusCallback') !== undefined)
    read.note('"statusCallback" of <Stream> in <Connect> is not done by this server yet');
  const track = read.choice('track', ['inbound_track'], 'inbound_track');
  return { url: read.raw('url')?.trim() ?? '', track, parameters: parametersOf(noun, parser, []) };
}

/** The texts of <Parameter>. */
export function parametersOf(noun: TwimlElement, parser: ElementParser, others: readonly string[]): Nouns {
  const parameters: Record<string, string> = {};
  for (const child of elementsOf(noun)) {
    if (others.includes(child.name)) continue;
    const { name, value } = child.attributes;
    if (child.name === 'Parameter' && name !== undefined) parameters[name] = value ?? '';
    else parser.warn(child, `<${noun.name}> holds no <${child.name.slice(0, 40)}>; it is skipped`);
  }
  return parameters;
}
