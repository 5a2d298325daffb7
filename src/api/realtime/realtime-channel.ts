// OpenAI's Realtime API as the dialect of data channels labelled `oai-events`, in a WebRTC call whose sound
// goes over RTP; and its conversation, which a WebSocket has as well (realtime-socket.ts). It translates;
// src/agents conducts the conversation.
//
//   in   session.update   conversation.item.create, .retrieve, .truncate, .delete   response.create, .cancel
//        input_audio_buffer.commit, .clear, over WebSocket .append   output_audio_buffer.clear
//
// The events to the client are in realtime-objects.ts.
import type { TalkAgent } from '../../agents/agent-talk.js';
import type { Agents } from '../../agents/agents.js';
import type { ResponseRequest } from '../../agents/steered-reply.js';
import { SteeredTalk } from '../../agents/steered-talk.js';
import type { TalkEvent } from '../../agents/talk-response.js';
import type { CallerTexts } from '../../call/caller-texts.js';
import type {
  ChannelClient,
  ChannelDialect,
  ChannelMessage,
  ChannelOpening,
  ChannelTalk,
  HandledCall,
} from '../../call/call-handler.js';
import type { SoundCall } from '../../call/sound-calls.js';
import type { Switchboard } from '../../call/switchboard.js';
import { type ErrorCode, ParleyError } from '../../errors.js';
import type { Time } from '../../time.js';
import { socketError } from '../http/error-reply.js';
import { commitRefusal, EMPTY_COMMIT, FULL } from './input-bound.js';
import { type Fields, invalid, readFields, stringIn } from '../http/message-fields.js';
import {
  audioEndIn,
  checkPart,
  idIn,
  MOST_MESSAGE_BYTES,
  MOST_SOUND_BYTES,
  objectIn,
  placeIn,
  readItem,
  readResponse,
} from './realtime-fields.js';
import { RealtimeInput } from './realtime-input.js';
import { itemObject, type RealtimeEvent, RealtimeWriter } from './realtime-objects.js';
import { readFormats, RealtimeSound } from './realtime-sound.js';
import {
  readModalities,
  readPrompt,
  readSettings,
  readToolChoice,
  readTools,
  readVoice,
  type RealtimeSettings,
  type SessionAbilities,
  sessionObject,
  usualSettings,
} from './realtime-settings.js';
import type { Log } from '../../log.js';

export interface RealtimeParts {
  readonly agents: Pick<Agents, 'steered' | 'clientConducts'>;
  readonly callerTexts: Pick<CallerTexts, 'isCallerRecognised' | 'follow'>;
  readonly switchboard: Pick<Switchboard, 'check'>;
  readonly time: Time;
  /** Milliseconds since 1970. */
  readonly unixMs: () => number;
  /** Cryptographically strong. */
  readonly randomBytes: (count: number) => Buffer;
  readonly log: Log;
}

/** The label that OpenAI's clients give to their data channel. */
const LABEL = 'oai-events';
const SAMPLE = 'a'; // a text that every voice can speak
const ID_BYTES = 15;
const MOST_EVENT_ID = 512; // characters

export function realtimeChannel(parts: RealtimeParts): ChannelDialect {
  return {
    label: LABEL,
    open: (handled, opening, client) => new RealtimeTalk(handled, opening, client, parts),
  };
}

export class RealtimeTalk implements ChannelTalk {
  readonly #parts: RealtimeParts;
  readonly #call: string;
  readonly #client: ChannelClient;
  readonly #id: string;
  readonly #abilities: SessionAbilities;
  readonly #talk: SteeredTalk;
  readonly #writer: RealtimeWriter;
  /** Undefined: it goes over RTP. */
  readonly #sound: RealtimeSound | undefined;
  readonly #input: RealtimeInput;
  #settings: RealtimeSettings;
  #events = 0;

  constructor(
    handled: HandledCall,
    { agent, session }: ChannelOpening,
    client: ChannelClient,
    parts: RealtimeParts,
    sound?: SoundCall,
  ) {
    this.#parts = parts;
    const write = (event: Parameters<RealtimeWriter['write']>[0]) => this.#write(event);
    const send = (event: RealtimeEvent) => this.#send(event);
    this.#sound = sound && new RealtimeSound({ call: sound, write, send });
    this.#input = new RealtimeInput({
      call: handled.call,
      sound,
      time: parts.time,
      overflowed: () => this.#overflowed(),
    });
    this.#client = client;
    this.#call = handled.call.id;
    this.#id = this.#newId('sess');
    const problems: unknown[] = [];
    const { callerTexts, switchboard, time, log, unixMs } = parts;
    const { isCallerRecognised } = callerTexts;
    this.#abilities = {
      agent: this.#agentOf(agent, problems),
      isCallerRecognised,
      checkVoice: (voice, language) => switchboard.check(SAMPLE, { voice, language }),
    };
    if (this.#abilities.agent === undefined) parts.agents.clientConducts(this.#call);
    this.#settings = this.#described(session, problems);
    this.#input.isByHand = this.#settings.turns === null;
    this.#talk = new SteeredTalk(handled, this.#settings.talk, {
      agent: this.#abilities.agent,
      callerTexts,
      time,
      log,
      newId: (prefix) => this.#newId(prefix),
      emit: (event) => this.#told(event),
    });
    this.#talk.hasInput = sound === undefined;
    this.#writer = new RealtimeWriter({
      conversation: this.#newId('conv'),
      unixMs,
      before: (item) => this.#talk.before(item),
      wordsOf: (error) => this.#wordsOf(error),
    });
    this.#send({ type: 'session.created', session: this.#object });
    for (const problem of problems) this.#refuse(problem, undefined);
    this.#talk.greet();
  }

  /** The next 20 ms of a call that does not go over RTP. */
  frame(payload: Uint8Array): void {
    this.#sound?.frame(payload);
  }

  receive(data: unknown): void {
    let eventId: string | undefined;
    try {
      const fields = readMessage(data, this.#sound === undefined ? MOST_MESSAGE_BYTES : MOST_SOUND_BYTES);
      eventId = stringIn(fields, 'event_id', MOST_EVENT_ID);
      this.#obey(fields, eventId);
    } catch (error) {
      this.#refuse(error, eventId);
    }
  }

  errorMessage(error: ParleyError): ChannelMessage {
    return this.#event(this.#errorOf(error, undefined));
  }

  close(): void {
    this.#talk.close();
  }

  #newId(prefix: string): string {
    return `${prefix}_${this.#parts.randomBytes(ID_BYTES).toString('base64url')}`;
  }

  get #object(): object {
    return sessionObject(this.#id, this.#settings, this.#abilities, this.#sound?.formats);
  }

  #agentOf(agent: string | undefined, problems: unknown[]): TalkAgent | undefined {
    if (agent === undefined) return undefined;
    try {
      return this.#parts.agents.steered(agent, this.#call);
    } catch (error) {
      problems.push(error);
      return undefined;
    }
  }

  /** The session that came with the offer. */
  #described(session: ChannelOpening['session'], problems: unknown[]): RealtimeSettings {
    const usual = usualSettings(this.#abilities);
    try {
      const fields = objectIn({ session }, 'session') ?? {};
      const settings = readSettings(fields, usual, this.#abilities);
      this.#sound?.change(readFormats(fields, this.#sound.formats));
      return settings;
    } catch (error) {
      problems.push(error);
      return usual;
    }
  }

  #obey(fields: Fields, eventId: string | undefined): void {
    switch (fields['type']) {
      case 'session.update':
        return this.#update(fields);
      case 'conversation.item.create':
        return this.#talk.add(readItem(fields, 'item', this.#callId), placeIn(fields));
      case 'conversation.item.retrieve': {
        const item = itemObject(this.#talk.item(idIn(fields, 'item_id')));
        return this.#send({ type: 'conversation.item.retrieved', item });
      }
      case 'conversation.item.truncate':
        checkPart(fields);
        return this.#talk.truncate(idIn(fields, 'item_id'), audioEndIn(fields));
      case 'conversation.item.delete': {
        const item_id = idIn(fields, 'item_id');
        this.#talk.remove(item_id);
        return this.#send({ type: 'conversation.item.deleted', item_id });
      }
      case 'response.create':
        return this.#respond(fields, eventId);
      case 'response.cancel':
        return this.#cancel(fields, eventId);
      case 'output_audio_buffer.clear':
        return this.#talk.clear();
      case 'input_audio_buffer.clear':
        return this.#clear();
      case 'input_audio_buffer.append':
        if (this.#sound !== undefined) return this.#append(fields, this.#sound);
        throw invalid('type', 'does not exist in a WebRTC call: the sound comes over RTP');
      case 'input_audio_buffer.commit':
        return this.#commit(eventId);
      default:
        throw invalid('type', `must be one of ${TYPES.join(', ')}`);
    }
  }

  #append(fields: Fields, sound: RealtimeSound): void {
    this.#input.checkRoom();
    this.#input.appended(sound.append(fields, this.#input.needlessMs));
    this.#talk.hasInput = this.#input.isAudible;
  }

  /** Sound has come for too long, and the client has not ended the turn. */
  #overflowed(): void {
    if (this.#talk.dropInput())
      this.#refuse(new ParleyError('QUEUE_FULL', `${FULL}, and is cleared`), undefined);
  }

  #clear(): void {
    const { lengthMs, isHeard } = this.#input;
    this.#sound?.drop(lengthMs);
    if (isHeard || this.#settings.turns !== null) this.#talk.dropInput();
    this.#inputTaken();
    this.#send({ type: 'input_audio_buffer.cleared' });
  }

  /** Ends the turn of the caller, as OpenAI does: no response follows by itself. */
  #commit(eventId: string | undefined): void {
    const { lengthMs, delayMs } = this.#input;
    const refusal = commitRefusal(lengthMs);
    if (refusal !== undefined) return this.#refuseAs(EMPTY_COMMIT, refusal, eventId);
    this.#talk.commit(delayMs);
    return this.#inputTaken();
  }

  #inputTaken(): void {
    this.#input.clear();
    this.#talk.hasInput = this.#sound === undefined; // over RTP it comes without a word
  }

  readonly #callId = () => this.#newId('call');

  /** All of an update holds, or nothing of it. */
  #update(fields: Fields): void {
    const session = objectIn(fields, 'session');
    if (session === undefined) throw invalid('session', 'must be an object');
    const settings = readSettings(session, this.#settings, this.#abilities);
    const formats = this.#sound && readFormats(session, this.#sound.formats);
    if (formats !== undefined) this.#sound?.change(formats);
    this.#talk.change(settings.talk);
    this.#settings = settings;
    this.#input.isByHand = settings.turns === null;
    this.#send({ type: 'session.updated', session: this.#object });
  }

  #respond(fields: Fields, eventId: string | undefined): void {
    const response = objectIn(fields, 'response') ?? {};
    const output = objectIn(objectIn(response, 'audio') ?? {}, 'output') ?? {};
    const voice = readVoice(output);
    if (voice !== undefined) this.#abilities.checkVoice(voice, this.#settings.talk.language);
    const mayCall = readToolChoice(response);
    const tools = 'tools' in response ? readTools(response) : undefined;
    const request: ResponseRequest = {
      ...readResponse(response, this.#callId),
      voice,
      prompt: readPrompt(response),
      isSpoken: readModalities(response),
      tools: mayCall ? tools : [],
    };
    if (request.isKept && this.#talk.isAnswering) {
      const message = 'the model writes a response already: wait for response.done, or send response.cancel';
      return this.#refuseAs('conversation_already_has_active_response', message, eventId);
    }
    return this.#talk.respond(request);
  }

  #cancel(fields: Fields, eventId: string | undefined): void {
    const id = stringIn(fields, 'response_id', MOST_EVENT_ID);
    if (this.#talk.isResponding(id) || this.#sound?.holds(id) === true) return this.#talk.cancel();
    return this.#refuseAs('response_cancel_not_active', 'no response is in progress', eventId);
  }

  #told(event: TalkEvent): void {
    if (event.type === 'turn.committed') this.#input.committed();
    if (event.type === 'failed') {
      this.#refuse(event.error, undefined);
      return this.#sound?.settle();
    }
    if (this.#sound === undefined) this.#write(event);
    else this.#sound.tell(event);
    return undefined;
  }

  #write(event: Parameters<RealtimeWriter['write']>[0]): void {
    for (const message of this.#writer.write(event)) this.#send(message);
  }

  #wordsOf(error: unknown): ReturnType<typeof socketError> {
    return socketError(error, this.#call, (failure) =>
      this.#parts.log.warn({ call: this.#call, err: failure }, 'a realtime session failed'),
    );
  }

  #refuse(error: unknown, eventId: string | undefined): void {
    this.#send(this.#errorOf(error, eventId));
  }

  #errorOf(error: unknown, eventId: string | undefined): RealtimeEvent {
    const { code, message, field } = this.#wordsOf(error);
    const isOfClient = error instanceof ParleyError && CLIENT_CODES.has(error.code);
    const type = isOfClient ? 'invalid_request_error' : 'server_error';
    const facts = { type, code, message, param: field ?? null, event_id: eventId ?? null };
    return { type: 'error', error: facts };
  }

  #refuseAs(code: string, message: string, eventId: string | undefined): void {
    const facts = { type: 'invalid_request_error', code, message, param: null, event_id: eventId ?? null };
    this.#send({ type: 'error', error: facts });
  }

  #send(event: RealtimeEvent): void {
    this.#client.send(this.#event(event));
  }

  #event({ type, ...facts }: RealtimeEvent): RealtimeEvent {
    return { type, event_id: `event_${++this.#events}`, ...facts };
  }
}

const TYPES = [
  'session.update',
  'conversation.item.create',
  'conversation.item.retrieve',
  'conversation.item.truncate',
  'conversation.item.delete',
  'response.create',
  'response.cancel',
  'input_audio_buffer.commit',
  'input_audio_buffer.clear',
  'output_audio_buffer.clear',
];

const CLIENT_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'CALL_STATE',
  'EXISTS',
  'INVALID_FIELD',
  'LANGUAGE_UNAVAILABLE',
  'MALFORMED',
  'NOT_FOUND',
  'QUEUE_FULL',
  'TEXT_EMPTY',
  'TEXT_TOO_LONG',
  'VOICE_UNKNOWN',
]);

/** Throws MALFORMED. */
function readMessage(data: unknown, mostBytes: number): Fields {
  if (typeof data === 'string' && Buffer.byteLength(data) > mostBytes)
    throw new ParleyError('MALFORMED', `a message must not be longer than ${mostBytes} bytes`);
  return readFields(typeof data === 'string' ? data : new Uint8Array());
}
