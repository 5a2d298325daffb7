// Conducts what all talks with a caller share: the conversation, its history, the reply of a model, and what
// the caller hears when that is slow, fails, or is interrupted by a noise.
//
//   asked ─▶ reply ─▶ heard ──▶ the next turn
//              ├─ interrupted ─▶ cut to what was heard; after a noise it goes on
//              ├─ slow ────────▶ a filler phrase
//              └─ failed ──────▶ a failure phrase, and at last the end of the call
import type { HandledCall } from '../call/call-handler.js';
import type { CallerTexts } from '../call/caller-texts.js';
import type { AgentEvent } from '../call/call-events.js';
import type { Utterance } from '../call/utterance.js';
import type { AgentConfig } from '../config/agent-config.js';
import { asParleyError, forClient, ParleyError } from '../errors.js';
import type { Log } from '../log.js';
import type { Time } from '../time.js';
import { AgentTools } from './agent-tools.js';
import { CallActions, type WarmTransfer } from './call-actions.js';
import { type ChatHistory, GO_ON, type HistoryEntry } from './chat-history.js';
import type { ChatModel } from './chat-model.js';
import { ChatReply, type ReplyParts } from './chat-reply.js';
import {
  Conversation,
  type ConversationListener,
  type ConversationOptions,
  type TurnTimes,
} from './conversation.js';
import { KeyInput } from './key-input.js';
import { QuietCaller } from './quiet-caller.js';

/** Describes the agent that answers in a talk. */
export interface TalkAgent {
  readonly config: AgentConfig;
  readonly model: Pick<ChatModel, 'answer'>;
  /** Told with each event of the agent. */
  readonly onEvent: (event: AgentEvent) => void;
}

export interface AgentTalkParts {
  /** Undefined: no agent answers. */
  readonly agent: TalkAgent | undefined;
  readonly callerTexts: Pick<CallerTexts, 'isCallerRecognised' | 'follow'>;
  /** Absent: no person can be called for the caller. */
  readonly warmTransfer?: WarmTransfer | undefined;
  readonly time: Time;
  readonly log: Log;
}

export type Prompt = Extract<AgentEvent, { type: 'agent.prompt' }>;
/** The parts of a reply that differ between talks. */
export type OwnReplyParts = Pick<ReplyParts, 'history' | 'say'> & Partial<ReplyParts>;

const KEYS_MS = 1500; // after the last key: the caller has pressed all

export abstract class AgentTalk {
  protected readonly handled: HandledCall;
  protected readonly conversation: Conversation;
  protected readonly keys: KeyInput;
  protected readonly quiet: QuietCaller;
  protected readonly actions: CallActions;
  /** The agent's functions. */
  protected readonly tools: AgentTools | undefined;
  /** The answer to the conversation that began last. */
  protected reply: ChatReply | undefined;
  protected isOver = false;
  readonly #parts: AgentTalkParts;
  /** The caller has said more while an answer was spoken that cannot be interrupted. */
  #isAskedAgain = false;
  /** The caller has not heard this part of what was interrupted last. */
  #unheard = '';
  /** The answer that was interrupted was not written to its end, or a function of it was not done. */
  #isCutShort = false;
  /** Failures since the caller last heard an answer. */
  #failures = 0;
  /** The failure of the recogniser that lost a turn last: it counts once, however many turns it loses. */
  #lostBy: ParleyError | undefined;
  /** The note that was written last, see `askWith`. */
  #note: HistoryEntry | undefined;
  /** Functions whose results are in the history and in no question: their answers were given up. */
  readonly #late = new Set<string>();
  /** An application ended this answer, and asks for another one itself. */
  #ended: ChatReply | undefined;
  #cancelFiller: () => void = () => undefined;

  constructor(handled: HandledCall, parts: AgentTalkParts, options: ConversationOptions) {
    const { agent, time, log, warmTransfer } = parts;
    this.handled = handled;
    this.#parts = parts;
    this.keys = new KeyInput(time, KEYS_MS, (keys) => {
      if (!this.isOver) this.pressedAll(`[The caller pressed ${keys.split('').join(' ')}]`);
    });
    this.quiet = new QuietCaller(time, () => this.conversation.isCallerHeard);
    const quiet = (signal: AbortSignal) => this.quiet.wait(signal);
    this.actions = new CallActions({ handled, keys: this.keys, quiet, warmTransfer, time, log });
    this.tools = agent && new AgentTools({ ...agent, call: handled.call.id, time, actions: this.actions });
    this.conversation = new Conversation(handled, this.listener(), parts, options);
  }

  protected abstract listener(): ConversationListener;
  protected abstract readonly history: ChatHistory;
  /** The model answers what the caller does. */
  protected abstract readonly answers: boolean;
  /** Asks the model for an answer to the conversation. */
  protected abstract answerNow(times: TurnTimes | undefined): void;
  /** Throws as `Call.speak`. */
  protected abstract say(
    text: string | AsyncIterable<string>,
    options?: { receivedAtMs?: number },
  ): Utterance;
  /** Says a phrase that becomes part of the history. */
  protected abstract sayOwn(phrase: string): void;
  /** The caller has pressed keys, which `text` says. */
  protected abstract pressedAll(text: string): void;

  /** The caller asked this, which is in the history. False if an answer is heard to its end before. */
  protected asked(prompt: Prompt, times: TurnTimes | undefined): boolean {
    this.tell(prompt);
    this.forgetUnheard();
    const { reply } = this;
    if (reply?.isOver === false) {
      this.#isAskedAgain = reply.isHeard && this.conversation.isSpeaking;
      if (this.#isAskedAgain) return false;
      const isQueued = reply.isSpeaking;
      reply.giveUp();
      if (isQueued) this.conversation.interrupt('caller went on');
      this.gaveUp(reply);
    }
    this.#forgetNote();
    this.#answer(times);
    return true;
  }

  /** Asks for an answer that the caller did not ask for. The note leaves with an answer that nobody hears. */
  protected askWith(note: string): void {
    this.#forgetNote();
    this.#note = this.history.user(note);
    this.#answer(undefined);
  }

  #forgetNote(): void {
    if (this.#note !== undefined && this.reply?.isHeard !== true) this.history.drop(this.#note);
    this.#note = undefined;
  }

  #answer(times: TurnTimes | undefined): void {
    this.#isAskedAgain = false;
    if (this.answers) this.answerNow(times);
  }

  /** Answers what had to wait for the end of the answer before: words of the caller, or a late result. */
  protected askAgain(): void {
    if (this.reply?.isOver === false) return;
    const isAsked = this.#isAskedAgain && this.history.isAsked;
    this.#isAskedAgain = false;
    if (isAsked) this.#answer(undefined);
    else this.#answerLate();
  }

  #answerLate(): void {
    const isBusy = this.reply?.isOver === false || this.conversation.isBusy;
    if (this.#late.size === 0 || isBusy || this.isOver || !this.answers) return;
    this.askWith(`[The result of ${[...this.#late].join(', ')} has come]`);
  }

  /** Leaves what the caller said meanwhile, and what functions do, without an answer. */
  protected dropQuestion(): void {
    this.forgetQuestion();
    this.#ended = this.reply;
  }

  /** Leaves what the caller said over the answer without an answer. */
  protected forgetQuestion(): void {
    this.#isAskedAgain = false;
  }

  protected gaveUp(_reply: ChatReply): void {
    // A talk may tell somebody.
  }

  protected newReply(
    { model }: TalkAgent,
    own: OwnReplyParts,
    times: TurnTimes | undefined,
    tools: ReplyParts['tools'],
  ): ChatReply {
    const reply: ChatReply = new ChatReply(
      {
        model,
        tools,
        quiet: (signal) => this.quiet.wait(signal),
        stop: () => this.conversation.interrupt('the model was thinking'),
        time: this.#parts.time,
        tell: (event) => this.tell(event),
        onAsk: () => this.#late.clear(),
        onLate: (name) => {
          if (reply === this.#ended) return;
          this.#late.add(name);
          this.#answerLate();
        },
        ...own,
      },
      times,
    );
    return reply;
  }

  /** An utterance is heard. `reply`: the one that it belongs to. */
  protected started(reply: ChatReply | undefined, ...start: Parameters<ChatReply['started']>): void {
    this.cancelFiller();
    if (reply?.started(...start) === true) this.#failures = 0;
  }

  /**
   * The caller did not hear `rest` of an utterance. A voice that an application or a key has ended does not
   * go on after a noise.
   */
  protected cutOff(rest: string, isCutShort: boolean): void {
    if (!this.conversation.isCallerHeard) return this.forgetUnheard();
    this.#unheard += rest;
    this.#isCutShort ||= isCutShort;
  }

  protected forgetUnheard(): void {
    this.#unheard = '';
    this.#isCutShort = false;
  }

  /** The caller made a sound without words. If it has interrupted the voice, that goes on. */
  protected noise(): void {
    this.released();
    if (!this.answers || this.conversation.isCallerHeard) return;
    const [rest, isCutShort] = [this.#unheard.trim(), this.#isCutShort];
    this.forgetUnheard();
    if (isCutShort) this.askWith(GO_ON);
    else if (rest !== '') this.sayOwn(rest);
    else this.#answerLate();
  }

  /** A turn that a recogniser has lost is no noise: the caller is told, and not left in silence. */
  protected unsaid(error: ParleyError | undefined): void {
    if (error === undefined || !this.answers || this.reply?.isOver === false) return;
    this.forgetUnheard();
    const isCounted = error !== this.#lostBy;
    this.#lostBy = error;
    this.fail(new ParleyError('AGENT_FAILED', `the caller could not be recognised: ${error.code}`), {
      isCounted,
    });
  }

  /** Tells a failure, and the caller unless the answer is only written. */
  protected fail(error: ParleyError, { isSpoken = true, isCounted = true } = {}): void {
    const { agent } = this.#parts;
    if (isSpoken) this.cancelFiller();
    if (agent === undefined) return;
    const { code, message, cause } = error;
    // The cause has the address of the model, which the caller does not get to know.
    const why = cause instanceof Error ? { cause: cause.message } : {};
    this.warn('agent failed', { agent: agent.config.name, code, detail: message, ...why });
    const told = forClient(error).message;
    this.tell({ type: 'agent.failed', error: { code, message: told } });
    if (this.isOver || !isSpoken) return;
    if (isCounted) this.#failures++;
    const utterance = this.phrase(agent.config.failure);
    this.released();
    if (this.#failures < agent.config.mostFailures) return;
    void (utterance?.ended ?? Promise.resolve()).then(() => this.actions.end());
  }

  /** Says the filler in each silence that lasts while this answer is written, or a function runs. */
  protected planFiller(reply: ChatReply | undefined): void {
    const { filler, fillerMs = 0 } = this.#parts.agent?.config ?? {};
    this.cancelFiller();
    if (filler === undefined || reply?.isOver !== false) return;
    this.#cancelFiller = this.#parts.time.after(fillerMs, () => {
      this.#cancelFiller = () => undefined;
      const { isCallerHeard, isSpeaking } = this.conversation;
      if (isSpeaking || reply.isOver || reply.isSpeaking) return;
      if (isCallerHeard || this.keys.isCollecting) this.planFiller(reply);
      else this.phrase(filler);
    });
  }

  protected cancelFiller(): void {
    this.#cancelFiller();
    this.#cancelFiller = () => undefined;
  }

  /** A phrase that the model does not know. Undefined if nothing can be said, as in a call that ends. */
  protected phrase(text: string): Utterance | undefined {
    try {
      return this.say(text);
    } catch (error) {
      this.warn('the agent could not speak', { code: asParleyError(error, 'ENGINE_FAILED').code });
      return undefined;
    }
  }

  /** Has the watch of a silent caller look again. */
  protected released(): void {
    this.quiet.look();
  }

  protected ended(): void {
    this.isOver = true;
    this.cancelFiller();
    this.keys.close();
    this.quiet.close();
    this.tools?.close();
  }

  protected tell(event: AgentEvent): void {
    if (!this.isOver) this.handled.call.tell(event); // the end of a call is its last event
    this.#parts.agent?.onEvent(event);
  }

  protected warn(message: string, fields: Record<string, unknown>): void {
    this.#parts.log.warn({ call: this.handled.call.id, ...fields }, message);
  }
}
