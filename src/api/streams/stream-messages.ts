// The messages of Twilio's Media Streams: those of the bot are read, those to the bot are written.
//
// https://www.twilio.com/docs/voice/media-streams/websocket-messages
import { MU_LAW_VALUES } from '../../codecs/g711.js';
import type { ParleyError } from '../../errors.js';
import { choiceIn, type Fields, invalid, readFields, stringIn } from '../http/message-fields.js';

type BotMessage =
  | { readonly event: 'media'; readonly samples: Int16Array }
  | { readonly event: 'mark'; readonly name: string }
  | { readonly event: 'clear' };

/** Hz. The only format is mu-law with one channel. */
export const STREAM_RATE = 8000;
/** The largest message, in bytes: 98 s of sound. Larger ones end the socket. */
export const MOST_MESSAGE_BYTES = 1024 * 1024;
const MOST_NAME = 500; // characters of a mark
const EVENTS = ['media', 'mark', 'clear'] as const;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Unknown fields are ignored. Throws MALFORMED and INVALID_FIELD. */
export function readBotMessage(data: string | Uint8Array, streamSid: string): BotMessage {
  const fields = readFields(data);
  const event = choiceIn(fields, 'event', EVENTS);
  if (event === undefined) throw invalid('event', `must be one of ${EVENTS.join(', ')}`);
  if (fields['streamSid'] !== streamSid) throw invalid('streamSid', 'must be that of the "start" message');
  if (event === 'clear') return { event };
  const body = fields[event];
  if (typeof body !== 'object' || body === null) throw invalid(event, 'must be an object');
  if (event === 'mark') return { event, name: wanted(body as Fields, 'name', MOST_NAME) };
  const payload = wanted(body as Fields, 'payload', MOST_MESSAGE_BYTES);
  if (!BASE64.test(payload)) throw invalid('payload', 'must be base64');
  return { event, samples: muLawSamples(Buffer.from(payload, 'base64')) };
}

function wanted(fields: Fields, name: string, most: number): string {
  const value = stringIn(fields, name, most);
  if (value === undefined) throw invalid(name, 'must be a string');
  return value;
}

function muLawSamples(bytes: Uint8Array): Int16Array {
  const samples = new Int16Array(bytes.length);
  for (let n = 0; n < bytes.length; n++) samples[n] = MU_LAW_VALUES[bytes[n] as number] as number;
  return samples;
}

/** Twilio's number of a warning or an error of Media Streams. https://www.twilio.com/docs/api/errors */
export function streamErrorOf({ code, field }: ParleyError, isBinary: boolean): string {
  if (isBinary) return '31950';
  if (code === 'QUEUE_FULL' && field !== 'mark') return '31931';
  return code === 'MALFORMED' || code === 'INVALID_FIELD' ? '31951' : code;
}

/** A track as the messages name it. */
export type StreamTrack = 'inbound' | 'outbound';

interface StreamPlace {
  readonly accountSid: string;
  readonly callSid: string;
  readonly streamSid: string;
}

/** Writes the messages to the bot. Each but the first has the next sequence number. */
export class StreamWriter {
  readonly #place: StreamPlace;
  readonly #streamSid: string;
  #sequence = 0;

  constructor(place: StreamPlace) {
    this.#place = place;
    this.#streamSid = place.streamSid;
  }

  connected(): string {
    return JSON.stringify({ event: 'connected', protocol: 'Call', version: '1.0.0' });
  }

  start(tracks: readonly StreamTrack[], customParameters: Readonly<Record<string, string>>): string {
    const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: STREAM_RATE, channels: 1 };
    const { streamSid, accountSid, callSid } = this.#place;
    const start = { streamSid, accountSid, callSid, tracks, mediaFormat, customParameters };
    return this.#message('start', start);
  }

  /** Fifty a second: none of the values needs escaping. */
  media(track: StreamTrack, chunk: number, timestampMs: number, payload: string): string {
    const head = `{"event":"media","sequenceNumber":"${++this.#sequence}","streamSid":"${this.#streamSid}"`;
    const media = `{"track":"${track}","chunk":"${chunk}","timestamp":"${timestampMs}","payload":"${payload}"}`;
    return `${head},"media":${media}}`;
  }

  dtmf(digit: string): string {
    return this.#message('dtmf', { track: 'inbound_track', digit });
  }

  mark(name: string): string {
    return this.#message('mark', { name });
  }

  stop(): string {
    const { accountSid, callSid } = this.#place;
    return this.#message('stop', { accountSid, callSid });
  }

  #message(event: string, body: object): string {
    const sequenceNumber = String(++this.#sequence);
    return JSON.stringify({ event, sequenceNumber, streamSid: this.#streamSid, [event]: body });
  }
}
