// The dialect of OpenAI's realtime transcription: /v1/realtime?intent=transcription, or with a client secret
// whose session transcribes. It has the events of the present API and the message names of the beta.
//
//   in   session.update   input_audio_buffer.append, .commit, .clear
//   out  session.created, .updated   input_audio_buffer.speech_started, .speech_stopped, .committed, .cleared
//        conversation.item.added, .done   conversation.item.input_audio_transcription.delta, .completed
//        conversation.item.input_audio_transcription.failed
//
// https://platform.openai.com/docs/guides/realtime-transcription
import type { RecognisedText } from '../../engines/recogniser.js';
import { ParleyError } from '../../errors.js';
import type { LiveRequest } from '../../transcribing/live-transcriber.js';
import type { SoundEncoding } from '../../transcribing/live-sound.js';
import { socketError } from '../http/error-reply.js';
import { type Fields, invalid, readFields, readLanguage, soundIn, stringIn } from '../http/message-fields.js';
import type { SocketHandler, Dialect, Handshake, Peer } from '../http/socket-dialect.js';
import { TRANSCRIPTION_MODELS } from '../speech/speech-request.js';
import { LiveClient } from '../live/live-client.js';
import { liveTranscriberOf, FAILED_CLOSE, type LiveSocketParts } from '../live/live-socket-parts.js';
import { commitRefusal, EMPTY_COMMIT, FULL, MOST_INPUT_MS } from './input-bound.js';
import { readSession, type RealtimeSession, sessionObject, USUAL_SESSION } from './transcription-session.js';

const TRANSCRIPTION = 'conversation.item.input_audio_transcription';

/** The sessions that client secrets were made with; undefined: none, or no valid secret. */
export interface SecretSessions {
  sessionOf(secret: string): Readonly<Record<string, unknown>> | undefined;
}

export interface TranscriptionDialect extends Dialect {
  /** The client asks for a transcription. */
  takes(handshake: Handshake): boolean;
}

export function realtimeSocket(parts: LiveSocketParts, secrets: SecretSessions): TranscriptionDialect {
  const takes = (handshake: Handshake) => isAskedFor(handshake) || presetOf(handshake, secrets) !== undefined;
  return {
    name: 'realtime-transcription',
    path: '/v1/realtime',
    query: ['intent', 'model'],
    carriesSound: true,
    takesSecrets: true,
    takes,
    check: (handshake) => {
      checkIntent(handshake);
      if (!takes(handshake)) {
        const message =
          'the URL of a WebSocket of /v1/realtime must have "intent=transcription", or a model of OpenAI that transcribes';
        throw new ParleyError('INVALID_FIELD', message, { field: 'intent' });
      }
      liveTranscriberOf(parts);
      if (isAskedFor(handshake)) parts.checkModel(modelOf(handshake) ?? undefined);
    },
    open: (peer, handshake) =>
      new RealtimeTranscription(parts, peer, handshake, presetOf(handshake, secrets)),
  };
}

/** Throws INVALID_FIELD. */
export function checkIntent({ url }: Handshake): void {
  const intent = url.searchParams.get('intent');
  if (intent === null || intent === 'transcription') return;
  const message = '"intent" must be "transcription", or absent for a conversation';
  throw new ParleyError('INVALID_FIELD', message, { field: 'intent' });
}

function modelOf({ url }: Handshake): string | null {
  return url.searchParams.get('model');
}

/** By the URL. The `openai` package puts a model into it, and no intent. */
function isAskedFor(handshake: Handshake): boolean {
  const model = modelOf(handshake);
  if (handshake.url.searchParams.get('intent') === 'transcription') return true;
  return model !== null && TRANSCRIPTION_MODELS.test(model);
}

/** The session of the client secret, if it is one of transcription. */
function presetOf({ secret }: Handshake, secrets: SecretSessions): Fields | undefined {
  const session = secret === undefined ? undefined : secrets.sessionOf(secret);
  return session?.['type'] === 'transcription' ? session : undefined;
}

interface TurnItem {
  readonly id: string;
  /** Characters of its text that were sent. */
  sent: number;
  /** The begin of its speech was told. */
  isStarted: boolean;
  /** End of its speech so far; it is told with the commit, because speech may go on. */
  stoppedMs: number | undefined;
}

/** The turns of one transcription, each an item of the conversation. */
interface Turns {
  readonly session: RealtimeSession;
  /** Milliseconds of sound before the transcription. */
  readonly offsetMs: number;
  /** Item of each turn, and the characters of its text that were sent. */
  readonly items: Map<number, TurnItem>;
}

class RealtimeTranscription implements SocketHandler {
  readonly #parts: LiveSocketParts;
  readonly #peer: Peer;
  readonly #handshake: Handshake;
  readonly #client: LiveClient;
  readonly #id: string;
  #session: RealtimeSession = USUAL_SESSION;
  /** Undefined until sound came. */
  #turns: Turns | undefined;
  /** No sound has come since the session was updated. */
  #isNew = false;
  /** Milliseconds of sound since the last commit. */
  #inputMs = 0;
  #events = 0;
  #items = 0;
  #lastItem: string | null = null;
  #isBeta = false;
  #soundMs = 0;

  /** `preset`: the session of the client secret. With a mistake in it, the usual session holds. */
  constructor(parts: LiveSocketParts, peer: Peer, handshake: Handshake, preset: Fields | undefined) {
    this.#parts = parts;
    this.#peer = peer;
    this.#handshake = handshake;
    this.#client = new LiveClient(parts, peer);
    this.#id = `sess_${handshake.requestId.replace(/^req_/, '')}`;
    let problem: unknown;
    try {
      if (preset !== undefined) this.#session = this.#read({ session: preset }, false);
    } catch (error) {
      problem = error;
    }
    this.#send('session.created', { session: sessionObject(this.#id, this.#session) });
    if (problem !== undefined) this.#refuse(problem, undefined);
  }

  message(data: string | Uint8Array): void {
    this.#client.touch();
    let eventId: string | undefined;
    try {
      const fields = readFields(data);
      eventId = stringIn(fields, 'event_id');
      this.#obey(fields, eventId);
    } catch (error) {
      this.#refuse(error, eventId);
    }
  }

  closed(): Promise<void> {
    this.#client.close();
    return Promise.resolve();
  }

  #obey(fields: Fields, eventId: string | undefined): void {
    const type = stringIn(fields, 'type');
    switch (type) {
      case 'session.update':
      case 'transcription_session.update':
        return this.#update(fields, type === 'transcription_session.update');
      case 'input_audio_buffer.append':
        return this.#append(fields);
      case 'input_audio_buffer.commit':
        return this.#commit(eventId);
      case 'input_audio_buffer.clear':
        return this.#clear();
      default:
        throw invalid(
          'type',
          'must be "session.update", "input_audio_buffer.append", "input_audio_buffer.commit" or "input_audio_buffer.clear"',
        );
    }
  }

  /** Sound that comes later is transcribed by the new session; that before it keeps its own. */
  #update(fields: Fields, isBeta: boolean): void {
    const session = (this.#session = this.#read(fields, isBeta));
    this.#isBeta = isBeta;
    this.#isNew = true;
    const name = isBeta ? 'transcription_session.updated' : 'session.updated';
    this.#send(name, { session: sessionObject(this.#id, session) });
  }

  /** Throws INVALID_FIELD and MODEL_UNKNOWN. */
  #read(fields: Fields, isBeta: boolean): RealtimeSession {
    const session = readSession(fields, this.#session, isBeta);
    this.#parts.checkModel(session.model);
    readLanguage({ language: session.language });
    return session;
  }

  #append(fields: Fields): void {
    const bytes = soundIn(fields, 'audio');
    if (this.#turns === undefined || (this.#isNew && !this.#isHeldBack)) this.#begin();
    if (this.#session.turns === undefined && this.#inputMs >= MOST_INPUT_MS)
      throw new ParleyError('QUEUE_FULL', `${FULL}: commit it, or clear it`);
    this.#client.hear(bytes);
    const ms = (1000 * bytes.length) / bytesPerSecond(this.#session);
    this.#inputMs += ms;
    this.#soundMs += ms;
  }

  #begin(): void {
    const session = this.#session;
    const { encoding, rate, language, prompt, smartFormat, turns } = session;
    const own: Turns = { session, offsetMs: this.#soundMs, items: new Map() };
    const isHeard = turns !== undefined;
    const request: LiveRequest = {
      name: this.#handshake.requestId,
      language: readLanguage({ language }),
      context: prompt,
      partials: true,
      smartFormat,
      ...(turns === undefined ? {} : { turns }),
      endsTurns: isHeard ? 'silence' : 'commit',
      listener: {
        speechStarted: (turn, at) => isHeard && this.#speechStarted(own, turn, at),
        speechStopped: (turn, at) => isHeard && this.#speechStopped(own, turn, at),
        turnEnded: (turn, at) => this.#committed(own, turn, at),
        partial: (text) => this.#delta(own, text),
        final: (text) => this.#completed(own, text),
        failed: (error) => this.#fail(own, error),
      },
    };
    this.#client.begin({ encoding, rate }, request);
    this.#turns = own;
    this.#isNew = false;
    this.#inputMs = 0;
  }

  /** The sound that a client has not committed is not divided by an update that keeps its format. */
  get #isHeldBack(): boolean {
    const [before, { encoding, rate, turns }] = [this.#turns?.session, this.#session];
    if (before === undefined || this.#inputMs === 0) return false;
    const isByHand = before.turns === undefined && turns === undefined;
    return isByHand && before.encoding === encoding && before.rate === rate;
  }

  #commit(eventId: string | undefined): void {
    const refusal = commitRefusal(this.#inputMs);
    if (refusal !== undefined) {
      const why = { type: 'invalid_request_error', code: EMPTY_COMMIT, message: refusal, param: null };
      return this.#send('error', { error: { ...why, event_id: eventId ?? null } });
    }
    this.#client.commit();
    this.#inputMs = 0;
    return undefined;
  }

  #clear(): void {
    if (this.#turns !== undefined) this.#client.drop();
    this.#inputMs = 0;
    this.#send('input_audio_buffer.cleared', {});
  }

  #itemOf({ items }: Turns, turn: number): TurnItem {
    const known = items.get(turn);
    if (known !== undefined) return known;
    const id = `item_${this.#id.slice(5, 13)}${String(++this.#items).padStart(6, '0')}`;
    const item: TurnItem = { id, sent: 0, isStarted: false, stoppedMs: undefined };
    items.set(turn, item);
    return item;
  }

  /** Once for each item: OpenAI tells no pauses within a turn. */
  #speechStarted(own: Turns, turn: number, atSeconds: number): void {
    const item = this.#itemOf(own, turn);
    item.stoppedMs = undefined;
    if (item.isStarted) return;
    item.isStarted = true;
    const audio_start_ms = placeOf(own, atSeconds);
    this.#send('input_audio_buffer.speech_started', { audio_start_ms, item_id: item.id });
  }

  #speechStopped(own: Turns, turn: number, atSeconds: number): void {
    this.#itemOf(own, turn).stoppedMs = placeOf(own, atSeconds);
  }

  #committed(own: Turns, turn: number, atSeconds: number): void {
    const isDetected = own === this.#turns && own.session.turns !== undefined;
    if (isDetected) this.#inputMs = Math.min(this.#inputMs, this.#soundMs - placeOf(own, atSeconds));
    const { id, isStarted, stoppedMs = placeOf(own, atSeconds) } = this.#itemOf(own, turn);
    if (isStarted) this.#send('input_audio_buffer.speech_stopped', { audio_end_ms: stoppedMs, item_id: id });
    this.#send('input_audio_buffer.committed', { item_id: id, previous_item_id: this.#lastItem });
    const item = {
      id,
      object: 'realtime.item',
      type: 'message',
      status: 'completed',
      role: 'user',
      content: [{ type: 'input_audio', transcript: null }],
    };
    const facts = { previous_item_id: this.#lastItem, item };
    this.#lastItem = id;
    if (this.#isBeta) return this.#send('conversation.item.created', facts);
    this.#send('conversation.item.added', facts);
    this.#send('conversation.item.done', facts);
    return undefined;
  }

  /** Only the stable part of a text is sent: nothing of it is taken back. */
  #delta(own: Turns, { part, text, stable }: RecognisedText): void {
    const item = this.#itemOf(own, part);
    if (stable <= item.sent) return;
    this.#tellDelta(item.id, text.slice(item.sent, stable));
    item.sent = stable;
  }

  #tellDelta(item_id: string, delta: string): void {
    this.#send(`${TRANSCRIPTION}.delta`, { item_id, content_index: 0, delta });
  }

  #completed(own: Turns, { part, text, beginSeconds, endSeconds }: RecognisedText): void {
    const item = this.#itemOf(own, part);
    for (const turn of own.items.keys()) if (turn <= part) own.items.delete(turn);
    if (text.length > item.sent) this.#tellDelta(item.id, text.slice(item.sent));
    const seconds = Math.round((endSeconds - beginSeconds) * 1000) / 1000;
    const usage = { type: 'duration', seconds };
    const facts = { item_id: item.id, content_index: 0, transcript: text, usage };
    this.#send(`${TRANSCRIPTION}.completed`, facts);
  }

  /** Each turn without its text is told, and the socket closed. */
  #fail(own: Turns, error: ParleyError): void {
    const { code, message } = socketError(error, this.#handshake.requestId, this.#parts.failed);
    for (const { id } of own.items.values()) {
      const why = { type: 'server_error', code, message, param: null };
      this.#send(`${TRANSCRIPTION}.failed`, { item_id: id, content_index: 0, error: why });
    }
    this.#refuse(error, undefined);
    this.#peer.close(FAILED_CLOSE, code);
  }

  #refuse(error: unknown, eventId: string | undefined): void {
    const { requestId } = this.#handshake;
    const { code, message, field } = socketError(error, requestId, this.#parts.failed);
    const type = error instanceof ParleyError && isOfClient(error) ? 'invalid_request_error' : 'server_error';
    const facts = { type, code, message, param: field ?? null, event_id: eventId ?? null };
    this.#send('error', { error: facts });
  }

  #send(type: string, facts: object): void {
    const event_id = `event_${++this.#events}`;
    this.#peer.send(JSON.stringify({ type, event_id, ...facts }));
  }
}

/** Milliseconds of all sound of the socket. */
function placeOf({ offsetMs }: Turns, atSeconds: number): number {
  return Math.max(0, Math.round(offsetMs + atSeconds * 1000));
}

function isOfClient({ code }: ParleyError): boolean {
  return ['INVALID_FIELD', 'MALFORMED', 'AUDIO_INVALID', 'MODEL_UNKNOWN', 'QUEUE_FULL'].includes(code);
}

function bytesPerSecond({ encoding, rate }: { encoding: SoundEncoding; rate: number }): number {
  return encoding === 'pcm_s16le' ? 2 * rate : rate;
}
