// The built-in agent of one call: what the caller says becomes a question to a chat model, and the answer is
// spoken while it is written.
//
//   said, typed, pressed ─▶ history ─▶ reply ─▶ heard ──▶ the next turn
//   a turn that has probably ended ─▶ early answer, which the reply takes over
//   silence ─▶ "Are you still there?", and at last the end of the call
import type { HandledCall, Silence, Talk } from '../call/call-handler.js';
import type { Utterance } from '../call/utterance.js';
import { asParleyError, isAborted, ParleyError } from '../errors.js';
import { AgentTalk, type AgentTalkParts, type Prompt, type TalkAgent } from './agent-talk.js';
import { type AnswerEntry, ChatHistory } from './chat-history.js';
import type { ChatReply } from './chat-reply.js';
import type { ConversationListener, SaidTurn, TurnTimes } from './conversation.js';
import { EarlyAnswer } from './early-answer.js';
import { IdleCaller } from './idle-caller.js';
import type { LikelyTurn } from './likely-end.js';

interface ChatAgentParts extends Omit<AgentTalkParts, 'agent'>, TalkAgent {
  /** Called at the end of each early answer: true if it became the answer, false if it was thrown away. */
  readonly onEarlyAnswer: (isTaken: boolean) => void;
}

const MOST_TYPED = 4000; // characters
const MOST_EARLY = 3; // early answers in one turn

export class ChatAgent extends AgentTalk implements Talk {
  protected readonly history: ChatHistory;
  readonly #parts: ChatAgentParts;
  readonly #idle: IdleCaller;
  /** Phrases of our own that are queued or being heard, by their utterances. */
  readonly #phrases = new Map<number, AnswerEntry>();
  /** The answer to a turn that has probably ended. */
  #early: EarlyAnswer | undefined;
  #earlyCount = 0;
  /** Others have the caller. */
  #isSilent = false;

  constructor(handled: HandledCall, parts: ChatAgentParts) {
    const { language, hints: context, earlyStartMs, prompt, greeting } = parts.config;
    super(handled, { ...parts, agent: parts }, { expected: { language, context }, earlyStartMs });
    this.#parts = parts;
    this.history = new ChatHistory(prompt);
    this.#idle = this.#idleCaller();
    if (greeting !== undefined) this.sayOwn(greeting);
    this.#idle.look();
  }

  typed(text: string): void {
    const said = text.trim();
    if (said === '') throw new ParleyError('TEXT_EMPTY', 'text must not be empty', { field: 'text' });
    if (said.length > MOST_TYPED) {
      const message = `text must have at most ${MOST_TYPED} characters`;
      throw new ParleyError('TEXT_TOO_LONG', message, { field: 'text' });
    }
    if (this.isOver) throw new ParleyError('CALL_CLOSED', 'the call has ended');
    if (this.#isSilent) throw new ParleyError('CALL_STATE', 'others talk with the caller now');
    this.conversation.interrupt('text typed');
    this.reply?.giveUp();
    this.#ask({ type: 'agent.prompt', text: said, by: 'text' }, undefined);
  }

  /** The caller talks with others, or hears music: what is heard meanwhile is no question. */
  readonly silence: Silence = (by) => {
    this.#isSilent = true;
    this.cancelFiller();
    this.#throwEarlyAway();
    // A function of the agent's own is part of an answer, which goes on and was spoken so far.
    if (by === 'others') {
      this.reply?.giveUp();
      this.conversation.interrupt('others have the caller');
      this.forgetUnheard();
      this.forgetQuestion();
    }
    this.keys.forget();
    this.#idle.look();
    return (note) => {
      this.#isSilent = false;
      if (this.isOver) return;
      this.#idle.acts();
      if (note !== undefined) this.askWith(note);
    };
  };

  protected get answers(): boolean {
    return !this.#isSilent;
  }

  protected listener(): ConversationListener {
    return {
      said: (turn) => this.#said(turn),
      noise: () => this.noise(),
      unsaid: (_turn, error) => this.unsaid(error),
      callerSpeaks: () => this.released(),
      pressed: (digit) => {
        if (this.#isSilent) return;
        this.#idle.acts();
        this.keys.pressed(digit);
      },
      likely: (turn) => this.#likely(turn),
      started: (utterance, start) => this.started(this.reply, utterance, start),
      spoken: (utterance) => {
        const isAnswer = this.reply?.spoken(utterance) === true;
        this.#phrases.delete(utterance);
        this.askAgain();
        if (isAnswer) this.planFiller(this.reply);
      },
      interrupted: (utterance, heard) => this.#interrupted(utterance, heard),
      failed: (utterance, { code }, heard) => {
        this.#phraseCut(utterance, heard);
        if (this.reply?.interrupted(utterance, heard) === undefined) return;
        this.#failed(new ParleyError('AGENT_FAILED', `an answer could not be spoken: ${code}`));
      },
      ended: () => this.ended(),
    };
  }

  /** A key for a function that waits for keys is its input, and no other question. */
  #interrupted(utterance: number, heard: string): void {
    const { reply, keys } = this;
    this.#phraseCut(utterance, heard);
    const goesOn = keys.isCollecting;
    const rest = reply?.interrupted(utterance, heard, { goesOn });
    if (reply === undefined || rest === undefined) return;
    this.cutOff(rest, reply.isRunning);
    if (!goesOn) return;
    const { collected } = keys;
    queueMicrotask(() => {
      if (keys.collected === collected) reply.giveUp();
      else this.forgetUnheard();
    });
  }

  /** Says what the model did not write, but knows. */
  protected sayOwn(phrase: string): Utterance | undefined {
    const entry = this.history.answer();
    entry.add(phrase);
    const utterance = this.phrase(phrase);
    if (utterance === undefined) this.history.drop(entry);
    else this.#phrases.set(utterance.number, entry);
    return utterance;
  }

  /** The caller heard no more than this of a phrase. If a sound has ended it, it goes on after a noise. */
  #phraseCut(utterance: number, heard: string): void {
    const entry = this.#phrases.get(utterance);
    if (entry === undefined) return;
    this.#phrases.delete(utterance);
    const rest = entry.cut(heard);
    if (heard === '') this.history.drop(entry);
    if (this.conversation.isCallerHeard) this.cutOff(rest, false);
  }

  #idleCaller(): IdleCaller {
    const { config, time, log } = this.#parts;
    return new IdleCaller(config.idle, {
      time,
      isBusy: () => this.#isSilent || this.reply?.isOver === false || this.conversation.isBusy,
      say: (phrase) => this.sayOwn(phrase),
      hangUp: async () => {
        const { id: call } = this.handled.call;
        log.info({ call, agent: config.name }, 'the caller says nothing, and the agent ends the call');
        await this.actions.end();
      },
    });
  }

  #said(turn: SaidTurn): void {
    const { text, language, wasNoInterruption } = turn;
    if (this.#isSilent) return this.released();
    this.#idle.acts();
    this.#earlyCount = 0;
    // Such as "uh-huh": the voice was not interrupted by it.
    if (wasNoInterruption) {
      this.#throwEarlyAway();
      return this.released();
    }
    const by = { type: 'agent.prompt', text, by: 'speech' } as const;
    return this.#ask(language === undefined ? by : { ...by, language }, turn);
  }

  /** Asks the model before the turn is decided, where the answer would be spoken at once. */
  #likely(turn: LikelyTurn | undefined): void {
    this.#throwEarlyAway();
    const isBusy = this.#isSilent || this.conversation.isSpeaking || this.reply?.isOver === false;
    if (turn === undefined || isBusy || this.#earlyCount >= MOST_EARLY) return;
    this.#earlyCount++;
    const { model, time, onEarlyAnswer: onEnd } = this.#parts;
    const asked = this.history.copy();
    asked.user(turn.text);
    const [messages, tools] = [asked.messages(), this.tools?.definitions ?? []];
    this.#early = new EarlyAnswer({ model, messages, tools, time, onEnd });
  }

  #throwEarlyAway(): void {
    this.#early?.throwAway();
    this.#early = undefined;
  }

  #ask(prompt: Prompt, times: TurnTimes | undefined): void {
    this.#idle.acts();
    this.history.user(prompt.text);
    if (!this.asked(prompt, times)) this.#throwEarlyAway();
  }

  protected answerNow(times: TurnTimes | undefined): void {
    const early = this.#early;
    this.#early = undefined;
    if (this.tools === undefined) return;
    const say: Parameters<typeof this.newReply>[1]['say'] = (...text) => this.say(...text).number;
    const reply = this.newReply(this.#parts, { history: this.history, say, early }, times, this.tools);
    this.reply = reply;
    this.#idle.look();
    this.planFiller(reply);
    reply.run().then(
      (isUseful) => this.#answered(reply, isUseful),
      (error: unknown) => {
        if (this.reply === reply && !isAborted(error)) this.#failed(asParleyError(error, 'AGENT_FAILED'));
      },
    );
  }

  #answered(reply: ChatReply, isUseful: boolean): void {
    if (this.reply !== reply) return;
    if (!isUseful) return this.#failed(new ParleyError('AGENT_FAILED', "the agent's model said nothing"));
    if (!reply.isSpeaking) this.cancelFiller();
    this.askAgain();
    this.#idle.look();
  }

  #failed(error: ParleyError): void {
    this.reply?.abort();
    this.fail(error);
  }

  protected override planFiller(reply: ChatReply | undefined): void {
    if (!this.#isSilent) super.planFiller(reply);
  }

  protected override noise(): void {
    this.#earlyCount = 0;
    this.#throwEarlyAway();
    super.noise();
  }

  protected pressedAll(text: string): void {
    this.#ask({ type: 'agent.prompt', text, by: 'keys' }, undefined);
  }

  protected say(text: string | AsyncIterable<string>, options: { receivedAtMs?: number } = {}): Utterance {
    const { voice, language, interruptible } = this.#parts.config;
    const allowed = this.conversation.allowed(interruptible);
    const utterance = this.conversation.say(text, { ...options, voice, language, interruptible: allowed });
    this.#idle.says(utterance);
    return utterance;
  }

  protected override released(): void {
    super.released();
    this.#idle.look();
  }

  protected override ended(): void {
    super.ended();
    this.#idle.close();
    this.#throwEarlyAway();
    this.reply?.giveUp();
  }
}
