// The connection of a call to a bot with speech of its own: dials the bot's WebSocket, carries sound both
// ways in the protocol of Twilio's Media Streams, and ends the stream on either side.
//
//   connecting ──▶ open ──▶ over: the caller hung up, the bot closed the socket, or the bot is lost
//
// As with Twilio, a stream is never resumed. A bot that closes its socket normally has ended the call: what
// it gave is played to its end. If the bot is lost, the caller hears a phrase. Then the call ends.
import type { HandledCall, Talk } from '../../call/call-handler.js';
import { SoundFeed } from '../../call/sound-feed.js';
import { isNeedless } from '../../call/sound-port.js';
import type { MediaStreamConfig } from '../../config/media-stream-config.js';
import { asParleyError, ParleyError } from '../../errors.js';
import type { Time } from '../../time.js';
import { ApplicationSocket } from '../relay/application-socket.js';
import { ACCOUNT } from '../relay/relay-call.js';
import type { ConnectionCounters } from '../relay/relay-talk.js';
import { CallSound } from './call-sound.js';
import {
  MOST_MESSAGE_BYTES,
  readBotMessage,
  STREAM_RATE,
  streamErrorOf,
  type StreamTrack,
  StreamWriter,
} from './stream-messages.js';
import type { Log } from '../../log.js';

const FIRST_MS = 5000; // for all attempts to reach the bot
const BACK_OFF_MS = [250, 500, 1000, 2000] as const;
/** Bytes that the bot has not read: from here on it gets no sound, or is lost. Half a minute, and four. */
const SLOW_BYTES = 512 * 1024;
const LOST_BYTES = 4 * 1024 * 1024;
const BYTES_PER_MS = 20; // of messages with the sound of one track
const PHRASE_MS = 60_000;
const REST_MS = 610_000; // more than the sound that can wait
const NORMAL = 1000;
const KIND = 'media_stream';
const UNHEARD = 'the bot does not hear the call for now';
/** Twilio's numbers of what makes a stream fail. */
const FAILURES = { '31920': 'unreachable', '31921': 'lost' } as const;
/** Close codes of a bot that has ended the stream: normal, and none stated (RFC 6455 section 7.4.1). */
const ENDED: readonly number[] = [NORMAL, 1005];

const TRACKS: Readonly<Record<MediaStreamConfig['track'], readonly StreamTrack[]>> = {
  inbound_track: ['inbound'],
  outbound_track: ['outbound'],
  both_tracks: ['inbound', 'outbound'],
};

interface StreamParts {
  readonly time: Time;
  readonly connections: ConnectionCounters;
  /** Cryptographically strong. */
  readonly randomBytes: (count: number) => Buffer;
  readonly log: Log;
}

/** Connects calls with their bots. */
export function mediaStreamOpener(
  parts: StreamParts,
): (handled: HandledCall, config: MediaStreamConfig) => Talk {
  return (handled, config) => new StreamConnection(handled, config, parts);
}

class StreamConnection implements Talk {
  readonly #handled: HandledCall;
  readonly #config: MediaStreamConfig;
  readonly #parts: StreamParts;
  readonly #streamSid: string;
  readonly #writer: StreamWriter;
  readonly #feed: SoundFeed;
  readonly #startedMs: number;
  /** Refused messages and dropped chunks, by Twilio's number or our code. */
  readonly #refused = new Map<string, number>();
  #socket: ApplicationSocket | undefined;
  #isOpen = false;
  #isOver = false;
  #attempts = 0;
  #sound: CallSound | undefined;
  #unobserve: () => void = () => undefined;
  #cancelTimer: () => void = () => undefined;

  constructor(handled: HandledCall, config: MediaStreamConfig, parts: StreamParts) {
    this.#handled = handled;
    this.#config = config;
    this.#parts = parts;
    this.#startedMs = parts.time.now();
    this.#streamSid = `MZ${parts.randomBytes(16).toString('hex')}`;
    const { call } = handled;
    this.#writer = new StreamWriter({
      accountSid: ACCOUNT,
      callSid: call.id,
      streamSid: this.#streamSid,
    });
    this.#feed = new SoundFeed({
      call,
      sampleRate: STREAM_RATE,
      time: parts.time,
      marked: (name) => this.#isOpen && this.#send(this.#writer.mark(name)),
    });
    void call.closed.then(() => {
      this.#stop();
      this.#feed.close();
    });
    this.#dial();
  }

  /** Throws CALL_STATE: the bot has ears, and reads nothing. */
  typed(_text: string): void {
    throw new ParleyError('CALL_STATE', 'the bot of this call takes sound and keys, and no text');
  }

  #dial(): void {
    const { url, authToken } = this.#config;
    const target = { url, authToken, mostMessageBytes: MOST_MESSAGE_BYTES, mostUnreadBytes: LOST_BYTES };
    this.#socket = new ApplicationSocket(
      target,
      {
        opened: () => this.#opened(),
        message: (data) => this.#receive(data),
        failed: (detail) => this.#warn({ detail }, 'the bot has an error'),
        closed: (code) => this.#closed(code),
      },
      this.#parts.time,
    );
  }

  #opened(): void {
    const { call } = this.#handled;
    const { parameters, track } = this.#config;
    this.#isOpen = true;
    this.#parts.connections.opened(KIND);
    this.#send(this.#writer.connected());
    this.#send(this.#writer.start(TRACKS[track], parameters));
    this.#parts.log.info({ call: call.id, bot: this.#config.name, stream: this.#streamSid }, 'bot connected');
    const unobserve = call.observe((event) => {
      if (event.type === 'digit') this.#send(this.#writer.dtmf(event.digit));
    });
    const unhear = this.#hear();
    this.#unobserve = () => (unobserve(), unhear());
    this.#sound = new CallSound({
      call,
      tracks: TRACKS[track],
      time: this.#parts.time,
      chunk: (...chunk) => this.#chunk(...chunk),
      failed: (error) => this.#unheard(error),
    });
  }

  /** Applications learn each time that the bot hears nothing, and the log once. */
  #unheard({ code, message }: ParleyError): void {
    const { call } = this.#handled;
    if (!call.isClosing())
      call.tell({ type: 'agent.failed', error: { code, message: `${UNHEARD}: ${message}` } });
    this.#refuse(code, UNHEARD);
  }

  /** Speech of the caller is no silence of the call, though the bot hears it, and not this server. */
  #hear(): () => void {
    try {
      return this.#handled.call.hear();
    } catch (error) {
      const { code } = asParleyError(error, 'HEARING_FAILED');
      this.#warn({ code }, 'the silence of the caller is not known');
      return () => undefined;
    }
  }

  #chunk(track: StreamTrack, number: number, timestampMs: number, payload: string): void {
    const unreadBytes = this.#socket?.unreadBytes ?? 0;
    if (unreadBytes > SLOW_BYTES)
      return this.#refuse('31930', 'sound for the bot is dropped: it reads too slowly');
    const unreadMs = unreadBytes / BYTES_PER_MS / TRACKS[this.#config.track].length;
    const frame = () => Buffer.from(payload, 'base64');
    if (!isNeedless(frame, 'PCMU', unreadMs))
      this.#send(this.#writer.media(track, number, timestampMs, payload));
    return undefined;
  }

  #send(message: string): void {
    if (this.#isOpen) this.#socket?.send(message);
  }

  #receive(data: string | Buffer): void {
    try {
      const message = readBotMessage(data, this.#streamSid);
      if (message.event === 'media') this.#feed.push(message.samples);
      else if (message.event === 'mark') this.#feed.mark(message.name);
      else this.#feed.clear('cleared by the bot');
    } catch (error) {
      const refusal = asParleyError(error, 'MALFORMED');
      this.#refuse(
        streamErrorOf(refusal, typeof data !== 'string'),
        `a message of the bot was dropped: ${refusal.message}`,
      );
    }
  }

  /** Each kind is warned of once in a stream, as with Twilio; the end of the stream tells their numbers. */
  #refuse(error: string, message: string): void {
    const before = this.#refused.get(error) ?? 0;
    this.#refused.set(error, before + 1);
    if (before === 0) this.#warn({ error }, message);
  }

  #closed(code: number): void {
    this.#cancelTimer();
    if (this.#isOpen && ENDED.includes(code)) return void this.#ended();
    if (this.#isOpen) return this.#failed('31921', `the bot is lost, with close code ${code}`);
    const { time } = this.#parts;
    const backOffMs = BACK_OFF_MS[Math.min(this.#attempts++, BACK_OFF_MS.length - 1)] ?? 0;
    if (time.now() + backOffMs - this.#startedMs > FIRST_MS)
      return this.#failed('31920', 'the bot cannot be reached');
    this.#cancelTimer = time.after(backOffMs, () => this.#dial());
    return undefined;
  }

  /** The last word of the bot is heard, then the call ends. */
  async #ended(): Promise<void> {
    this.#stop();
    await this.#within(REST_MS, this.#feed.played());
    await this.#handled.hangUp();
  }

  #failed(error: keyof typeof FAILURES, message: string): void {
    this.#warn({ error }, message);
    this.#parts.connections.failed(KIND, FAILURES[error]);
    this.#stop();
    this.#feed.clear('the bot is lost');
    void this.#within(PHRASE_MS, this.#apologise()).then(() => this.#handled.hangUp());
  }

  async #apologise(): Promise<void> {
    const { failurePhrase, voice, language } = this.#config;
    try {
      await this.#handled.call.speak(failurePhrase, { voice, language }).ended;
    } catch (error) {
      this.#warn({ code: asParleyError(error, 'WRONG_STATE').code }, 'a phrase could not be spoken');
    }
  }

  /** Ends the stream, and not what is played. Idempotent. */
  #stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelTimer();
    this.#unobserve();
    this.#sound?.close();
    this.#send(this.#writer.stop());
    if (this.#isOpen) this.#parts.connections.closed(KIND);
    this.#isOpen = false;
    this.#socket?.close();
    this.#socket = undefined;
    const fields = { call: this.#handled.call.id, bot: this.#config.name, stream: this.#streamSid };
    this.#parts.log.info({ ...fields, refused: Object.fromEntries(this.#refused) }, 'bot left');
  }

  async #within(limitMs: number, work: Promise<unknown>): Promise<void> {
    let cancel: () => void = () => undefined;
    const limit = new Promise<void>((resolve) => (cancel = this.#parts.time.after(limitMs, resolve)));
    await Promise.race([work, limit]);
    cancel();
  }

  #warn(fields: Record<string, unknown>, message: string): void {
    this.#parts.log.warn({ call: this.#handled.call.id, bot: this.#config.name, ...fields }, message);
  }
}
