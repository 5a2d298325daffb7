// The session of a page with its call: texts and interruptions in, events out, all JSON. It checks each
// message of the page field by field before it acts on it. No message of the page ends the call.
//
// A session uses the data channel of the call's present connection, and outlives it: the next channel goes on
// with the text whose tokens are still coming, and gets the events that the page has missed.
import type { Call } from '../src/call/call.js';
import type { CallerListener } from '../src/call/caller-texts.js';
import type { CallEvent } from '../src/call/call-events.js';
import { INTERRUPTIBLE, type Interruptible } from '../src/call/utterance.js';
import type { Interruption } from '../src/call/utterance-queue.js';
import type { Talk } from '../src/call/call-handler.js';
import { MessageRate, type MessageRateLimits } from '../src/call/client-limits.js';
import { HEARING_BOUNDS, type HearingSettings, SENSITIVITIES } from '../src/config/hearing-config.js';
import { asParleyError, forClient, isHidden, ParleyError } from '../src/errors.js';
import { isStatedLanguage, tagOfStated } from '../src/speaking/language-plan.js';
import { TokenStream, tooLong } from '../src/speaking/text-source.js';
import { stated } from '../src/stated.js';
import type { Time } from '../src/time.js';
import { Outbox, type TextChannel } from './outbox.js';
import { type CaptionChoice, type CaptionMessage, PageCaptions } from './page-captions.js';
import type { Log } from '../src/log.js';

export type TalkingCall = Pick<
  Call,
  | 'id'
  | 'wordTimes'
  | 'codec'
  | 'speak'
  | 'listen'
  | 'interrupt'
  | 'pressed'
  | 'stats'
  | 'isLinkThin'
  | 'close'
  | 'observe'
>;

export interface DataChannelLimits {
  /** UTF-16 units that one text may have. */
  readonly maxTextLength: number;
  readonly messages: MessageRateLimits;
}

export type ServerMessage =
  | CallEvent
  | CaptionMessage
  | ({ type: 'cleared' } & Interruption)
  | ReadyMessage
  | ({ type: 'stats' } & ReturnType<Call['stats']>)
  | { type: 'error'; error: { code: string; message: string; field?: string } };

interface ReadyMessage {
  readonly type: 'ready';
  readonly call: string;
  readonly codec: string;
  /** Name of the agent that talks; absent: none does. */
  readonly agent?: string;
  /** Name of the program that conducts the call; absent: none does. */
  readonly program?: string;
  readonly limits: { readonly textLength: number; readonly messageBytes: number };
}

interface SessionParts {
  readonly limits: DataChannelLimits;
  readonly time: Time;
  readonly log: Log;
  /** The agent or the program of the call, and its talk. */
  readonly agent?: string;
  readonly program?: string;
  readonly talk?: Talk;
  /** Tells what the caller says until the returned function is called; absent: no caller is recognised. */
  readonly followCaller?: ((listener: CallerListener) => () => void) | undefined;
}

type TextMessage = Extract<ClientMessage, { type: 'text' }>;

/** A text whose last token has not come yet. Refused: what still comes of it is passed over. */
type OpenText = 'refused' | { readonly stream: TokenStream; readonly first: TextMessage; length: number };

const STATS_EVERY_MS = 1000;
const THIN_STATS_EVERY_MS = 5000; // a message takes some 3 kbit/s if it comes each second
const STATS_OVERDUE_MS = 5000;
const FLOOD_ERROR_EVERY_MS = 1000; // at most one error a second
const STATS_LIMIT_BYTES = 64 * 1024; // statistics behind such a backlog would be out of date

export class DataChannelSession {
  readonly #call: TalkingCall;
  readonly #limits: DataChannelLimits;
  readonly #time: Time;
  readonly #log: Log;
  readonly #rate: MessageRate;
  readonly #outbox: Outbox;
  readonly #captions: PageCaptions;
  /** In `ready`. */
  readonly #conductor: { readonly agent?: string; readonly program?: string };
  readonly #talk: Talk | undefined;
  /** Undefined until the first channel: a page without one gets no events. */
  #unobserve: (() => void) | undefined;
  #text: OpenText | undefined;
  #cancelStats: () => void = () => undefined;
  #statsSentMs = 0;
  #nextFloodErrorMs = -Infinity;
  #closed = false;

  constructor(call: TalkingCall, { limits, time, log, agent, program, talk, followCaller }: SessionParts) {
    this.#call = call;
    this.#conductor = stated({ agent, program });
    this.#talk = talk;
    this.#limits = limits;
    this.#time = time;
    this.#log = log;
    this.#rate = new MessageRate(limits.messages, time.now());
    this.#outbox = new Outbox({ call, log, onUnread: () => this.close(), noticeOf: errorEvent });
    this.#captions = new PageCaptions({
      wordTimes: call.wordTimes,
      followCaller,
      send: (message) => this.#send(message),
      sendNow: (message) => this.#outbox.sendNow(message),
      failed: (error) => this.#tell(error),
      time,
    });
  }

  /** The page can be reached over this channel. */
  attach(channel: TextChannel): void {
    if (this.#closed) return;
    this.#unobserve ??= this.#call.observe((event) => {
      this.#send(event);
      this.#captions.observe(event);
    });
    const { id, codec } = this.#call;
    const limits = { textLength: this.#limits.maxTextLength, messageBytes: MAX_MESSAGE_BYTES };
    const ready: ServerMessage = { type: 'ready', call: id, codec: codec.name, ...this.#conductor, limits };
    this.#outbox.attach(channel, ready);
    this.#cancelStats();
    this.#statsSentMs = this.#time.now();
    this.#planStats();
  }

  /** The connection of this channel ends. Events wait for the next one. */
  detach(channel: TextChannel): void {
    if (this.#outbox.detach(channel)) this.#cancelStats();
  }

  /** Events wait while the connection is not heard. */
  hold(isHeld: boolean): void {
    this.#outbox.hold(isHeld);
  }

  /** A message from the page; never throws. */
  receive(data: unknown): void {
    if (this.#closed) return;
    const nowMs = this.#time.now();
    if (!this.#rate.admits(nowMs)) return this.#flooded(nowMs);
    try {
      const message = readClientMessage(data);
      if (message.type === 'text') this.#speak(message, nowMs);
      else if (message.type === 'listen') this.#call.listen(message.settings);
      else if (message.type === 'prompt') this.#prompt(message.text);
      else if (message.type === 'captions') this.#captions.choose(message);
      else if (message.type === 'digit') this.#call.pressed(message.digit);
      else this.#clear();
    } catch (error) {
      this.#tell(asParleyError(error, 'MALFORMED'));
    }
  }

  /** Stops the timer and lets go of the call, which lives on. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelStats();
    this.#unobserve?.();
    this.#captions.close();
    this.#outbox.close();
    if (this.#text !== undefined && this.#text !== 'refused') this.#text.stream.end();
  }

  #prompt(text: string): void {
    if (this.#talk === undefined)
      throw new ParleyError(
        'CALL_STATE',
        'no agent and no program talks in this call: nobody would answer the prompt',
      );
    this.#talk.typed(text);
  }

  #speak(message: TextMessage, receivedAtMs: number): void {
    const open = this.#text;
    if (open === 'refused') {
      if (message.last) this.#text = undefined;
    } else if (open === undefined) {
      this.#begin(message, receivedAtMs);
    } else {
      this.#continue(open, message);
    }
  }

  #begin(message: TextMessage, receivedAtMs: number): void {
    const { token, last, voice, language, interruptible } = message;
    const options = { receivedAtMs, voice, language, ...optional('interruptible', interruptible) };
    if (last) {
      this.#call.speak(token, options);
      return;
    }
    const open = { stream: new TokenStream(), first: message, length: 0 };
    this.#text = 'refused';
    const utterance = this.#call.speak(open.stream, options);
    this.#text = open;
    // If the utterance failed or was interrupted, an event has reported it. Later text of this stream must
    // not start another one.
    void utterance.ended.then(() => {
      open.stream.end();
      if (this.#text === open) this.#text = 'refused';
    });
    this.#append(open, token);
  }

  #continue(open: Exclude<OpenText, 'refused'>, message: TextMessage): void {
    const { token, last } = message;
    for (const field of ['voice', 'language', 'interruptible'] as const) {
      const [now, then] = [message[field], open.first[field]];
      if (now !== undefined && now !== then) {
        const what = `${field} belongs to the first token of a text and cannot change within it`;
        return this.#refuse(open, new ParleyError('INVALID_FIELD', what, { field }), last);
      }
    }
    this.#append(open, token, last);
  }

  #append(open: Exclude<OpenText, 'refused'>, token: string, last = false): void {
    open.length += token.length;
    if (open.length > this.#limits.maxTextLength) {
      return this.#refuse(open, tooLong(this.#limits.maxTextLength), last);
    }
    open.stream.push(token);
    if (!last) return;
    open.stream.end();
    this.#text = undefined;
  }

  #refuse(open: Exclude<OpenText, 'refused'>, error: ParleyError, last: boolean): void {
    open.stream.fail(error);
    this.#text = last ? undefined : 'refused';
    this.#tell(error);
  }

  #clear(): void {
    if (this.#text !== undefined && this.#text !== 'refused') this.#text.stream.end();
    this.#text = undefined;
    this.#send({ type: 'cleared', ...this.#call.interrupt('clear') });
  }

  #flooded(nowMs: number): void {
    const { perSecond } = this.#limits.messages;
    const error = new ParleyError(
      'QUEUE_FULL',
      `more than ${perSecond} messages a second: this one was not read; a text it belonged to is given up`,
    );
    // A text with a hole in it is not spoken.
    if (this.#text !== undefined && this.#text !== 'refused') this.#text.stream.fail(error);
    if (this.#text !== undefined) this.#text = 'refused';
    if (nowMs < this.#nextFloodErrorMs) return;
    this.#nextFloodErrorMs = nowMs + FLOOD_ERROR_EVERY_MS;
    this.#tell(error);
  }

  #tell(error: ParleyError): void {
    const { code, message: detail } = error;
    if (isHidden(error)) this.#log.warn({ call: this.#call.id, code, detail }, 'page told of a failure');
    this.#send(errorEvent(error));
  }

  /**
   * Figures wait until all earlier messages have arrived: on a link that is too thin they would queue up. On
   * a wide link they wait for at most 5 s: over a long round trip some message may always be on its way.
   */
  #planStats(): void {
    const everyMs = this.#call.isLinkThin() ? THIN_STATS_EVERY_MS : STATS_EVERY_MS;
    this.#cancelStats = this.#time.after(everyMs, () => {
      const { bufferedAmount, isDelivered } = this.#outbox;
      const nowMs = this.#time.now();
      const isOverdue = !this.#call.isLinkThin() && nowMs - this.#statsSentMs >= STATS_OVERDUE_MS;
      if ((isDelivered || isOverdue) && bufferedAmount < STATS_LIMIT_BYTES) {
        this.#statsSentMs = nowMs;
        const stats: ServerMessage = { type: 'stats', ...this.#call.stats() };
        this.#outbox.sendNow(stats);
      }
      if (!this.#closed) this.#planStats();
    });
  }

  #send(message: ServerMessage): void {
    this.#outbox.send(message);
  }
}

function errorEvent(error: ParleyError): ServerMessage {
  const { message, field } = forClient(error);
  const named = field === undefined ? {} : { field: field === 'text' ? 'token' : field };
  return { type: 'error', error: { code: error.code, message, ...named } };
}

type ClientMessage =
  | {
      readonly type: 'text';
      /** A piece of the text, of any length, cut anywhere. */
      readonly token: string;
      /** True: the text is complete with this token. */
      readonly last: boolean;
      readonly voice?: string;
      readonly language?: string;
      readonly interruptible?: Interruptible;
    }
  /** The user has typed a text for the agent. */
  | { readonly type: 'prompt'; readonly text: string }
  | { readonly type: 'digit'; readonly digit: string }
  /** Undefined settings end it. */
  | { readonly type: 'listen'; readonly settings: Partial<HearingSettings> | undefined }
  | ({ readonly type: 'captions' } & CaptionChoice)
  | { readonly type: 'clear' };

export const MAX_MESSAGE_BYTES = 64 * 1024;

const MAX_VOICE_CHARACTERS = 100;

const BOUNDED = Object.keys(HEARING_BOUNDS) as (keyof typeof HEARING_BOUNDS)[];

const FIELDS: Readonly<Record<ClientMessage['type'], readonly string[]>> = {
  text: ['type', 'token', 'last', 'voice', 'language', 'interruptible'],
  listen: ['type', 'on', ...BOUNDED, 'sensitivity', 'ignoreBackchannel', 'ignoreDistant'],
  prompt: ['type', 'text'],
  digit: ['type', 'digit'],
  captions: ['type', 'on', 'caller', 'words'],
  clear: ['type'],
};

const DIGIT = /^[0-9*#A-D]$/;

type Fields = Readonly<Record<string, unknown>>;

/** Throws MALFORMED if it is not a JSON object, and INVALID_FIELD with the field for any other error. */
export function readClientMessage(data: unknown): ClientMessage {
  const fields = readObject(data);
  switch (fields['type']) {
    case 'text':
      refuseOthers(fields, 'text');
      return {
        type: 'text',
        token: readString(fields, 'token'),
        last: readFlag(fields, 'last') ?? false,
        ...optional('voice', readVoice(fields['voice'])),
        ...optional('language', readLanguage(fields['language'])),
        ...optional('interruptible', readChoice(fields, 'interruptible', INTERRUPTIBLE)),
      };
    case 'listen':
      refuseOthers(fields, 'listen');
      return { type: 'listen', settings: readSettings(fields) };
    case 'prompt':
      refuseOthers(fields, 'prompt');
      return { type: 'prompt', text: readString(fields, 'text') };
    case 'digit':
      refuseOthers(fields, 'digit');
      return { type: 'digit', digit: readDigit(fields['digit']) };
    case 'captions':
      refuseOthers(fields, 'captions');
      return { type: 'captions', ...readCaptions(fields) };
    case 'clear':
      refuseOthers(fields, 'clear');
      return { type: 'clear' };
    default:
      throw invalid('type', `must be one of ${Object.keys(FIELDS).join(', ')}`);
  }
}

function readObject(data: unknown): Fields {
  if (typeof data !== 'string') throw malformed('a message must be text, not binary');
  if (Buffer.byteLength(data) > MAX_MESSAGE_BYTES) {
    throw malformed(`a message must not be longer than ${MAX_MESSAGE_BYTES} bytes`);
  }
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    throw malformed('a message must be JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed('a message must be a JSON object');
  }
  return value as Fields;
}

function malformed(what: string): ParleyError {
  return new ParleyError('MALFORMED', what);
}

function invalid(field: string, what: string): ParleyError {
  return new ParleyError('INVALID_FIELD', `${field} ${what}`, { field });
}

/** A misspelt field would otherwise be a setting silently ignored. */
function refuseOthers(fields: Fields, type: ClientMessage['type']): void {
  const stray = Object.keys(fields).find((name) => !FIELDS[type].includes(name));
  if (stray !== undefined) {
    throw invalid(
      stray.slice(0, 40),
      `is no field of a ${type} message, which has ${FIELDS[type].join(', ')}`,
    );
  }
}

function readString(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string') throw invalid(name, 'must be a string');
  return value;
}

function readDigit(value: unknown): string {
  if (typeof value !== 'string' || !DIGIT.test(value))
    throw invalid('digit', 'must be one of 0-9, *, #, A-D');
  return value;
}

function readFlag(fields: Fields, name: string): boolean | undefined {
  const value = fields[name];
  if (value !== undefined && typeof value !== 'boolean') throw invalid(name, 'must be true or false');
  return value;
}

function readChoice<T extends string>(fields: Fields, name: string, allowed: readonly T[]): T | undefined {
  const value = fields[name];
  const found = allowed.find((one) => one === value);
  if (value !== undefined && found === undefined) throw invalid(name, `must be one of ${allowed.join(', ')}`);
  return found;
}

function readSettings(fields: Fields): Partial<HearingSettings> | undefined {
  if (readFlag(fields, 'on') === false) return undefined;
  const times = BOUNDED.map((name) => {
    const value = fields[name];
    const [least, most] = HEARING_BOUNDS[name];
    if (value === undefined) return [name, value] as const;
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most)
      return [name, value] as const;
    throw invalid(name, `must be a whole number of milliseconds from ${least} to ${most}`);
  });
  return stated({
    ...(Object.fromEntries(times) as Partial<Record<keyof typeof HEARING_BOUNDS, number>>),
    sensitivity: readChoice(fields, 'sensitivity', SENSITIVITIES),
    ignoreBackchannel: readFlag(fields, 'ignoreBackchannel'),
    ignoreDistant: readFlag(fields, 'ignoreDistant'),
  });
}

/** Both, unless the page leaves one of them out. */
function readCaptions(fields: Fields): CaptionChoice {
  const isOn = readFlag(fields, 'on') ?? true;
  const [caller, words] = [readFlag(fields, 'caller') ?? true, readFlag(fields, 'words') ?? true];
  return { caller: isOn && caller, words: isOn && words };
}

function readVoice(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value === '' || value.length > MAX_VOICE_CHARACTERS) {
    throw invalid('voice', `must be a name of 1 to ${MAX_VOICE_CHARACTERS} characters`);
  }
  return value;
}

function readLanguage(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value.includes('_') || !isStatedLanguage(value)) {
    throw invalid('language', 'must be a language tag such as en or fr-CA');
  }
  return tagOfStated(value);
}

function optional<K extends string, T extends string>(name: K, value: T | undefined): Partial<Record<K, T>> {
  return value === undefined ? {} : ({ [name]: value } as Record<K, T>);
}
