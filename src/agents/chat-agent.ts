// The built-in agent of one call: what the caller says becomes a question to a chat model, and the answer is
// spoken while it is written.
//
//   said, typed, pressed ─▶ history ─▶ reply ─▶ heard ──▶ the next turn
//                                       ├─ interrupted ─▶ cut to what was heard
//                                       ├─ slow ────────▶ a filler phrase
//                                       └─ failed ──────▶ a failure phrase, and at last the end of the call
import type { HandledCall, Talk } from '../call/call-handler.js';
import type { CallerTexts } from '../call/caller-texts.js';
import type { AgentEvent, Utterance } from '../call/utterance.js';
import type { AgentConfig } from '../config/agent-config.js';
import { asParleyError, isAborted, ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import { AgentTools, type DigitsWanted } from './agent-tools.js';
import { ChatHistory } from './chat-history.js';
import type { ChatModel } from './chat-model.js';
import { ChatReply } from './chat-reply.js';
import { EarlyAnswer } from './early-answer.js';
import { Conversation, type ConversationListener, type TurnTimes, type CallerTurn } from './conversation.js';
import { KeyInput } from './key-input.js';
import type { LikelyTurn } from './likely-end.js';

interface ChatAgentParts {
  readonly config: AgentConfig;
  readonly model: Pick<ChatModel, 'answer'>;
  readonly callerTexts: Pick<CallerTexts, 'isCallerRecognised' | 'follow'>;
  readonly time: Time;
  readonly log: AgentLog;
  /** Told with each event of the agent. */
  readonly onEvent: (event: AgentEvent) => void;
  /** Called at the end of each early answer: true if it became the answer, false if it was thrown away. */
  readonly onEarlyAnswer: (isTaken: boolean) => void;
}

export interface AgentLog {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
}

const MOST_TYPED = 4000; // characters
const MOST_EARLY = 3; // early answers in one turn
const KEYS_MS = 1500; // after the last key: the caller has pressed all
const LAST_WORDS_MS = 60_000; // to speak what was said before the call ends or is transferred

export class ChatAgent implements Talk {
  readonly #handled: HandledCall;
  readonly #parts: ChatAgentParts;
  readonly #history: ChatHistory;
  readonly #conversation: Conversation;
  readonly #tools: AgentTools;
  readonly #keys: KeyInput;
  readonly #quiet = new Set<() => void>();
  #reply: ChatReply | undefined;
  /** The answer to a turn that has probably ended. */
  #early: EarlyAnswer | undefined;
  #earlyCount = 0;
  /** The caller has said more while an answer was spoken that cannot be interrupted. */
  #isAskedAgain = false;
  /** What the caller has not heard of the answer that was interrupted last. */
  #unheard = '';
  #failures = 0;
  #cancelFiller: () => void = () => undefined;
  #isOver = false;

  constructor(handled: HandledCall, parts: ChatAgentParts) {
    const { config, time, callerTexts, log } = parts;
    this.#handled = handled;
    this.#parts = parts;
    this.#history = new ChatHistory(config.prompt);
    this.#keys = new KeyInput(time, KEYS_MS, (keys) => this.#pressedAll(keys));
    const { line, call } = handled;
    this.#tools = new AgentTools({ call: call.id, config, time, actions: this.#actions(line) });
    const { language, hints: context, earlyStartMs } = config;
    this.#conversation = new Conversation(
      handled,
      this.#listener(),
      { callerTexts, time, log },
      { expected: { language, context }, earlyStartMs },
    );
    if (config.greeting !== undefined) this.#greet(config.greeting);
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
    this.#asked({ type: 'agent.prompt', text: said, by: 'text' }, undefined);
  }

  #listener(): ConversationListener {
    return {
      said: (turn) => this.#said(turn),
      noise: () => this.#noise(),
      callerSpeaks: () => this.#released(),
      likely: (turn) => this.#likely(turn),
      pressed: (digit) => this.#keys.pressed(digit),
      started: (utterance, start) => {
        this.#cancelFiller();
        this.#reply?.started(utterance, start);
      },
      spoken: (utterance) => {
        this.#reply?.spoken(utterance);
        this.#askAgain();
      },
      interrupted: (utterance, heard) => {
        this.#unheard += this.#reply?.interrupted(utterance, heard) ?? '';
      },
      failed: (utterance, { code }, heard) => {
        if (this.#reply?.interrupted(utterance, heard) === undefined) return;
        this.#failed(new ParleyError('AGENT_FAILED', `an answer could not be spoken: ${code}`));
      },
      ended: () => this.#ended(),
    };
  }

  #greet(greeting: string): void {
    const entry = this.#history.answer();
    entry.add(greeting);
    const utterance = this.#say(greeting);
    void utterance?.ended.then(({ end, text }) => {
      if (end !== 'spoken') entry.cut(text);
    });
  }

  #said({ text, language, times, isOverVoice }: CallerTurn): void {
    const { interruptible } = this.#parts.config;
    this.#earlyCount = 0;
    const listens = interruptible === 'speech' || interruptible === 'any';
    // Such as "uh-huh": the voice was not interrupted by it.
    if (isOverVoice && listens) {
      this.#throwEarlyAway();
      return this.#released();
    }
    const by = { type: 'agent.prompt', text, by: 'speech' } as const;
    this.#asked(language === undefined ? by : { ...by, language }, times);
  }

  /** Asks the model before the turn is decided, where the answer would be spoken at once. */
  #likely(turn: LikelyTurn | undefined): void {
    this.#throwEarlyAway();
    const isBusy = this.#conversation.isSpeaking || this.#reply?.isOver === false;
    if (turn === undefined || isBusy || this.#earlyCount >= MOST_EARLY) return;
    this.#earlyCount++;
    const { model, time, onEarlyAnswer: onEnd } = this.#parts;
    const messages = this.#history.messages(turn.text);
    this.#early = new EarlyAnswer({ model, messages, tools: this.#tools.definitions, time, onEnd });
  }

  #throwEarlyAway(): void {
    this.#early?.throwAway();
    this.#early = undefined;
  }

  #asked(prompt: Extract<AgentEvent, { type: 'agent.prompt' }>, times: TurnTimes | undefined): void {
    this.#tell(prompt);
    this.#unheard = '';
    this.#history.user(prompt.text);
    const reply = this.#reply;
    if (reply?.isOver === false) {
      this.#isAskedAgain = reply.isHeard; // it is heard to its end
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
        quiet: (signal) => this.#untilQuiet(signal),
        time,
        tell: (event) => this.#tell(event),
        early,
      },
      times,
    );
    this.#reply = reply;
    this.#planFiller(reply);
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
    if (!reply.isGivenUp) this.#failures = 0;
    if (!reply.isSpeaking) this.#cancelFiller();
    this.#askAgain();
  }

  /** The caller spoke while an answer was heard that could not be interrupted, and is answered now. */
  #askAgain(): void {
    if (!this.#isAskedAgain || this.#reply?.isOver === false) return;
    this.#isAskedAgain = false;
    this.#answer(undefined);
  }

  /** The caller made a sound without words. If it has interrupted the voice, that goes on. */
  #noise(): void {
    this.#earlyCount = 0;
    this.#throwEarlyAway();
    this.#released();
    const rest = this.#unheard.trim();
    if (rest === '' || this.#conversation.isCallerHeard) return;
    this.#unheard = '';
    const entry = this.#history.answer();
    entry.add(rest);
    const utterance = this.#say(rest);
    void utterance?.ended.then(({ end, text }) => {
      if (end === 'spoken') return;
      this.#unheard = entry.cut(text);
      if (text === '') this.#history.drop(entry);
    });
  }

  #failed(error: ParleyError): void {
    const { config, log } = this.#parts;
    const { code, message } = error;
    this.#cancelFiller();
    this.#reply?.giveUp();
    this.#failures++;
    log.warn({ call: this.#handled.call.id, agent: config.name, code, detail: message }, 'agent failed');
    this.#tell({ type: 'agent.failed', error: { code, message } });
    if (this.#isOver) return;
    const utterance = this.#say(config.failure);
    if (this.#failures < config.mostFailures) return;
    const ended = utterance?.ended ?? Promise.resolve();
    void ended.then(() => this.#hangUp());
  }

  #planFiller(reply: ChatReply): void {
    const { config, time } = this.#parts;
    const { filler, fillerMs } = config;
    this.#cancelFiller();
    if (filler === undefined) return;
    const cancel = time.after(fillerMs, () => {
      this.#cancelFiller = () => undefined;
      const isSilent = !reply.isHeard && !reply.isSpeaking && !reply.isGivenUp;
      if (isSilent && !this.#conversation.isCallerHeard) this.#say(filler);
    });
    this.#cancelFiller = cancel;
  }

  #pressedAll(keys: string): void {
    const text = `[The caller pressed ${keys.split('').join(' ')}]`;
    if (!this.#isOver) this.#asked({ type: 'agent.prompt', text, by: 'keys' }, undefined);
  }

  #actions(line: HandledCall['line']) {
    return {
      hangUp: async (signal: AbortSignal) => {
        await this.#lastWords(signal);
        await this.#hangUp();
      },
      transfer:
        line &&
        (async (to: string, signal: AbortSignal) => {
          await this.#lastWords(signal);
          const { accepted, status } = await line.transfer({ to });
          return accepted ? undefined : status;
        }),
      press: line && (async (digits: string) => line.press({ digits })),
      collect: (wanted: DigitsWanted, signal: AbortSignal) =>
        this.#keys.collect(wanted, this.#handled.call.spoken(), signal),
    };
  }

  /** Resolves when everything was spoken; rejects with ABORTED if the caller goes on. */
  async #lastWords(signal: AbortSignal): Promise<void> {
    let cancel: () => void = () => undefined;
    const limit = new Promise<void>((resolve) => (cancel = this.#parts.time.after(LAST_WORDS_MS, resolve)));
    await Promise.race([this.#handled.call.spoken(), limit]);
    cancel();
    if (signal.aborted) throw new ParleyError('ABORTED', 'the caller went on');
  }

  async #hangUp(): Promise<void> {
    try {
      await this.#handled.hangUp();
    } catch (error) {
      const { code } = asParleyError(error, 'WRONG_STATE');
      this.#parts.log.warn({ call: this.#handled.call.id, code }, 'the agent could not end the call');
    }
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
    return this.#conversation.say(text, { ...options, voice, language, interruptible: allowed });
  }

  async #untilQuiet(signal: AbortSignal): Promise<void> {
    const aborted = () => this.#released();
    signal.addEventListener('abort', aborted);
    while (this.#conversation.isCallerHeard && !signal.aborted && !this.#isOver)
      await new Promise<void>((resolve) => this.#quiet.add(resolve));
    signal.removeEventListener('abort', aborted);
    if (signal.aborted || this.#isOver) throw new ParleyError('ABORTED', 'the caller went on');
  }

  /** Those who wait for a silent caller look again. */
  #released(): void {
    for (const resolve of this.#quiet) resolve();
    this.#quiet.clear();
  }

  #ended(): void {
    this.#isOver = true;
    this.#cancelFiller();
    this.#keys.close();
    this.#throwEarlyAway();
    this.#reply?.giveUp();
    this.#released();
  }

  #tell(event: AgentEvent): void {
    if (!this.#isOver) this.#handled.call.tell(event); // the end of a call is its last event
    this.#parts.onEvent(event);
  }
}
