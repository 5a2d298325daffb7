// The talk of a call that a client steers, message by message: with an agent, whose model answers the caller,
// or without one, as ears and mouth of the client's own model.
//
//   caller ─▶ turns, keys ─▶ items ─▶ client ─▶ items, settings
//                              └─▶ response: the agent's model, or a text of the client ─▶ caller
//
// An item is cut to what the caller has heard of it.
import type { HandledCall } from '../call/call-handler.js';
import type { Utterance } from '../call/utterance.js';
import { asParleyError, isAborted, ParleyError } from '../errors.js';
import { AgentTalk, type AgentTalkParts, type OwnReplyParts, type TalkAgent } from './agent-talk.js';
import type { ChatHistory } from './chat-history.js';
import type { ChatReply, ReplyParts } from './chat-reply.js';
import type { ConversationListener, SaidTurn, TurnTimes } from './conversation.js';
import { type ResponseRequest, steeredReply } from './steered-reply.js';
import {
  isUnspoken,
  type MessageItem,
  type NewItem,
  shareOf,
  type TalkItem,
  TalkItems,
  voiceItem,
} from './talk-items.js';
import { type CancelReason, type TalkEvent, TalkResponse } from './talk-response.js';
import { isByHand, type TalkSettings } from './talk-settings.js';
import { TalkTurns } from './talk-turns.js';

interface SteeredTalkParts extends AgentTalkParts {
  /** Makes an id that nobody can guess, with this prefix. */
  readonly newId: (prefix: 'item' | 'resp') => string;
  readonly emit: (event: TalkEvent) => void;
}

const MOST_IN_PROGRESS = 8; // responses
const USUAL: ResponseRequest = { isKept: true, metadata: null };
const NO_PROMPT = '';

export class SteeredTalk extends AgentTalk {
  readonly #parts: SteeredTalkParts;
  readonly #items: TalkItems;
  readonly #startMs: number;
  /** These responses are in progress, or their sound is queued or heard. */
  readonly #responses = new Set<TalkResponse>();
  readonly #turns: TalkTurns;
  #settings: TalkSettings;
  #cause: CancelReason = 'turn_detected';
  #quietSinceMs: number;

  constructor(handled: HandledCall, settings: TalkSettings, parts: SteeredTalkParts) {
    const { agent, time, newId } = parts;
    super(handled, parts, { expected: settings.expected, hearing: settings.hearing });
    this.#parts = parts;
    this.#settings = settings;
    this.#startMs = this.#quietSinceMs = time.now();
    this.#items = new TalkItems(agent?.config.prompt ?? NO_PROMPT, () => newId('item'));
    const nowMs = () => Math.round(time.now() - this.#startMs);
    const emit = (event: TalkEvent) => this.#emit(event);
    this.#turns = new TalkTurns({ items: this.#items, newId: () => newId('item'), nowMs, emit });
  }

  /** A response of the model to the conversation is in progress. */
  get isAnswering(): boolean {
    return [...this.#responses].some((one) => one.isInProgress && one.isKept && one.reply !== undefined);
  }

  /** The response of this id is in progress, or any, without an id. */
  isResponding(id?: string): boolean {
    return [...this.#responses].some((one) => one.isInProgress && (id ?? one.id) === one.id);
  }

  /** Says the greeting of the agent. */
  greet(): void {
    const { greeting } = this.#parts.agent?.config ?? {};
    if (greeting !== undefined) this.sayOwn(greeting);
    else this.#awaitInput();
  }

  /** If the client ends the turns: sound that comes belongs to a turn from now on, or to none. */
  set hasInput(hasInput: boolean) {
    this.conversation.hasInput = hasInput;
  }

  /** Holds for what comes from now on. Throws INVALID_FIELD. */
  change(settings: TalkSettings): void {
    const { hearing, expected, idleMs } = this.#settings;
    if (settings.hearing !== hearing) this.conversation.hear(settings.hearing);
    if (settings.expected !== expected) this.conversation.expect(settings.expected);
    this.#settings = settings;
    if (idleMs !== undefined && settings.idleMs === undefined) this.conversation.hear({ noInputMs: 0 });
    this.#awaitInput();
  }

  /** See TalkItems.add. */
  add(item: NewItem, after: string | null | undefined): void {
    const added = this.#items.add(item, after);
    this.#emit({ type: 'item.added', item: added, previous: this.#items.before(added.id) });
  }

  /** Throws NOT_FOUND. */
  item(id: string): TalkItem {
    return this.#items.get(id);
  }

  /** Id of the item before this one; null for the first one. */
  before(id: string): string | null {
    return this.#items.before(id);
  }

  /** Throws NOT_FOUND. */
  remove(id: string): void {
    this.#items.remove(id);
  }

  /**
   * The client reports that no more than `soundMs` milliseconds of an item were heard. The voice stops if it
   * speaks the item now. Throws NOT_FOUND, and INVALID_FIELD for an item that was not spoken, or not so long.
   */
  truncate(id: string, soundMs: number): void {
    const item = this.#items.get(id);
    const isVoice = item.type === 'message' && item.role === 'assistant' && item.isSound;
    if (!isVoice) throw new ParleyError('INVALID_FIELD', 'the item was not spoken', { field: 'item_id' });
    if (item.soundMs === undefined) return this.clear();
    if (soundMs > item.soundMs) {
      const message = `audio_end_ms is ${soundMs}: the item has only ${Math.round(item.soundMs)} ms of sound`;
      throw new ParleyError('INVALID_FIELD', message, { field: 'audio_end_ms' });
    }
    const heard = shareOf(item.text ?? '', item.soundMs === 0 ? 0 : soundMs / item.soundMs);
    this.#items.cut(item, heard);
    item.soundMs = soundMs;
    this.#emit({ type: 'item.cut', item, heard, soundMs });
  }

  /**
   * Speaks the text that the client gave last, or asks the model. Throws CALL_STATE without an agent and a
   * text, QUEUE_FULL, NOT_FOUND, and as `Call.speak`.
   */
  respond(request: ResponseRequest): void {
    const text = this.#textOf(request);
    if (text !== undefined) return this.#speak(text, request);
    if (this.#parts.agent === undefined) {
      const message =
        'no agent talks in this call: add the text to speak as an assistant message, with ' +
        'conversation.item.create or as the last item of response.input';
      throw new ParleyError('CALL_STATE', message, { field: 'response' });
    }
    this.forgetUnheard();
    return this.#ask(this.#parts.agent, request);
  }

  /** Ends the responses that are in progress, and all sound. */
  cancel(): void {
    this.#byClient(() => {
      for (const { reply } of this.#responses) reply?.giveUp();
      this.conversation.interrupt('response cancelled');
      for (const response of this.#responses) this.#giveUp(response);
    });
  }

  /** Ends all sound, and the responses that it belongs to. */
  clear(): void {
    this.#byClient(() => this.conversation.interrupt('cleared by the client'));
  }

  /**
   * Ends the turn of the caller, whose sound has come within `delayMs`. It is not answered by itself. Throws
   * CALL_STATE for a caller who is not heard.
   */
  commit(delayMs: number): void {
    this.conversation.endTurn(delayMs);
    this.#turns.commit();
  }

  /**
   * Drops what the caller has said since the last turn: where the client ends the turns, all sound. False if
   * there is nothing.
   */
  dropInput(): boolean {
    if (!this.conversation.isTurnOpen) return false;
    this.conversation.endTurn(0);
    this.#turns.drop();
    return true;
  }

  /** The call goes on without this talk. Idempotent. */
  close(): void {
    this.conversation.leave();
  }

  #byClient(act: () => void): void {
    this.#cause = 'client_cancelled';
    this.dropQuestion();
    act();
    this.#cause = 'turn_detected';
    this.forgetUnheard();
  }

  protected listener(): ConversationListener {
    return {
      said: (turn) => this.#said(turn),
      unsaid: (turn, error) => {
        if (this.#turns.unsaid(turn, error)) this.unsaid(error);
      },
      noise: () => this.noise(),
      callerSpeaks: (isSpeaking) => {
        this.released();
        this.#turns.callerSpeaks(isSpeaking);
      },
      turnEnded: (turn, length, isByOrder) => this.#turns.ended(turn, length, isByOrder),
      noInput: () => this.#noInput(),
      pressed: (digit) => {
        this.#emit({ type: 'key', digit });
        this.keys.pressed(digit);
      },
      started: (utterance, start) => {
        const response = this.#of(utterance);
        const sound = response?.sounds.get(utterance);
        this.started(response?.reply, utterance, start);
        if (response === undefined || sound === undefined) return;
        sound.hasStarted = true;
        this.#emit({ type: 'sound.started', response, item: sound.item });
        response.look();
      },
      spoken: (utterance, durationMs) => this.#heard(utterance, durationMs),
      interrupted: (utterance, heard, durationMs) => this.#interrupted(utterance, heard, durationMs),
      failed: (utterance, { code }, heard) => this.#unspoken(utterance, code, heard),
      ended: () => this.ended(),
    };
  }

  protected get answers(): boolean {
    return this.#parts.agent !== undefined && this.#settings.answersTurns && !isByHand(this.#settings);
  }

  protected get history(): ChatHistory {
    return this.#items.history;
  }

  #said(turn: SaidTurn): void {
    const { text, language, wasNoInterruption } = turn;
    // Such as "uh-huh": the voice was not interrupted by it.
    const isAsked = this.#turns.said(turn) && this.answers && !wasNoInterruption;
    if (!isAsked) return this.released();
    const prompt = { type: 'agent.prompt', text, by: 'speech' } as const;
    this.asked(language === undefined ? prompt : { ...prompt, language }, turn);
    return undefined;
  }

  #noInput(): void {
    if (this.isAnswering) return; // the answer is spoken, and then awaits input again
    this.#turns.idle(Math.round(this.#quietSinceMs - this.#startMs));
    if (this.answers) this.askWith('[The caller says nothing]');
  }

  protected pressedAll(text: string): void {
    if (!this.answers) return;
    this.add({ type: 'message', role: 'user', text }, undefined);
    this.asked({ type: 'agent.prompt', text, by: 'keys' }, undefined);
  }

  protected override gaveUp(reply: ChatReply): void {
    const response = [...this.#responses].find((one) => one.reply === reply);
    if (response !== undefined) this.#giveUp(response);
  }

  protected answerNow(times: TurnTimes | undefined): void {
    const { agent } = this.#parts;
    if (agent === undefined) return;
    try {
      this.#ask(agent, USUAL, times);
    } catch (error) {
      this.#warn(error, 'the agent could not answer');
    }
  }

  #open({ isKept, isSpoken = this.#settings.isSpoken, voice, metadata }: ResponseRequest): TalkResponse {
    const [id, emit] = [this.#parts.newId('resp'), (event: TalkEvent) => this.#emit(event)];
    const response = new TalkResponse({ id, isKept, isSpoken, voice, metadata, emit });
    this.#responses.add(response);
    return response;
  }

  #refuseMore(): void {
    if (this.isOver) throw new ParleyError('CALL_CLOSED', 'the call has ended');
    if ([...this.#responses].filter(({ isInProgress }) => isInProgress).length < MOST_IN_PROGRESS) return;
    throw new ParleyError('QUEUE_FULL', `${MOST_IN_PROGRESS} responses are in progress: no more are taken`);
  }

  /**
   * The text that is to be spoken as it is. With an agent, it must be the last item: what comes before may be
   * a history that the client restores.
   */
  #textOf({ input, prompt }: ResponseRequest): MessageItem | NewItem | undefined {
    const hasAgent = this.#parts.agent !== undefined;
    if (prompt !== undefined && hasAgent) return undefined;
    if (input === undefined && !hasAgent) return this.#items.unspoken;
    const given = input === undefined ? this.#items.last : input.at(-1);
    const last = given?.type === 'item_reference' ? this.#items.get(given.id) : given;
    if (last?.type !== 'message' || last.role !== 'assistant') return undefined;
    return 'isSound' in last && !isUnspoken(last) ? undefined : last;
  }

  #speak(text: MessageItem | NewItem, request: ResponseRequest): void {
    this.#refuseMore();
    if (text.type !== 'message') return;
    const { text: said = '' } = text;
    const { number } = this.say(said, {}, request.voice);
    const isNew = !('isSound' in text);
    const begun = voiceItem(text.id ?? this.#parts.newId('item'), said);
    const item = isNew ? begun : Object.assign(text, begun);
    if (isNew && request.isKept) {
      const entry = this.#items.history.answer();
      entry.add(said);
      this.#items.put(item, entry);
    }
    const response = this.#open({ ...request, isSpoken: true });
    response.sounds.set(number, { item, hasStarted: false });
    response.whole(item, isNew);
  }

  /** Says a text of the server's own, as a response. */
  protected sayOwn(text: string): void {
    try {
      this.#speak({ type: 'message', role: 'assistant', text }, USUAL);
    } catch (error) {
      this.#warn(error, 'the agent could not speak');
    }
  }

  #ask(agent: TalkAgent, request: ResponseRequest, times?: TurnTimes): void {
    this.#refuseMore();
    const { tools } = this;
    if (tools === undefined) return;
    const parts = {
      items: this.#items,
      tools,
      own: request.tools ?? this.#settings.tools,
      prompt: request.prompt ?? this.#settings.prompt ?? agent.config.prompt,
      say: (...[tokens, options]: Parameters<ReplyParts['say']>) => this.say(tokens, options, request.voice),
      newReply: (own: OwnReplyParts, all: ReplyParts['tools']) => this.newReply(agent, own, times, all),
      newId: this.#parts.newId,
      emit: (event: TalkEvent) => this.#emit(event),
    };
    const { response, reply } = steeredReply(() => this.#open(request), request.input, parts);
    response.reply = reply;
    if (response.isKept) this.reply = reply;
    if (response.isSpoken) this.planFiller(reply);
    // The client may ask before the words of the turn are known that it has ended.
    const isReady = times !== undefined || request.input !== undefined || !this.conversation.awaitsTexts;
    (isReady ? reply.run() : this.#runLater(reply)).then(
      (isUseful) => this.#answered(response, isUseful),
      (error: unknown) => {
        if (!isAborted(error)) this.#failed(response, asParleyError(error, 'AGENT_FAILED'));
        else this.#giveUp(response);
      },
    );
  }

  async #runLater(reply: ChatReply): Promise<boolean> {
    await this.quiet.wait(reply.signal, () => this.conversation.awaitsTexts);
    return reply.run();
  }

  #answered(response: TalkResponse, isUseful: boolean): void {
    if (response.reply?.isGivenUp === true) return this.#giveUp(response);
    if (!isUseful)
      return this.#failed(response, new ParleyError('AGENT_FAILED', "the agent's model said nothing"));
    if (response.isSpoken && response.reply?.isSpeaking !== true) this.cancelFiller();
    response.written();
    this.#forget(response);
    return this.askAgain();
  }

  #failed(response: TalkResponse, error: ParleyError): void {
    response.reply?.abort();
    if (!response.fail(error)) this.#emit({ type: 'failed', error });
    this.#cutUnspoken(response);
    this.#forget(response);
    this.fail(error, { isSpoken: response.isSpoken });
  }

  protected say(
    text: string | AsyncIterable<string>,
    options: { receivedAtMs?: number } = {},
    ownVoice?: string,
  ): Utterance {
    const { isInterruptible, voice, language, pace } = this.#settings;
    const isHeard = isInterruptible && !isByHand(this.#settings);
    const interruptible = this.conversation.allowed(isHeard ? 'speech' : 'none');
    const spoken = { ...options, voice: ownVoice ?? voice, language, pace, interruptible };
    const utterance = this.conversation.say(text, spoken);
    this.#awaitInput();
    return utterance;
  }

  /** The caller is expected to speak after what is spoken now. */
  #awaitInput(): void {
    const { idleMs: noInputMs = 0 } = this.#settings;
    if (noInputMs === 0 || this.isOver) return;
    try {
      this.conversation.hear({ noInputMs });
    } catch (error) {
      this.#warn(error, 'a silent caller will not be noticed');
    }
  }

  #of(utterance: number): TalkResponse | undefined {
    return [...this.#responses].find(({ sounds }) => sounds.has(utterance));
  }

  #heard(utterance: number, durationMs: number): void {
    this.#quietSinceMs = this.#parts.time.now();
    const response = this.#of(utterance);
    const sound = response?.sounds.get(utterance);
    if (response === undefined || sound === undefined) return this.askAgain();
    sound.item.soundMs = durationMs;
    response.sounds.delete(utterance);
    response.reply?.spoken(utterance);
    this.#emit({ type: 'sound.stopped', response, item: sound.item });
    response.look();
    this.#forget(response);
    this.askAgain();
    if (response.reply !== undefined && response.reply === this.reply) this.planFiller(response.reply);
  }

  #interrupted(utterance: number, heard: string, durationMs: number): void {
    this.#quietSinceMs = this.#parts.time.now();
    const response = this.#of(utterance);
    const sound = response?.sounds.get(utterance);
    if (response === undefined || sound === undefined) return;
    response.sounds.delete(utterance);
    const isCutShort = response.reply?.isRunning === true;
    response.reply?.interrupted(utterance, heard);
    response.cancel(this.#cause);
    const rest = this.#items.cut(sound.item, heard);
    if (response.isKept) this.cutOff(rest, isCutShort);
    sound.item.soundMs = durationMs;
    this.#emit({ type: 'item.cut', item: sound.item, heard, soundMs: durationMs });
    if (sound.hasStarted) this.#emit({ type: 'sound.cleared', response, item: sound.item });
    this.#cutUnspoken(response);
    this.#forget(response);
  }

  #unspoken(utterance: number, code: string, heard: string): void {
    const response = this.#of(utterance);
    const sound = response?.sounds.get(utterance);
    if (response === undefined || sound === undefined) return;
    response.sounds.delete(utterance);
    response.reply?.interrupted(utterance, heard);
    this.#items.cut(sound.item, heard);
    sound.item.soundMs = 0;
    const error = new ParleyError('ENGINE_FAILED', `a text could not be spoken: ${code}`);
    // A client that waits for the end of the sound learns how the response has ended.
    if (!response.isInProgress) response.fail(error);
    if (sound.hasStarted) this.#emit({ type: 'sound.stopped', response, item: sound.item });
    this.#failed(response, error);
  }

  #giveUp(response: TalkResponse): void {
    response.cancel(this.#cause);
    this.#cutUnspoken(response);
    this.#forget(response);
  }

  /** The caller hears nothing of a message that is part of no utterance yet. */
  #cutUnspoken(response: TalkResponse): void {
    const item = response.unspoken;
    if (item === undefined) return;
    this.#items.cut(item, '');
    item.soundMs = 0;
    this.#emit({ type: 'item.cut', item, heard: '', soundMs: 0 });
  }

  /** Nothing more will come of it. */
  #forget(response: TalkResponse): void {
    if (!response.isInProgress && response.sounds.size === 0) this.#responses.delete(response);
  }

  protected override ended(): void {
    super.ended();
    for (const { reply } of this.#responses) reply?.giveUp();
  }

  #warn(error: unknown, message: string): void {
    this.warn(message, { code: asParleyError(error, 'WRONG_STATE').code });
  }

  #emit(event: TalkEvent): void {
    if (!this.isOver) this.#parts.emit(event);
  }
}
