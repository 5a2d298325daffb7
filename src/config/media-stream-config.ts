// Reads the agents of AGENTS_FILE that are bots with speech of their own, behind a WebSocket with the
// protocol of Twilio's Media Streams:
//
//   {"mediaStream": {"url": "wss://bot.example.com/media", "authTokenEnv": "STREAM_TOKEN",
//                    "parameters": {"tenant": "acme"}, "track": "inbound_track"}}
//
// https://www.twilio.com/docs/voice/twiml/stream
import type { FieldReader } from './fields.js';
import { isSocketUrl, phraseIn, readParameters } from './relay-config.js';

const TRACKS = ['inbound_track', 'outbound_track', 'both_tracks'] as const;

export interface MediaStreamConfig {
  readonly name: string;
  /** `wss`, or `ws` on loopback; without a query. */
  readonly url: string;
  /** Signs the handshake; undefined: it is not signed. */
  readonly authToken: string | undefined;
  /** `customParameters` of the `start` message. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The sound that the bot gets: the caller's, that of this server, or both. */
  readonly track: (typeof TRACKS)[number];
  /** Spoken when the bot cannot be reached or is lost, before the call ends. */
  readonly failurePhrase: string;
  /** Voice of that phrase. */
  readonly voice: string | undefined;
  /** BCP 47 tag of that phrase; undefined: it is found in its words. */
  readonly language: string | undefined;
}

const FAILED = 'I am sorry, we have a technical problem. Please call again later.';
const FIELDS = ['url', 'authTokenEnv', 'parameters', 'track', 'failurePhrase', 'voice', 'language'] as const;

/** Undefined for what is no object; other mistakes are problems of the reader. */
export function readMediaStream(
  read: FieldReader,
  value: unknown,
  { name, at, secret }: { name: string; at: string; secret: (variable: string) => string | undefined },
): MediaStreamConfig | undefined {
  if (!read.fields(value, at, FIELDS)) return undefined;
  const url = read.text(value, 'url', at, 1000) ?? '';
  if (!isSocketUrl(url))
    read.problem(`${at}.url`, 'must be a wss URL, or a ws URL of this machine, without user and fragment');
  else if (url.includes('?'))
    read.problem(`${at}.url`, 'must have no query, as with Twilio: "parameters" tell the bot what it needs');
  const tokenEnv = read.text(value, 'authTokenEnv', at, 200);
  return {
    name,
    url,
    authToken: tokenEnv === undefined ? undefined : secret(tokenEnv),
    parameters: readParameters(read, value['parameters'], `${at}.parameters`),
    track: read.word(value, 'track', at, TRACKS) ?? 'inbound_track',
    failurePhrase: phraseIn(read, value, 'failurePhrase', at) ?? FAILED,
    voice: read.text(value, 'voice', at, 100),
    language: read.text(value, 'language', at, 35),
  };
}
