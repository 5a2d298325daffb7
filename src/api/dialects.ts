// Opens the dialects of WebSockets: speech without a call, live transcription, telephone calls, and the
// sockets that are calls themselves.
import type { Time } from '../time.js';
import type { LiveTranscriber } from '../transcribing/live-transcriber.js';
import { elevenLabsDialects } from './elevenlabs/stream-input.js';
import { jambonzVoiceSocket } from './jambonz/jambonz-voice-socket.js';
import { legacySocket } from './legacy/legacy-socket.js';
import { jambonzSocket } from './jambonz/jambonz-transcription-socket.js';
import { liveSocket } from './live/live-socket.js';
import type { LiveSocketParts } from './live/live-socket-parts.js';
import { realtimeSocket } from './realtime/transcription-socket.js';
import { omniSocket } from './omni/omni-socket.js';
import type { SpeechSocketParts } from './speech/speech-sockets.js';
import { ModelNames, TRANSCRIPTION_MODELS } from './speech/speech-request.js';
import type { ClientSecrets } from './http/client-secrets.js';
import { realtimeConversations, type RealtimeSocketParts } from './realtime/realtime-socket.js';
import { relayCallSocket, type RelaySocketParts } from './relay/relay-socket.js';
import { type RelayAttachments, relaySocket } from './relay/relay-attachments.js';
import type { TelephoneAccess } from './calls/telephone-access.js';
import { telephoneSocket } from './calls/telephone-socket.js';
import type { Dialect } from './http/socket-dialect.js';
import type { Log } from '../log.js';
import type { HttpMetrics } from './http/http-metrics.js';

export interface DialectOptions {
  /** Speech over WebSockets without a call; without it, its sockets do not exist. */
  readonly speaking?: Pick<SpeechSocketParts, 'speaker' | 'limits'>;
  /** Live transcription; without it, its sockets are refused. */
  readonly live?: LiveTranscriber | undefined;
  /** For WebSockets that are calls; undefined: there are none. */
  readonly socketCalls?: (RealtimeSocketParts & RelaySocketParts) | undefined;
  /** Applications that attach to calls; without them, there are no calls to attach to. */
  readonly relays?: RelayAttachments | undefined;
  /** Voice names by the voice ids that ElevenLabs clients send. */
  readonly elevenLabsVoices?: ReadonlyMap<string, string>;
  readonly models: { readonly id: string; readonly strict: boolean };
  readonly metrics: HttpMetrics;
  readonly log: Log;
}

interface DialectParts {
  readonly phone: TelephoneAccess;
  /** True if the server has API keys. */
  readonly keyed: boolean;
  readonly secrets: ClientSecrets;
  readonly time: Time;
}

export function openDialects(options: DialectOptions, parts: DialectParts): readonly Dialect[] {
  const { relays, socketCalls } = options;
  const { phone, keyed, time } = parts;
  return [
    ...speakingDialects(options, time),
    ...liveDialects(options, time, parts),
    telephoneSocket(phone, keyed),
    ...(relays === undefined ? [] : [relaySocket(relays, keyed)]),
    ...(socketCalls === undefined ? [] : [relayCallSocket(socketCalls, keyed)]),
  ];
}

/** The dialects of live transcription. */
function liveDialects(
  options: DialectOptions,
  time: Time,
  access: Pick<DialectParts, 'keyed' | 'secrets'>,
): readonly Dialect[] {
  const { live, models, metrics, log, socketCalls } = options;
  const names = new ModelNames(live?.name ?? 'none', models.strict, TRANSCRIPTION_MODELS);
  const parts: LiveSocketParts = {
    live,
    checkModel: (name) => names.check(name),
    time,
    failed: (error, requestId) =>
      log.error({ requestId, code: error.code, err: error }, 'live transcription failed'),
    finalText: (requestId, { part: turn, text, language }, ms) => {
      metrics.recognition.finalText(ms);
      log.info(
        { requestId, turn, ms: Math.round(ms), characters: text.length, language, text },
        'turn recognised',
      );
    },
  };
  const conversations = realtimeConversations(realtimeSocket(parts, access.secrets), socketCalls, access);
  return [liveSocket(parts), conversations, jambonzSocket(parts)];
}

/** The dialects that speak over WebSockets without a call. */
function speechDialects(parts: SpeechSocketParts): readonly Dialect[] {
  const { limits, elevenLabsVoices } = parts;
  const { maxTextLength } = limits;
  const voices = elevenLabsVoices === undefined ? {} : { voices: elevenLabsVoices };
  return [
    legacySocket(parts),
    omniSocket(parts),
    jambonzVoiceSocket(parts),
    ...elevenLabsDialects({ ...parts, ...voices, maxTextLength }),
  ];
}

function speakingDialects(
  { speaking, elevenLabsVoices, models, metrics, log }: DialectOptions,
  time: Time,
): readonly Dialect[] {
  if (speaking === undefined) return [];
  return speechDialects({
    ...speaking,
    ...(elevenLabsVoices === undefined ? {} : { elevenLabsVoices }),
    time,
    checkModel: (name) => new ModelNames(models.id, models.strict).check(name),
    failed: (error, requestId) => log.error({ requestId, code: error.code, err: error }, 'speech failed'),
    firstSound: (ms) => metrics.firstAudio(ms, 'websocket'),
  });
}
