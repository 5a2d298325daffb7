// One answer of an agent's model, from the caller's turn until it is heard or given up:
//
//   question ─▶ tokens ─▶ utterance ─▶ heard
//      ▲           └─▶ functions ─┐
//      └──────────────────────────┘
//
// The answer is spoken while it is written. Nothing is spoken while the caller speaks. What was not heard
// does not stay in the history. A function that runs when the answer is given up runs to its end: the history
// gets its result later.
import type { SpeakOptions } from '../call/call.js';
import type { AgentEvent } from '../call/call-events.js';
import { ParleyError } from '../errors.js';
import { TokenStream } from '../speaking/text-source.js';
import type { Time } from '../time.js';
import { type AgentTools, isSameCall, type ToolOutcome, unlessAborted } from './agent-tools.js';
import type { AnswerEntry, ChatHistory, RunningCall } from './chat-history.js';
import type { ChatModel, ToolCall } from './chat-model.js';
import type { EarlyAnswer } from './early-answer.js';
import type { TurnTimes, UtteranceStart } from './conversation.js';

export interface ReplyParts {
  readonly model: Pick<ChatModel, 'answer'>;
  readonly history: Pick<ChatHistory, 'messages' | 'answer' | 'drop' | 'running'>;
  readonly tools: Pick<AgentTools, 'definitions' | 'run'>;
  /** Speaks a text that comes in tokens, and returns the number of the utterance. */
  readonly say: (tokens: AsyncIterable<string>, options: SpeakOptions) => number;
  /** Resolves when the caller is silent; rejects with ABORTED. */
  readonly quiet: (signal: AbortSignal) => Promise<void>;
  readonly time: Time;
  readonly tell: (event: AgentEvent) => void;
  /** The model has written more of this answer. */
  readonly onText?: (entry: AnswerEntry) => void;
  /** What the model has written of this answer was a thought. Another entry follows. */
  readonly onThought?: (entry: AnswerEntry) => void;
  /** The model calls functions with this answer. */
  readonly onCalls?: (entry: AnswerEntry) => void;
  /** Ends what is said. */
  readonly stop: () => void;
  /** The model is asked, with the history as it is now. */
  readonly onAsk?: (() => void) | undefined;
  /** The history has the result of a function that ran when the answer was given up. */
  readonly onLate?: ((name: string) => void) | undefined;
  /** Taken over if the model was asked the same. */
  readonly early?: Pick<EarlyAnswer, 'take'> | undefined;
}

/** Rounds of questions and functions in one answer. */
const MOST_ROUNDS = 8;

export class ChatReply {
  /** When the caller's words were known, on the monotonic clock. */
  readonly askedMs: number;
  readonly #parts: ReplyParts;
  readonly #times: TurnTimes | undefined;
  readonly #end = new AbortController();
  /** The end of these utterances is not known yet. */
  readonly #utterances = new Map<number, AnswerEntry>();
  /** The answer that is written, while it is part of no utterance and calls no function. */
  #unspoken: AnswerEntry | undefined;
  /** Functions of answers before that ran when the model was asked: it does not know their results. */
  #running: readonly RunningCall[] = [];
  #firstTokenMs: number | undefined;
  #isAsked = false;
  #isHeard = false;
  #isRunning = true;

  constructor(parts: ReplyParts, times: TurnTimes | undefined) {
    this.#parts = parts;
    this.#times = times;
    this.askedMs = times?.textMs ?? parts.time.now();
  }

  /** The caller has heard some of it. */
  get isHeard(): boolean {
    return this.#isHeard;
  }

  /** Some of it is queued, or is being heard. */
  get isSpeaking(): boolean {
    return this.#utterances.size > 0;
  }

  /** It was heard to its end, or given up. */
  get isOver(): boolean {
    return this.isGivenUp || (!this.#isRunning && !this.isSpeaking);
  }

  /** The model writes, or a function runs. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  get isGivenUp(): boolean {
    return this.signal.aborted;
  }

  /** Aborted once it is given up. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /**
   * Resolves when nothing more of it comes: true if the model said or did something. Rejects with
   * AGENT_FAILED or TIMEOUT; what was said before is spoken to its end.
   */
  async run(): Promise<boolean> {
    let isUseful = false;
    try {
      for (let round = 0; round < MOST_ROUNDS; round++) {
        const entry = await this.#ask();
        isUseful ||= entry.text.trim() !== '' || entry.toolCalls.length > 0;
        if (entry.toolCalls.length === 0 || (await this.#runTools(entry))) return isUseful;
      }
    } catch (error) {
      if (this.isGivenUp) return true;
      throw error;
    } finally {
      this.#isRunning = false;
    }
    throw new ParleyError('AGENT_FAILED', `the agent's language model called functions ${MOST_ROUNDS} times`);
  }

  /** Nothing more is written or done. What is queued is heard. */
  abort(): void {
    this.#end.abort();
    this.#dropUnspoken(); // at once: the next question may be asked before `run` resolves
  }

  /** Gives up what is not spoken yet. */
  giveUp(): void {
    this.abort();
    for (const [utterance, entry] of this.#utterances) if (!this.#isHeard) this.#cut(utterance, entry, '');
  }

  /** Returns true if this is the beginning of what the caller hears of it. */
  started(utterance: number, { sentenceMs = 0, queuedMs, firstPacketMs }: UtteranceStart): boolean {
    if (!this.#utterances.has(utterance) || this.#isHeard) return false;
    this.#isHeard = true;
    const { endOfSpeechMs, decidedMs, textMs } = this.#times ?? {};
    const firstTokenMs = this.#firstTokenMs ?? this.askedMs;
    const rounded = (ms: number) => Math.round(ms * 10) / 10;
    this.#parts.tell({
      type: 'agent.answered',
      ...(endOfSpeechMs === undefined || decidedMs === undefined || textMs === undefined
        ? {}
        : { silenceMs: rounded(decidedMs - endOfSpeechMs), textMs: rounded(textMs - decidedMs) }),
      modelMs: rounded(firstTokenMs - this.askedMs),
      sentenceMs: rounded(sentenceMs),
      speechMs: rounded(queuedMs - sentenceMs),
      packetMs: rounded(firstPacketMs - queuedMs),
      totalMs: rounded(firstTokenMs + firstPacketMs - (endOfSpeechMs ?? this.askedMs)),
    });
    return true;
  }

  /** Returns false for an utterance of others. */
  spoken(utterance: number): boolean {
    return this.#utterances.delete(utterance);
  }

  /**
   * Returns what the caller did not hear of it; undefined for an utterance of others. Unless it `goesOn`, no
   * more is written or done.
   */
  interrupted(utterance: number, heard: string, { goesOn = false } = {}): string | undefined {
    const entry = this.#utterances.get(utterance);
    if (entry === undefined) return undefined;
    if (!goesOn) this.abort();
    return this.#cut(utterance, entry, heard);
  }

  #dropUnspoken(): void {
    if (this.#unspoken !== undefined) this.#parts.history.drop(this.#unspoken);
    this.#unspoken = undefined;
  }

  /** Throws ABORTED once the reply is given up. */
  #check(): void {
    if (this.isGivenUp) throw new ParleyError('ABORTED', 'the caller went on');
  }

  #cut(utterance: number, entry: AnswerEntry, heard: string): string {
    this.#utterances.delete(utterance);
    const rest = entry.cut(heard);
    const isNothing = entry.toolCalls.length === 0 || (this.isGivenUp && !entry.hasActed);
    if (heard === '' && isNothing) this.#parts.history.drop(entry);
    return rest;
  }

  async #ask(): Promise<AnswerEntry> {
    const { model, history, tools, early } = this.#parts;
    const { signal } = this.#end;
    const question = { messages: history.messages(), tools: tools.definitions, signal };
    this.#running = history.running;
    this.#parts.onAsk?.();
    const taken = this.#isAsked ? undefined : early?.take(question.messages, signal);
    this.#isAsked = true;
    let entry = (this.#unspoken = history.answer());
    let stream: TokenStream | undefined;
    try {
      for await (const part of taken ?? model.answer(question)) {
        this.#check(); // the model's server may have sent it before
        if ('toolCalls' in part) {
          this.#unspoken = undefined;
          entry.calls(part.toolCalls);
          this.#parts.onCalls?.(entry);
          continue;
        }
        if ('isThought' in part) {
          stream?.end();
          stream = undefined;
          entry = this.#dropThought(entry);
          continue;
        }
        this.#firstTokenMs ??= this.#parts.time.now();
        entry.add(part.text);
        this.#parts.onText?.(entry);
        if (stream !== undefined) stream.push(part.text);
        else if (entry.text.trim() !== '') stream = await this.#speak(entry);
      }
    } finally {
      stream?.end();
      this.#dropUnspoken();
    }
    return entry;
  }

  /** The caller hears no more of a thought, and the answer begins in another entry, which it returns. */
  #dropThought(thought: AnswerEntry): AnswerEntry {
    const { history, onThought, stop } = this.#parts;
    const spoken = [...this.#utterances].filter(([, entry]) => entry === thought);
    for (const [utterance] of spoken) this.#utterances.delete(utterance);
    onThought?.(thought);
    if (spoken.length > 0) stop();
    history.drop(thought);
    this.#isHeard = false;
    this.#firstTokenMs = undefined;
    return (this.#unspoken = history.answer());
  }

  async #speak(entry: AnswerEntry): Promise<TokenStream> {
    const { quiet, say } = this.#parts;
    await quiet(this.#end.signal);
    this.#check();
    const stream = new TokenStream();
    stream.push(entry.text);
    const receivedAtMs = this.#isHeard ? undefined : this.#firstTokenMs;
    const utterance = say(stream, receivedAtMs === undefined ? {} : { receivedAtMs });
    this.#unspoken = undefined;
    this.#utterances.set(utterance, entry);
    return stream;
  }

  /** Returns true if the model is not to be asked again. */
  async #runTools(entry: AnswerEntry): Promise<boolean> {
    let isOver = false;
    for (const call of entry.toolCalls) {
      this.#check();
      const beganMs = this.#parts.time.now();
      const outcome = await this.#runTool(entry, call, beganMs);
      this.#done(entry, call, outcome, beganMs);
      isOver ||= outcome.isOver;
    }
    return isOver;
  }

  /**
   * Rejects with ABORTED once the reply is given up. A model that calls again what still runs gets the result
   * of that.
   */
  #runTool(entry: AnswerEntry, call: ToolCall, beganMs: number): Promise<ToolOutcome> {
    const signal = this.#end.signal;
    const begun = (outcome: Promise<ToolOutcome>) => {
      entry.begun(call.id, outcome);
      outcome.then(
        (late) => {
          if (!this.isGivenUp) return;
          this.#done(entry, call, late, beganMs);
          this.#parts.onLate?.(call.name);
        },
        () => undefined, // the call has ended
      );
    };
    const same = this.#running.find((one) => isSameCall(one.call, call));
    if (same === undefined)
      return this.#parts.tools.run(call, signal, {
        begun,
        soFar: (result) => entry.soFar(call.id, result),
      });
    begun(same.outcome);
    return unlessAborted(same.outcome, signal);
  }

  #done(entry: AnswerEntry, { id, name }: ToolCall, { result }: ToolOutcome, beganMs: number): void {
    const { time, tell } = this.#parts;
    if (!entry.hasResult(id)) entry.result(id, result); // a client may have answered
    tell({ type: 'agent.tool', name: name.slice(0, 64), ms: Math.round(time.now() - beganMs) });
  }
}
