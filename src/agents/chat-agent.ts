// The built-in agent of one call: what the caller says becomes a question to a chat model, and the answer is
// spoken while it is written.
//
//   said, typed, pressed ─▶ history ─▶ reply ─▶ heard ──▶ the next turn
//                                       ├─ interrupted ─▶ cut to what was heard
//                                       ├─ slow ────────▶ a filler phrase
//                                       └─ failed ──────▶ a failure phrase, and at last the end of the call
//   silence ─▶ "Are you still there?", and at last the end of the call
import type { HandledCall, Talk } from '../call/call-handler.js';
import type { CallerTexts } from '../call/caller-texts.js';
import type { AgentEvent, Utterance } from '../call/utterance.js';
import type { AgentConfig } from '../config/agent-config.js';
import { asParleyError, forClient, isAborted, ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import { AgentTools } from './agent-tools.js';
import { CallActions } from './call-actions.js';
import { type AnswerEntry, ChatHistory, GO_ON } from './chat-history.js';
import type { ChatModel } from './chat-model.js';
import { ChatReply } from './chat-reply.js';
import { EarlyAnswer } from './early-answer.js';
import { Conversation, type ConversationListener, type SaidTurn, type TurnTimes } from './conversation.js';
import { IdleCaller } from './idle-caller.js';
import { KeyInput } from './key-input.js';
import type { LikelyTurn } from './likely-end.js';
import { QuietCaller } from './quiet-caller.js';
import type { Log } from '../log.js';

interface ChatAgentParts {
  readonly config: AgentConfig;
  readonly model: Pick<ChatModel, 'answer'>;
  readonly callerTexts: Pick<CallerTexts, 'isCallerRecognised' | 'follow'>;
  readonly time: Time;
  readonly log: Log;
  /** Told with each event of the agent. */
  readonly onEvent: (event: AgentEvent) => void;
  /** Called at the end of each early answer: true if it became the answer, false if it was thrown away. */
  readonly onEarlyAnswer: (isTaken: boolean) => void;
}

const MOST_TYPED = 4000; // characters
const MOST_EARLY = 3; // early answers in one turn
const KEYS_MS = 1500; // after the last key: the caller has pressed all

export class ChatAgent implements Talk {
  readonly #handled: HandledCall;
  readonly #parts: ChatAgentParts;
  readonly #history: ChatHistory;
  readonly #conversation: Conversation;
  readonly #tools: AgentTools;
  readonly #keys: KeyInput;
  readonly #idle: IdleCaller;
  readonly #actions: CallActions;
  readonly #quiet: QuietCaller;
  #reply: ChatReply | undefined;
  /** The answer to a turn that has probably ended. */
  #early: EarlyAnswer | undefined;
  #earlyCount = 0;
  /** The caller has said more while an answer was spoken that cannot be interrupted. */
  #isAskedAgain = false;
  /** The caller has not heard this part of the answer that was interrupted last. */
  #unheard = '';
  /** That answer was not written to its end, or a function of it was not done. */
  #isCutShort = false;
  #failures = 0;
  #cancelFiller: () => void = () => undefined;
  #isOver = false;

  constructor(handled: HandledCall, parts: ChatAgentParts) {
    const { config, time, callerTexts, log } = parts;
    this.#handled = handled;
    this.#parts = parts;
    this.#history = new ChatHistory(config.prompt);
    this.#keys = new KeyInput(time, KEYS_MS, (keys) => this.#pressedAll(keys));
    this.#idle = this.#idleCaller();
    this.#quiet = new QuietCaller(time, () => this.#conversation.isCallerHeard);
    const quiet = (signal: AbortSignal) => this.#quiet.wait(signal);
    this.#actions = new CallActions({ handled, keys: this.#keys, quiet, time, log });
    this.#tools = new AgentTools({ call: handled.call.id, config, time, actions: this.#actions });
    const { language, hints: context, earlyStartMs } = config;
    this.#conversation = new Conversation(
      handled,
      this.#listener(),
      { callerTexts, time, log },
      { expected: { language, context }, earlyStartMs },
    );
    if (config.greeting !== undefined) this.#sayOwn(config.greeting);
    this.#idle.look();
  }

  typed(text: string): void {
    const said = text.trim();
    if (said === '') throw new ParleyError('TEXT_EMPTY', 'text must not be empty', { field: 'text' });
    if (said.length > MOST_TYPED) {
      const message = `text must have at most ${MOST_TYPED} characters`;
      throw new ParleyError('TEXT_TOO_LONG', message, { field: 'text' });
    }
    if (this.#isOver) throw new ParleyError('CALL_CLOSED', 'the call has ended');
    this.#conversation.interrupt('text typed');
    this.#reply?.giveUp();
    this.#asked({ type: 'agent.prompt', text: said, by: 'text' }, undefined);
  }

  #listener(): ConversationListener {
    return {
      said: (turn) => this.#said(turn),
      noise: () => this.#noise(),
      unsaid: (_turn, error) => this.#unsaid(error),
      callerSpeaks: () => this.#released(),
      pressed: (digit) => {
        this.#idle.acts();
        this.#keys.pressed(digit);
      },
      likely: (turn) => this.#likely(turn),
      started: (utterance, start) => {
        this.#cancelFiller();
        if (this.#reply?.started(utterance, start) === true) this.#failures = 0;
      },
      spoken: (utterance) => {
        const isAnswer = this.#reply?.spoken(utterance) === true;
        this.#askAgain();
        if (isAnswer) this.#planFiller();
      },
      interrupted: (utterance, heard) => this.#interrupted(utterance, heard),
      failed: (utterance, { code }, heard) => {
        if (this.#reply?.interrupted(utterance, heard) === undefined) return;
        this.#failed(new ParleyError('AGENT_FAILED', `an answer could not be spoken: ${code}`));
      },
      ended: () => this.#ended(),
    };
  }

  /** A key for a function that waits for keys is its input, and no other question. */
  #interrupted(utterance: number, heard: string): void {
    const [reply, keys] = [this.#reply, this.#keys];
    const goesOn = keys.isCollecting;
    const rest = reply?.interrupted(utterance, heard, { goesOn });
    if (reply === undefined || rest === undefined) return;
    // A voice that an application or a key has ended does not go on after a noise.
    this.#unheard = this.#conversation.isCallerHeard ? this.#unheard + rest : '';
    this.#isCutShort = this.#conversation.isCallerHeard && reply.isRunning;
    if (!goesOn) return;
    const { collected } = keys;
    queueMicrotask(() => {
      if (keys.collected === collected) return reply.giveUp();
      this.#unheard = '';
      this.#isCutShort = false;
      return undefined;
    });
  }

  /** Says what the model did not write, but knows. */
  #sayOwn(phrase: string): Utterance | undefined {
    const entry = this.#history.answer();
    entry.add(phrase);
    const utterance = this.#say(phrase);
    if (utterance === undefined) this.#history.drop(entry);
    void utterance?.ended.then(({ end, text }) => this.#ownEnded(entry, end === 'spoken' ? undefined : text));
    return utterance;
  }

  /**
   * `heard`: what the caller heard of it; undefined: all. If a sound has ended it, it goes on after a noise.
   */
  #ownEnded(entry: AnswerEntry, heard: string | undefined): void {
    if (heard === undefined) return;
    const rest = entry.cut(heard);
    if (heard === '') this.#history.drop(entry);
    if (this.#conversation.isCallerHeard) this.#unheard = rest;
  }

  #idleCaller(): IdleCaller {
    const { config, time, log } = this.#parts;
    return new IdleCaller(config.idle, {
      time,
      isBusy: () =>
        this.#reply?.isOver === false || this.#conversation.isSpeaking || this.#conversation.isCallerHeard,
      say: (phrase) => this.#sayOwn(phrase),
      hangUp: async () => {
        const { id: call } = this.#handled.call;
        log.info({ call, agent: config.name }, 'the caller says nothing, and the agent ends the call');
        await this.#actions.end();
      },
    });
  }

  #said(turn: SaidTurn): void {
    const { text, language, wasNoInterruption } = turn;
    this.#idle.acts();
    this.#earlyCount = 0;
    // Such as "uh-huh": the voice was not interrupted by it.
    if (wasNoInterruption) {
      this.#throwEarlyAway();
      return this.#released();
    }
    const by = { type: 'agent.prompt', text, by: 'speech' } as const;
    this.#asked(language === undefined ? by : { ...by, language }, turn);
  }

  /** Asks the model before the turn is decided, where the answer would be spoken at once. */
  #likely(turn: LikelyTurn | undefined): void {
    this.#throwEarlyAway();
    const isBusy = this.#conversation.isSpeaking || this.#reply?.isOver === false;
    if (turn === undefined || isBusy || this.#earlyCount >= MOST_EARLY) return;
    this.#earlyCount++;
    const { model, time, onEarlyAnswer: onEnd } = this.#parts;
    const asked = this.#history.copy();
    asked.user(turn.text);
    const messages = asked.messages();
    this.#early = new EarlyAnswer({ model, messages, tools: this.#tools.definitions, time, onEnd });
  }

  #throwEarlyAway(): void {
    this.#early?.throwAway();
    this.#early = undefined;
  }

  #asked(prompt: Extract<AgentEvent, { type: 'agent.prompt' }>, times: TurnTimes | undefined): void {
    this.#tell(prompt);
    this.#idle.acts();
    this.#unheard = '';
    this.#isCutShort = false;
    this.#history.user(prompt.text);
    const reply = this.#reply;
    if (reply?.isOver === false) {
      this.#isAskedAgain = reply.isHeard && this.#conversation.isSpeaking; // it is heard to its end
      if (this.#isAskedAgain) return this.#throwEarlyAway();
      const isQueued = reply.isSpeaking;
      reply.giveUp();
      if (isQueued) this.#conversation.interrupt('caller went on');
    }
    this.#answer(times);
  }

  #answer(times: TurnTimes | undefined): void {
    const { model, time } = this.#parts;
    const early = this.#early;
    this.#early = undefined;
    const reply = new ChatReply(
      {
        model,
        history: this.#history,
        tools: this.#tools,
        say: (tokens, options) => this.#sayOrThrow(tokens, options).number,
        quiet: (signal) => this.#quiet.wait(signal),
        time,
        tell: (event) => this.#tell(event),
        early,
      },
      times,
    );
    this.#reply = reply;
    this.#isAskedAgain = false;
    this.#idle.look();
    this.#planFiller();
    reply.run().then(
      (isUseful) => this.#answered(reply, isUseful),
      (error: unknown) => {
        if (this.#reply === reply && !isAborted(error)) this.#failed(asParleyError(error, 'AGENT_FAILED'));
      },
    );
  }

  #answered(reply: ChatReply, isUseful: boolean): void {
    if (this.#reply !== reply) return;
    if (!isUseful) return this.#failed(new ParleyError('AGENT_FAILED', "the agent's model said nothing"));
    if (!reply.isSpeaking) this.#cancelFiller();
    this.#askAgain();
    this.#idle.look();
  }

  /** The caller spoke while an answer was heard that could not be interrupted, and is answered now. */
  #askAgain(): void {
    if (!this.#isAskedAgain || this.#reply?.isOver === false) return;
    this.#isAskedAgain = false;
    if (this.#history.isAsked) this.#answer(undefined);
  }

  /** A turn that a recogniser has lost is no noise: the caller is told, and not left in silence. */
  #unsaid(error: ParleyError | undefined): void {
    if (error === undefined || this.#reply?.isOver === false) return;
    this.#unheard = '';
    this.#isCutShort = false;
    this.#failed(new ParleyError('AGENT_FAILED', `the caller could not be recognised: ${error.code}`));
  }

  /** The caller made a sound without words. If it has interrupted the voice, that goes on. */
  #noise(): void {
    this.#earlyCount = 0;
    this.#throwEarlyAway();
    this.#released();
    if (this.#conversation.isCallerHeard) return;
    const rest = this.#unheard.trim();
    this.#unheard = '';
    if (this.#isCutShort) {
      this.#isCutShort = false;
      this.#history.user(GO_ON);
      return this.#answer(undefined);
    }
    if (rest === '') return;
    this.#sayOwn(rest);
  }

  #failed(error: ParleyError): void {
    const { config, log } = this.#parts;
    const { code, message, cause } = error;
    this.#cancelFiller();
    this.#reply?.abort();
    this.#failures++;
    // The cause has the address of the model, which the caller does not get to know.
    const why = cause instanceof Error ? { cause: cause.message } : {};
    log.warn(
      { call: this.#handled.call.id, agent: config.name, code, detail: message, ...why },
      'agent failed',
    );
    this.#tell({
      type: 'agent.failed',
      error: { code, message: forClient({ message, field: undefined }).message },
    });
    if (this.#isOver) return;
    const utterance = this.#say(config.failure);
    this.#idle.look();
    if (this.#failures < config.mostFailures) return;
    const ended = utterance?.ended ?? Promise.resolve();
    void ended.then(() => this.#actions.end());
  }

  /** Said in each silence that lasts while an answer is written, or a function runs. */
  #planFiller(): void {
    const { config, time } = this.#parts;
    const { filler, fillerMs } = config;
    this.#cancelFiller();
    if (filler === undefined || this.#reply?.isOver !== false) return;
    this.#cancelFiller = time.after(fillerMs, () => {
      this.#cancelFiller = () => undefined;
      const { isCallerHeard, isSpeaking } = this.#conversation;
      if (isSpeaking || this.#reply?.isOver !== false || this.#reply.isSpeaking) return;
      if (isCallerHeard || this.#keys.isCollecting) this.#planFiller();
      else this.#say(filler);
    });
  }

  #pressedAll(keys: string): void {
    const text = `[The caller pressed ${keys.split('').join(' ')}]`;
    if (!this.#isOver) this.#asked({ type: 'agent.prompt', text, by: 'keys' }, undefined);
  }

  /** Undefined where nothing can be said, as in a call that ends. */
  #say(text: string): Utterance | undefined {
    try {
      return this.#sayOrThrow(text);
    } catch (error) {
      const { code } = asParleyError(error, 'ENGINE_FAILED');
      this.#parts.log.warn({ call: this.#handled.call.id, code }, 'the agent could not speak');
      return undefined;
    }
  }

  /** Without a recogniser, speech must not interrupt: nothing would follow. */
  #sayOrThrow(text: string | AsyncIterable<string>, options: { receivedAtMs?: number } = {}): Utterance {
    const { voice, language, interruptible } = this.#parts.config;
    const byKeys = interruptible === 'any' || interruptible === 'dtmf' ? 'dtmf' : 'none';
    const allowed = this.#conversation.isCallerRecognised ? interruptible : byKeys;
    const utterance = this.#conversation.say(text, { ...options, voice, language, interruptible: allowed });
    this.#idle.says(utterance);
    return utterance;
  }

  /** Those who wait for a silent caller look again. */
  #released(): void {
    this.#quiet.look();
    this.#idle.look();
  }

  #ended(): void {
    this.#isOver = true;
    this.#cancelFiller();
    this.#keys.close();
    this.#idle.close();
    this.#throwEarlyAway();
    this.#reply?.giveUp();
    this.#quiet.close();
  }

  #tell(event: AgentEvent): void {
    if (!this.#isOver) this.#handled.call.tell(event); // the end of a call is its last event
    this.#parts.onEvent(event);
  }
}
