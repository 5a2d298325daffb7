// A fork of a call's sound: a bot hears it in the protocol of Twilio's Media Streams, and says nothing. It is
// dialled once, and its end does not end the call.
import type { HandledCall } from '../../call/call-handler.js';
import type { MediaStreamConfig } from '../../config/media-stream-config.js';
import type { StreamTold } from '../../ivr/verbs.js';
import type { Log } from '../../log.js';
import type { Time } from '../../time.js';
import { ApplicationSocket } from '../relay/application-socket.js';
import { ACCOUNT } from '../relay/relay-call.js';
import type { ConnectionCounters } from '../relay/relay-talk.js';
import { CallSound } from './call-sound.js';
import { MOST_MESSAGE_BYTES, type StreamTrack, StreamWriter } from './stream-messages.js';

/** Bytes that the bot has not read: from here on it gets no sound, or is lost. */
const SLOW_BYTES = 512 * 1024;
const LOST_BYTES = 4 * 1024 * 1024;
const KIND = 'media_stream';
const TRACKS: Readonly<Record<MediaStreamConfig['track'], readonly StreamTrack[]>> = {
  inbound_track: ['inbound'],
  outbound_track: ['outbound'],
  both_tracks: ['inbound', 'outbound'],
};

interface ForkParts {
  readonly time: Time;
  /** Milliseconds since 1970. */
  readonly unixMs: () => number;
  readonly connections: ConnectionCounters;
  /** Cryptographically strong. */
  readonly randomBytes: (count: number) => Buffer;
  readonly log: Log;
}

/** `told` learns of its beginning and of its end, once each. The returned function ends it. */
export type ForkStream = (
  handled: HandledCall,
  config: MediaStreamConfig,
  told: (what: StreamTold) => void,
) => () => void;

export function streamForker(parts: ForkParts): ForkStream {
  return (handled, config, told) => {
    const fork = new StreamFork(handled, config, parts, told);
    return () => fork.stop();
  };
}

class StreamFork {
  readonly #handled: HandledCall;
  readonly #config: MediaStreamConfig;
  readonly #parts: ForkParts;
  readonly #told: (what: StreamTold) => void;
  readonly #streamSid: string;
  readonly #writer: StreamWriter;
  readonly #socket: ApplicationSocket;
  #sound: CallSound | undefined;
  #unobserve = (): void => undefined;
  #isOpen = false;
  #isOver = false;

  constructor(
    handled: HandledCall,
    config: MediaStreamConfig,
    parts: ForkParts,
    told: (what: StreamTold) => void,
  ) {
    this.#handled = handled;
    this.#config = config;
    this.#parts = parts;
    this.#told = told;
    this.#streamSid = `MZ${parts.randomBytes(16).toString('hex')}`;
    const callSid = handled.call.id;
    this.#writer = new StreamWriter({ accountSid: ACCOUNT, callSid, streamSid: this.#streamSid });
    const { url, authToken } = config;
    const target = { url, authToken, mostMessageBytes: MOST_MESSAGE_BYTES, mostUnreadBytes: LOST_BYTES };
    const listener = {
      opened: () => this.#opened(),
      message: () => undefined, // a fork takes nothing from its bot
      failed: (detail: string) => this.#parts.log.warn({ call: callSid, detail }, 'a stream has an error'),
      closed: (code: number) => this.#closed(code),
    };
    this.#socket = new ApplicationSocket(target, listener, parts.time);
  }

  stop(): void {
    this.#end({ event: 'stream-stopped' });
  }

  #opened(): void {
    const { call } = this.#handled;
    const { track, parameters } = this.#config;
    const tracks = TRACKS[track];
    this.#isOpen = true;
    this.#parts.connections.opened(KIND);
    this.#socket.send(this.#writer.connected());
    this.#socket.send(this.#writer.start(tracks, parameters));
    this.#unobserve = call.observe((event) => {
      if (event.type === 'digit') this.#socket.send(this.#writer.dtmf(event.digit));
    });
    this.#sound = new CallSound({
      call,
      tracks,
      time: this.#parts.time,
      chunk: (...chunk) => {
        // The sound in between is lost for a bot that reads too slowly.
        if (this.#socket.unreadBytes <= SLOW_BYTES) this.#socket.send(this.#writer.media(...chunk));
      },
      failed: ({ code }) => this.#parts.log.warn({ call: call.id, code }, 'a stream hears nothing for now'),
    });
    this.#tell({ event: 'stream-started' });
  }

  #closed(code: number): void {
    if (!this.#isOpen) {
      this.#parts.connections.failed(KIND, 'unreachable');
      return this.#end({ event: 'stream-error', error: 'the bot cannot be reached' });
    }
    if (code === 1000 || code === 1005) return this.#end({ event: 'stream-stopped' });
    this.#parts.connections.failed(KIND, 'lost');
    return this.#end({ event: 'stream-error', error: `the bot is lost, with close code ${code}` });
  }

  #end(what: Pick<StreamTold, 'event' | 'error'>): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#unobserve();
    this.#sound?.close();
    if (this.#isOpen) {
      this.#socket.send(this.#writer.stop());
      this.#parts.connections.closed(KIND);
    }
    this.#socket.close();
    this.#tell(what);
  }

  #tell(what: Pick<StreamTold, 'event' | 'error'>): void {
    this.#told({ ...what, streamSid: this.#streamSid, at: this.#parts.unixMs() });
  }
}
