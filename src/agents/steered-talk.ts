// The talk of a call that a client steers, message by message: with an agent, whose model answers the caller,
// or without one, as ears and mouth of the client's own model.
//
//   caller ─▶ turns, keys ─▶ items ─▶ client ─▶ items, settings
//                              └─▶ response: the agent's model, or a text of the client ─▶ caller
//
// An item is cut to what the caller has heard of it.
import type { CallerTexts } from '../call/caller-texts.js';
import type { SpeakOptions } from '../call/call.js';
import type { HandledCall } from '../call/call-handler.js';
import type { AgentEvent, Interruptible, Utterance } from '../call/utterance.js';
import type { AgentConfig } from '../config/agent-config.js';
import { asParleyError, forClient, isAborted, ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import { AgentTools } from './agent-tools.js';
import { CallActions } from './call-actions.js';
import { GO_ON } from './chat-history.js';
import type { ChatReply } from './chat-reply.js';
import { Conversation, type ConversationListener, type SaidTurn, type TurnTimes } from './conversation.js';
import { KeyInput } from './key-input.js';
import { QuietCaller } from './quiet-caller.js';
import { type ResponseRequest, steeredReply, type TalkAgent } from './steered-reply.js';
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
import type { Log } from '../log.js';

interface SteeredTalkParts {
  /** Undefined: no agent answers. */
  readonly agent: TalkAgent | undefined;
  readonly callerTexts: Pick<CallerTexts, 'isCallerRecognised' | 'follow'>;
  readonly time: Time;
  readonly log: Log;
  /** Makes an id that nobody can guess, with this prefix. */
  readonly newId: (prefix: 'item' | 'resp') => string;
  readonly emit: (event: TalkEvent) => void;
}

const KEYS_MS = 1500; // after the last key: the caller has pressed all
const MOST_IN_PROGRESS = 8; // responses
const USUAL: ResponseRequest = { isKept: true, metadata: null };
const NO_PROMPT = '';

export class SteeredTalk {
  readonly #handled: HandledCall;
  readonly #parts: SteeredTalkParts;
  readonly #items: TalkItems;
  readonly #conversation: Conversation;
  readonly #keys: KeyInput;
  readonly #actions: CallActions;
  readonly #startMs: number;
  readonly #quiet: QuietCaller;
  /** Those that are in progress, or whose sound is queued or heard. */
  readonly #responses = new Set<TalkResponse>();
  readonly #turns: TalkTurns;
  #settings: TalkSettings;
  /** The answer of the model to the conversation that began last. */
  #answer: TalkResponse | undefined;
  #isAskedAgain = false;
  /** The caller has not heard this part of the response that was interrupted last. */
  #unheard = '';
  /** That response was not written to its end, or a function of it was not done. */
  #isCutShort = false;
  #cause: CancelReason = 'turn_detected';
  #failures = 0;
  #quietSinceMs: number;
  #cancelFiller: () => void = () => undefined;
  #isOver = false;

  constructor(handled: HandledCall, settings: TalkSettings, parts: SteeredTalkParts) {
    const { agent, time, callerTexts, log, newId } = parts;
    this.#handled = handled;
    this.#parts = parts;
    this.#settings = settings;
    this.#startMs = this.#quietSinceMs = time.now();
    this.#items = new TalkItems(agent?.config.prompt ?? NO_PROMPT, () => newId('item'));
    this.#keys = new KeyInput(time, KEYS_MS, (keys) => this.#pressedAll(keys));
    this.#quiet = new QuietCaller(time, () => this.#conversation.isCallerHeard);
    const quiet = (signal: AbortSignal) => this.#quiet.wait(signal);
    this.#actions = new CallActions({ handled, keys: this.#keys, quiet, time, log });
    const nowMs = () => Math.round(time.now() - this.#startMs);
    const emit = (event: TalkEvent) => this.#emit(event);
    this.#turns = new TalkTurns({ items: this.#items, newId: () => newId('item'), nowMs, emit });
    const conversation = { callerTexts, time, log };
    const { expected, hearing } = settings;
    this.#conversation = new Conversation(handled, this.#listener(), conversation, { expected, hearing });
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
    if (greeting !== undefined) this.#tryToSay(greeting);
    else this.#awaitInput();
  }

  /** If the client ends the turns: sound that comes belongs to a turn from now on, or to none. */
  set hasInput(hasInput: boolean) {
    this.#conversation.hasInput = hasInput;
  }

  /** Holds for what comes from now on. Throws INVALID_FIELD. */
  change(settings: TalkSettings): void {
    const { hearing, expected, idleMs } = this.#settings;
    if (settings.hearing !== hearing) this.#conversation.hear(settings.hearing);
    if (settings.expected !== expected) this.#conversation.expect(settings.expected);
    this.#settings = settings;
    if (idleMs !== undefined && settings.idleMs === undefined) this.#conversation.hear({ noInputMs: 0 });
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
    this.#unheard = '';
    this.#isCutShort = false;
    return this.#ask(this.#parts.agent, request);
  }

  /** Ends the responses that are in progress, and all sound. */
  cancel(): void {
    this.#byClient(() => {
      for (const { reply } of this.#responses) reply?.giveUp();
      this.#conversation.interrupt('response cancelled');
      for (const response of this.#responses) this.#giveUp(response);
    });
  }

  /** Ends all sound, and the responses that it belongs to. */
  clear(): void {
    this.#byClient(() => this.#conversation.interrupt('cleared by the client'));
  }

  /**
   * Ends the turn of the caller, whose sound has come within `delayMs`. It is not answered by itself. Throws
   * CALL_STATE for a caller who is not heard.
   */
  commit(delayMs: number): void {
    this.#conversation.endTurn(delayMs);
    this.#turns.commit();
  }

  /**
   * Drops what the caller has said since the last turn: where the client ends the turns, all sound. False if
   * there is nothing.
   */
  dropInput(): boolean {
    if (!this.#conversation.isTurnOpen) return false;
    this.#conversation.endTurn(0);
    this.#turns.drop();
    return true;
  }

  /** The call goes on without this talk. Idempotent. */
  close(): void {
    this.#conversation.leave();
  }

  #byClient(act: () => void): void {
    this.#cause = 'client_cancelled';
    this.#isAskedAgain = false;
    act();
    this.#cause = 'turn_detected';
    this.#unheard = '';
    this.#isCutShort = false;
  }

  #listener(): ConversationListener {
    return {
      said: (turn) => this.#said(turn),
      unsaid: (turn, error) => this.#turns.unsaid(turn, error),
      noise: () => this.#noise(),
      callerSpeaks: (isSpeaking) => {
        this.#quiet.look();
        this.#turns.callerSpeaks(isSpeaking);
      },
      turnEnded: (turn, length, isByOrder) => this.#turns.ended(turn, length, isByOrder),
      noInput: () => this.#noInput(),
      pressed: (digit) => {
        this.#emit({ type: 'key', digit });
        this.#keys.pressed(digit);
      },
      started: (utterance, start) => {
        const response = this.#of(utterance);
        const sound = response?.sounds.get(utterance);
        this.#cancelFiller();
        if (response === undefined || sound === undefined) return;
        sound.hasStarted = true;
        response.reply?.started(utterance, start);
        this.#emit({ type: 'sound.started', response, item: sound.item });
        response.look();
      },
      spoken: (utterance, durationMs) => this.#heard(utterance, durationMs),
      interrupted: (utterance, heard, durationMs) => this.#interrupted(utterance, heard, durationMs),
      failed: (utterance, { code }, heard) => this.#unspoken(utterance, code, heard),
      ended: () => this.#ended(),
    };
  }

  /** True if the model answers what the caller does. */
  get #answers(): boolean {
    return this.#parts.agent !== undefined && this.#settings.answersTurns && !isByHand(this.#settings);
  }

  #said(turn: SaidTurn): void {
    const { text, language, isOverVoice } = turn;
    if (!this.#turns.said(turn) || !this.#answers) return this.#quiet.look();
    // Such as "uh-huh": the voice was not interrupted by it.
    if (isOverVoice && this.#settings.isInterruptible) return this.#quiet.look();
    const prompt = { type: 'agent.prompt', text, by: 'speech' } as const;
    return this.#asked(language === undefined ? prompt : { ...prompt, language }, turn);
  }

  /** The caller made a sound without words. If it has interrupted an answer, that goes on. */
  #noise(): void {
    this.#quiet.look();
    const rest = this.#unheard.trim();
    if (!this.#answers || this.#conversation.isCallerHeard) return;
    this.#unheard = '';
    if (this.#isCutShort) {
      this.#isCutShort = false;
      this.#items.history.user(GO_ON);
      this.#answerNow(undefined);
    } else if (rest !== '') this.#tryToSay(rest);
  }

  #noInput(): void {
    if (this.isAnswering) return; // the answer is spoken, and then awaits input again
    this.#turns.idle(Math.round(this.#quietSinceMs - this.#startMs));
    if (!this.#answers) return;
    this.#items.history.user('[The caller says nothing]');
    this.#answerNow(undefined);
  }

  #pressedAll(keys: string): void {
    if (this.#isOver || !this.#answers) return;
    const text = `[The caller pressed ${keys.split('').join(' ')}]`;
    this.add({ type: 'message', role: 'user', text }, undefined);
    this.#asked({ type: 'agent.prompt', text, by: 'keys' }, undefined);
  }

  #asked(prompt: Extract<AgentEvent, { type: 'agent.prompt' }>, times: TurnTimes | undefined): void {
    this.#tell(prompt);
    this.#unheard = '';
    this.#isCutShort = false;
    const before = this.#answer;
    if (before?.reply?.isOver === false) {
      this.#isAskedAgain = before.reply.isHeard && this.#conversation.isSpeaking; // it is heard to its end
      if (this.#isAskedAgain) return;
      const isQueued = before.reply.isSpeaking;
      before.reply.giveUp();
      if (isQueued) this.#conversation.interrupt('caller went on');
      this.#giveUp(before);
    }
    this.#answerNow(times);
  }

  #answerNow(times: TurnTimes | undefined): void {
    const { agent } = this.#parts;
    this.#isAskedAgain = false;
    if (agent === undefined) return;
    try {
      this.#ask(agent, USUAL, times);
    } catch (error) {
      this.#warn(error, 'the agent could not answer');
    }
  }

  /** The caller spoke while an answer was heard that could not be interrupted, and is answered now. */
  #askAgain(): void {
    if (!this.#isAskedAgain || this.#answer?.reply?.isOver === false) return;
    this.#isAskedAgain = false;
    if (this.#items.history.isAsked) this.#answerNow(undefined);
  }

  #open({ isKept, isSpoken = this.#settings.isSpoken, voice, metadata }: ResponseRequest): TalkResponse {
    const [id, emit] = [this.#parts.newId('resp'), (event: TalkEvent) => this.#emit(event)];
    const response = new TalkResponse({ id, isKept, isSpoken, voice, metadata, emit });
    this.#responses.add(response);
    return response;
  }

  #refuseMore(): void {
    if (this.#isOver) throw new ParleyError('CALL_CLOSED', 'the call has ended');
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
    const { number } = this.#say(said, {}, request.voice);
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
  #tryToSay(text: string): void {
    try {
      this.#speak({ type: 'message', role: 'assistant', text }, USUAL);
    } catch (error) {
      this.#warn(error, 'the agent could not speak');
    }
  }

  #ask(agent: TalkAgent, request: ResponseRequest, times?: TurnTimes): void {
    this.#refuseMore();
    const { time, newId } = this.#parts;
    const parts = {
      agent,
      items: this.#items,
      tools: new AgentTools({
        call: this.#handled.call.id,
        config: agent.config,
        actions: this.#actions,
        time,
      }),
      own: request.tools ?? this.#settings.tools,
      prompt: request.prompt ?? this.#settings.prompt ?? agent.config.prompt,
      say: (tokens: AsyncIterable<string>, options: SpeakOptions) =>
        this.#say(tokens, options, request.voice),
      quiet: (signal: AbortSignal) => this.#quiet.wait(signal),
      time,
      tell: (event: AgentEvent) => this.#tell(event),
      newId,
      emit: (event: TalkEvent) => this.#emit(event),
    };
    const { response, reply } = steeredReply(() => this.#open(request), request.input, parts, times);
    response.reply = reply;
    if (response.isKept) this.#answer = response;
    if (response.isSpoken) this.#planFiller(agent.config, response);
    // The client may ask before the words of the turn are known that it has ended.
    const isReady = times !== undefined || request.input !== undefined || !this.#conversation.awaitsTexts;
    (isReady ? reply.run() : this.#runLater(reply)).then(
      (isUseful) => this.#answered(response, isUseful),
      (error: unknown) => {
        if (!isAborted(error)) this.#failed(response, asParleyError(error, 'AGENT_FAILED'));
        else this.#giveUp(response);
      },
    );
  }

  async #runLater(reply: ChatReply): Promise<boolean> {
    await this.#quiet.wait(reply.signal, () => this.#conversation.awaitsTexts);
    return reply.run();
  }

  #answered(response: TalkResponse, isUseful: boolean): void {
    if (response.reply?.isGivenUp === true) return this.#giveUp(response);
    if (!isUseful)
      return this.#failed(response, new ParleyError('AGENT_FAILED', "the agent's model said nothing"));
    this.#failures = 0;
    if (response.reply?.isSpeaking !== true) this.#cancelFiller();
    response.written();
    this.#forget(response);
    return this.#askAgain();
  }

  #failed(response: TalkResponse, error: ParleyError): void {
    const { agent } = this.#parts;
    this.#cancelFiller();
    response.reply?.giveUp();
    if (!response.fail(error)) this.#emit({ type: 'failed', error });
    this.#forget(response);
    if (agent === undefined) return;
    this.#failures++;
    this.#warn(error, 'agent failed');
    this.#tell({ type: 'agent.failed', error: { code: error.code, message: forClient(error).message } });
    if (this.#isOver || !response.isSpoken) return;
    const utterance = this.#phrase(agent.config.failure);
    if (this.#failures < agent.config.mostFailures) return;
    const ended = utterance?.ended ?? Promise.resolve();
    void ended.then(() => this.#actions.end());
  }

  #planFiller({ filler, fillerMs }: AgentConfig, { reply }: TalkResponse): void {
    this.#cancelFiller();
    if (filler === undefined) return;
    this.#cancelFiller = this.#parts.time.after(fillerMs, () => {
      this.#cancelFiller = () => undefined;
      const isSilent = reply?.isHeard === false && !reply.isSpeaking && !reply.isGivenUp;
      if (isSilent && !this.#conversation.isCallerHeard) this.#phrase(filler);
    });
  }

  /** A phrase that is part of no response. */
  #phrase(text: string): Utterance | undefined {
    try {
      return this.#say(text, {});
    } catch (error) {
      this.#warn(error, 'the agent could not speak');
      return undefined;
    }
  }

  /** Without a recogniser, speech must not interrupt: nothing would follow. */
  #say(
    text: string | AsyncIterable<string>,
    options: { receivedAtMs?: number },
    ownVoice?: string,
  ): Utterance {
    const { isInterruptible, voice, language, pace } = this.#settings;
    const isHeard = isInterruptible && !isByHand(this.#settings) && this.#conversation.isCallerRecognised;
    const interruptible: Interruptible = isHeard ? 'speech' : 'none';
    const spoken = { ...options, voice: ownVoice ?? voice, language, pace, interruptible };
    const utterance = this.#conversation.say(text, spoken);
    this.#awaitInput();
    return utterance;
  }

  /** The caller is expected to speak after what is spoken now. */
  #awaitInput(): void {
    const { idleMs: noInputMs = 0 } = this.#settings;
    if (noInputMs === 0 || this.#isOver) return;
    try {
      this.#conversation.hear({ noInputMs });
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
    if (response === undefined || sound === undefined) return this.#askAgain();
    sound.item.soundMs = durationMs;
    response.sounds.delete(utterance);
    response.reply?.spoken(utterance);
    this.#emit({ type: 'sound.stopped', response, item: sound.item });
    response.look();
    this.#forget(response);
    this.#askAgain();
  }

  #interrupted(utterance: number, heard: string, durationMs: number): void {
    this.#quietSinceMs = this.#parts.time.now();
    const response = this.#of(utterance);
    const sound = response?.sounds.get(utterance);
    if (response === undefined || sound === undefined) return;
    response.sounds.delete(utterance);
    const isRunning = response.reply?.isRunning === true;
    response.reply?.interrupted(utterance, heard);
    this.#isCutShort = isRunning && response.isKept && this.#conversation.isCallerHeard;
    response.cancel(this.#cause);
    const rest = this.#items.cut(sound.item, heard);
    if (response.isKept) this.#unheard += rest;
    sound.item.soundMs = durationMs;
    this.#emit({ type: 'item.cut', item: sound.item, heard, soundMs: durationMs });
    if (sound.hasStarted) this.#emit({ type: 'sound.cleared', response, item: sound.item });
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
    if (sound.hasStarted) this.#emit({ type: 'sound.stopped', response, item: sound.item });
    const error = new ParleyError('ENGINE_FAILED', `a text could not be spoken: ${code}`);
    this.#failed(response, error);
  }

  #giveUp(response: TalkResponse): void {
    response.cancel(this.#cause);
    this.#forget(response);
  }

  /** Nothing more will come of it. */
  #forget(response: TalkResponse): void {
    if (!response.isInProgress && response.sounds.size === 0) this.#responses.delete(response);
  }

  #ended(): void {
    this.#isOver = true;
    this.#cancelFiller();
    this.#keys.close();
    for (const { reply } of this.#responses) reply?.giveUp();
    this.#quiet.close();
  }

  #warn(error: unknown, message: string): void {
    const { code } = asParleyError(error, 'WRONG_STATE');
    this.#parts.log.warn({ call: this.#handled.call.id, code }, message);
  }

  #tell(event: AgentEvent): void {
    if (!this.#isOver) this.#handled.call.tell(event); // the end of a call is its last event
    this.#parts.agent?.onEvent(event);
  }

  #emit(event: TalkEvent): void {
    if (!this.#isOver) this.#parts.emit(event);
  }
}
