// Reads the verbs Start and Stop of TwiML with their nouns. https://www.twilio.com/docs/voice/twiml/start
import type { Fork, Start, Stop, TranscriptFork } from '../../ivr/verbs.js';
import type { ElementParser } from './dial-parser.js';
import { parametersOf } from './connect-verb.js';
import { readRecordingCallback } from './record-verb.js';
import { TwimlAttributes } from './twiml-attributes.js';
import { elementsOf, type TwimlElement } from './twiml-document.js';
import { INVALID_URL } from './twiml-errors.js';

/** Twilio requests no action of these verbs. */
export const START_ATTRIBUTES: readonly string[] = ['action', 'method'];

const OF_STREAM = ['name', 'url', 'track', 'statusCallback', 'statusCallbackMethod', 'connectorName'];
const OF_RECORDING = [
  'channels',
  'track',
  'trim',
  'recordingStatusCallback',
  'recordingStatusCallbackMethod',
  'recordingStatusCallbackEvent',
  'recordingConfigurationId',
];
const OF_TRANSCRIPTION = [
  'name',
  'track',
  'languageCode',
  'partialResults',
  'inboundTrackLabel',
  'outboundTrackLabel',
  'hints',
  'statusCallbackUrl',
  'statusCallbackMethod',
  // These choose products, and have no effect here.
  'enableAutomaticPunctuation',
  'intelligenceService',
  'profanityFilter',
  'speechModel',
  'transcriptionEngine',
];
const TRACKS = ['inbound_track', 'outbound_track', 'both_tracks'] as const;
const KINDS = { Stream: 'stream', Recording: 'recording', Transcription: 'transcript' } as const;
const MOST_HINTS = 500;

export function readStart(element: TwimlElement, parser: ElementParser): Start | undefined {
  const forks = elementsOf(element).flatMap((noun) => forkOf(noun, parser) ?? []);
  return forks.length === 0 ? refuseEmpty(element, parser) : { verb: 'start', forks };
}

export function readStop(element: TwimlElement, parser: ElementParser): Stop | undefined {
  const forks = elementsOf(element).flatMap((noun) => {
    const kind = kindOf(noun);
    if (kind === undefined) return parser.skip(noun) ?? [];
    parser.checkAttributes(noun, ['name', ...OF_STREAM, ...OF_RECORDING, ...OF_TRANSCRIPTION]);
    const name = nameOf(new TwimlAttributes(noun, parser.warn));
    return [{ kind, name: kind === 'recording' ? undefined : name }];
  });
  return forks.length === 0 ? refuseEmpty(element, parser) : { verb: 'stop', forks };
}

/** Nouns that are skipped have a warning of their own. */
function refuseEmpty(element: TwimlElement, parser: ElementParser): undefined {
  if (elementsOf(element).length > 0) return undefined;
  const nouns = Object.keys(KINDS).map((name) => `<${name}>`);
  return parser.warn(element, `<${element.name}> must hold ${nouns.join(', ')}; it is skipped`);
}

function kindOf({ name }: TwimlElement): Fork['kind'] | undefined {
  return Object.hasOwn(KINDS, name) ? KINDS[name as keyof typeof KINDS] : undefined;
}

function nameOf(read: TwimlAttributes): string | undefined {
  const name = read.raw('name')?.trim() ?? '';
  return name === '' ? undefined : name;
}

function forkOf(noun: TwimlElement, parser: ElementParser): Fork | undefined {
  const read = new TwimlAttributes(noun, parser.warn);
  switch (kindOf(noun)) {
    case 'stream':
      return streamOf(noun, read, parser);
    case 'recording':
      return recordingOf(noun, read, parser);
    case 'transcript':
      return transcriptOf(noun, read, parser);
    case undefined:
      return parser.skip(noun);
  }
}

function streamOf(noun: TwimlElement, read: TwimlAttributes, parser: ElementParser): Fork {
  parser.checkAttributes(noun, OF_STREAM);
  const callback = read.raw('statusCallback')?.trim() ?? '';
  const url = read.raw('url')?.trim() ?? '';
  const track = read.choice('track', TRACKS, 'inbound_track');
  return {
    kind: 'stream',
    name: nameOf(read),
    fields: { url, track, parameters: parametersOf(noun, parser, []) },
    callback: callback === '' ? undefined : parser.target(callback, read, 'statusCallbackMethod'),
  };
}

function recordingOf(noun: TwimlElement, read: TwimlAttributes, parser: ElementParser): Fork {
  parser.checkAttributes(noun, OF_RECORDING);
  if (read.choice('channels', ['dual', 'mono'], 'dual') === 'mono')
    read.note('"channels" of <Recording>: the two sides are recorded in two channels');
  if (read.choice('track', ['both', 'inbound', 'outbound'], 'both') !== 'both')
    read.note('"track" of <Recording>: both sides are recorded');
  if (read.choice('trim', ['do-not-trim', 'trim-silence'], 'do-not-trim') === 'trim-silence')
    read.note('"trim" of <Recording>: a recording of the whole call keeps its silence');
  return { kind: 'recording', callback: readRecordingCallback(read, parser.target) };
}

function transcriptOf(
  noun: TwimlElement,
  read: TwimlAttributes,
  parser: ElementParser,
): TranscriptFork | undefined {
  parser.checkAttributes(noun, OF_TRANSCRIPTION);
  const callback = read.raw('statusCallbackUrl')?.trim() ?? '';
  if (callback === '') {
    const what = 'must have "statusCallbackUrl", which gets the text; it is skipped';
    return parser.warn(noun, `<Transcription> ${what}`, INVALID_URL);
  }
  const track = read.choice('track', TRACKS, 'both_tracks');
  const label = (name: string, isHeard: boolean) => (isHeard ? (read.raw(name)?.trim() ?? '') : undefined);
  const hints = (read.raw('hints') ?? '').split(',').map((hint) => hint.trim());
  return {
    kind: 'transcript',
    name: nameOf(read),
    callback: parser.target(callback, read, 'statusCallbackMethod'),
    language: read.language('languageCode', 'en-US'),
    isPartial: read.flag('partialResults', false),
    hints: hints.filter((hint) => hint !== '').slice(0, MOST_HINTS),
    sides: {
      caller: label('inboundTrackLabel', track !== 'outbound_track'),
      server: label('outboundTrackLabel', track !== 'inbound_track'),
    },
  };
}
