// Collects the keys or the words of the caller, while prompts are heard.
//
//   prompts ──heard, or a key──▶ waiting ──┬─ key: the time to the next one begins
//                                          ├─ finish key, or all keys ────────▶ keys
//                                          ├─ words of a turn ────────────────▶ speech
//                                          └─ time-out ───────────────────────▶ the keys so far, or none
//
// A sound without words costs nothing: the time to the first input begins anew behind it, until the longest
// time of a gather is over. Speech that has stopped and does not end as a turn is ended by order. Keys that
// were pressed before count as the first ones.
import type { Call } from '../call/call.js';
import type { CallEvent } from '../call/call-events.js';
import { type CallerTurn, TEXT_MS, type TurnWords } from '../call/caller-turns.js';
import { digitsOf } from '../call/smart-format.js';
import type { Interruptible } from '../call/utterance.js';
import { HEARING_BOUNDS, type HearingSettings } from '../config/hearing-config.js';
import { asParleyError, attempt, ParleyError } from '../errors.js';
import { warningOf } from './door.js';
import { Prompter } from './prompts.js';
import type { Outcome, Scene } from './scene.js';
import type { Gather, Target, VerbResult } from './verbs.js';

type Gathered = Extract<VerbResult, { readonly of: 'gather' }>;
export type GatherCall = Pick<
  Call,
  | 'id'
  | 'turn'
  | 'observe'
  | 'follow'
  | 'hear'
  | 'endTurn'
  | 'words'
  | 'expectWords'
  | 'closed'
  | 'speak'
  | 'play'
  | 'interrupt'
  | 'concealKeys'
  | 'recording'
  | 'recordings'
>;

const MOST_KEYS = 256;
/** Speech that has stopped for so long is over; the model of the ends of turns decides sooner. */
const STOPPED_MS = 3000;
/** The text of a turn that is over has come by then: callers are recognised with a bound of 8 s. */
const TEXT_LIMIT_MS = TEXT_MS + 1000;
const WORK = { work: 'program' };
const NONE: Gathered = { of: 'gather', by: 'none' };
const NO_WORDS: TurnWords = { text: '', language: undefined };

export async function gather(verb: Gather, scene: Scene): Promise<Outcome> {
  const { call } = await scene.answered();
  const result = await gathered(verb, call, scene);
  if (scene.signal.aborted) return 'next';
  const chosen = choiceOf(verb, result);
  if (chosen !== undefined) return { follow: chosen, result };
  if (verb.action === undefined || (result.by === 'none' && !verb.tellsEmpty)) return 'next';
  return { follow: verb.action, result };
}

/** Resolves with the input; with none, too, when it is aborted. Never rejects. */
export function gathered(verb: Gather, call: GatherCall, scene: Omit<Scene, 'answered'>): Promise<Gathered> {
  return new Promise((resolve) => new Gathering(verb, call, scene, resolve).begin());
}

class Gathering {
  readonly #verb: Gather;
  readonly #call: GatherCall;
  readonly #scene: Omit<Scene, 'answered'>;
  readonly #resolve: (result: Gathered) => void;
  readonly #prompts = new AbortController();
  /** Undone at the end. */
  readonly #stop: (() => void)[] = [];
  readonly #takesKeys: boolean;
  #takesSpeech: boolean;
  #isPrompting = true;
  /** The caller speaks, or has spoken and the words are still to come. */
  #isSpeaking = false;
  /** Speech that has stopped was ended by order. */
  #isEnded = false;
  /** Turns before this one were spoken to somebody else. */
  readonly #firstTurn: number;
  /** No wait without input goes on for longer; undefined: the first one has not begun. */
  #endMs: number | undefined;
  #keys = '';
  #partials = 0;
  #lastPartial = '';
  /** The result, which waits for prompts that nothing stops. */
  #held: Gathered | undefined;
  #isOver = false;
  #cancelTimer = (): void => undefined;
  #stopKeys = (): void => undefined;

  constructor(
    verb: Gather,
    call: GatherCall,
    scene: Omit<Scene, 'answered'>,
    resolve: (result: Gathered) => void,
  ) {
    this.#verb = verb;
    this.#call = call;
    this.#scene = scene;
    this.#resolve = resolve;
    this.#takesKeys = verb.inputs.includes('keys');
    this.#takesSpeech = verb.inputs.includes('speech');
    this.#firstTurn = call.turn;
  }

  begin(): void {
    const { signal } = this.#scene;
    if (signal.aborted) return this.#done(NONE);
    const aborted = () => this.#done(NONE);
    signal.addEventListener('abort', aborted, { once: true });
    this.#stop.push(() => signal.removeEventListener('abort', aborted));
    if (this.#verb.isSensitive === true) this.#conceal();
    if (this.#takesSpeech) this.#hear();
    if (this.#takesKeys) this.#takeKeys();
    if (this.#isOver) return undefined; // keys that were pressed ahead are all that was asked for
    if (this.#verb.inputs.includes('speech'))
      this.#stop.push(this.#scene.typed((text) => this.#said({ text, language: undefined })));
    const { warn, door, time } = this.#scene;
    const prompted = { warn, door, time, signal: this.#prompts.signal };
    const prompter = new Prompter(this.#call, prompted, this.#interruptible);
    void prompter.heard(this.#verb.prompts).then(() => this.#prompted());
    return undefined;
  }

  /** Keys after the decision are for the next verb. */
  #takeKeys(): void {
    const { keys } = this.#scene;
    const taker = (key: string) => this.#pressed(key);
    this.#stopKeys = () => keys.release(taker);
    keys.take(taker);
    if (this.#isOver || this.#held !== undefined) this.#stopKeys();
  }

  get #interruptible(): Interruptible {
    if (!this.#verb.isInterruptible) return 'none';
    if (this.#takesSpeech) return this.#takesKeys ? 'any' : 'speech';
    return this.#takesKeys ? 'dtmf' : 'none';
  }

  /** Until the next verb begins, so that a key too many is concealed, too. */
  #conceal(): void {
    const { callerTexts, afterwards, warn } = this.#scene;
    const show = [concealed(this.#call), callerTexts.conceal(this.#call)];
    afterwards(() => show.forEach((one) => one()));
    if (this.#verb.partial !== undefined)
      warn({ message: 'the words of sensitive input have no partial results' });
  }

  /** Without ears, keys are all that can be collected. */
  #hear(): void {
    const { callerTexts, warn } = this.#scene;
    let stopHearing: () => void;
    try {
      if (!callerTexts.isCallerRecognised)
        throw new ParleyError('CALL_STATE', 'this server has no recogniser: no speech is gathered');
      stopHearing = this.#call.hear(hearingOf(this.#verb));
    } catch (error) {
      this.#takesSpeech = false;
      return warn(warningOf(asParleyError(error, 'CALL_STATE')));
    }
    const { language, hints, smartFormat } = this.#verb;
    const format = smartFormat === undefined ? {} : { smartFormat };
    const context = hints.length === 0 ? undefined : hints.join(', ');
    let hasFailed = false;
    const stopTexts = callerTexts.follow(
      this.#call,
      {
        text: ({ number, text, isFinal }) =>
          void (isFinal || number < this.#firstTurn || this.#partial(text)),
        said: (turn) => this.#turnSaid(turn),
        unsaid: ({ number }) => void (number < this.#firstTurn || this.#said(NO_WORDS)),
        failed: (error) => {
          if (!hasFailed) warn(warningOf(error));
          hasFailed = true;
        },
        seesConcealed: true,
        dropsOpenTurn: true,
      },
      { language, context, ...format },
    );
    const stopEvents = this.#call.observe((event) => this.#heard(event));
    this.#stop.push(stopEvents, stopTexts, stopHearing);
    return undefined;
  }

  #heard({ type }: CallEvent): void {
    if (this.#keys !== '' || this.#held !== undefined) return undefined;
    switch (type) {
      case 'speech.started':
        if (this.#scene.time.now() > (this.#endMs ?? Infinity)) return undefined;
        this.#isSpeaking = true;
        return this.#limit(this.#verb.mostSpeechMs + TEXT_LIMIT_MS);
      case 'speech.stopped':
        return this.#limit(Math.max(STOPPED_MS, this.#verb.speechEndMs ?? 0) + 500);
      case 'turn.ended':
        return this.#limit(TEXT_LIMIT_MS);
      default:
        return undefined;
    }
  }

  #partial(text: string): void {
    const { partial, isSensitive } = this.#verb;
    if (partial === undefined || isSensitive === true || this.#isOver || this.#keys !== '') return;
    if (text === this.#lastPartial) return;
    this.#lastPartial = text;
    this.#scene.door.tell(partial, { of: 'partial', text, number: this.#partials++ });
  }

  /** Somebody behind the caller says nothing to us. */
  #turnSaid({ number, isDistant, ...words }: CallerTurn): void {
    if (number >= this.#firstTurn) this.#said(isDistant ? NO_WORDS : words);
  }

  /** The caller has finished a turn. Without words it was a noise. */
  #said(words: TurnWords): void {
    this.#isSpeaking = false;
    if (this.#isOver || this.#keys !== '') return;
    if (words.text.trim() !== '') return this.#decided(this.#spoken(words));
    if (this.#isEnded) return this.#done(NONE);
    this.#await(this.#verb.firstMs);
  }

  /** An answer of digits is the digits alone: 4207 for "it's four two oh seven". */
  #spoken(words: TurnWords): Gathered {
    const { heard, language, text } = words;
    const written = digitsOf(words, this.#verb.language) ?? text;
    const isWritten = heard !== undefined && heard !== written;
    const result = { of: 'gather', by: 'speech', text: written.trim(), language } as const;
    return isWritten ? { ...result, heard: heard.trim() } : result;
  }

  #pressed(key: string): void {
    const { finishKeys, mostKeys = MOST_KEYS, isInterruptible, betweenMs } = this.#verb;
    if (isInterruptible) this.#prompts.abort();
    if (finishKeys.includes(key)) return this.#decided(this.#keyed(key));
    this.#keys += key;
    if (this.#keys.length >= mostKeys) return this.#decided(this.#keyed(undefined));
    return this.#await(betweenMs);
  }

  /** A finish key without keys before it is no input. */
  #keyed(finishKey: string | undefined): Gathered {
    return this.#keys === '' ? NONE : { of: 'gather', by: 'keys', digits: this.#keys, finishKey };
  }

  #prompted(): void {
    this.#isPrompting = false;
    if (this.#held !== undefined) return this.#done(this.#held);
    if (this.#isOver) return undefined;
    if (this.#keys !== '') return this.#await(this.#verb.betweenMs);
    return this.#isSpeaking ? undefined : this.#await(this.#verb.firstMs);
  }

  /** Waits for the next input. A prompt that keys do not stop is heard to its end first. */
  #await(ms: number): void {
    this.#cancelTimer();
    if (this.#isPrompting && !this.#prompts.signal.aborted) return;
    const { time } = this.#scene;
    this.#endMs ??= time.now() + this.#verb.firstMs + this.#verb.mostSpeechMs;
    const leftMs = this.#keys === '' ? Math.max(0, Math.min(ms, this.#endMs - time.now())) : ms;
    this.#cancelTimer = time.after(leftMs, () => this.#done(this.#keyed(undefined)));
  }

  /** Waits for the end of what the caller says, or for its words. */
  #limit(ms: number): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#scene.time.after(ms, () => this.#endSpeech());
  }

  /** Speech that goes on for too long, or has stopped and did not end as a turn. */
  #endSpeech(): void {
    if (this.#isPrompting && !this.#prompts.signal.aborted) {
      this.#isSpeaking = false;
      return;
    }
    try {
      if (this.#isEnded) return this.#done(NONE);
      this.#isEnded = true;
      this.#call.endTurn();
      this.#limit(TEXT_LIMIT_MS);
    } catch {
      this.#done(NONE); // the caller is not heard any more
    }
  }

  #decided(result: Gathered): void {
    if (this.#verb.isInterruptible || !this.#isPrompting) return this.#done(result);
    this.#held ??= result;
    this.#cancelTimer();
    return this.#stopKeys();
  }

  #done(result: Gathered): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelTimer();
    this.#stopKeys();
    this.#prompts.abort();
    for (const stop of this.#stop) stop();
    this.#resolve(result);
  }
}

/**
 * The keys of the caller are shown to nobody else, and no recording has the sound, until the returned
 * function is called. A recording that begins meanwhile is paused, too.
 */
function concealed(call: GatherCall): () => void {
  const showKeys = call.concealKeys();
  const isRecorded = () => call.recordings !== undefined && call.recording.view?.state === 'recording';
  let isPaused = false;
  const pause = () => {
    if (!isRecorded()) return;
    call.recording.pause();
    isPaused = true;
  };
  const stopObserving = call.observe(({ type }) => void (type === 'recording.started' && pause()));
  attempt(WORK, pause);
  return () => {
    stopObserving();
    showKeys();
    if (isPaused) attempt(WORK, () => call.recording.resume());
  };
}

function hearingOf({ speechEndMs, mostSpeechMs }: Gather): Partial<HearingSettings> {
  const [, longest] = HEARING_BOUNDS.maxTurnMs;
  const maxTurnMs = Math.min(mostSpeechMs, longest);
  if (speechEndMs === undefined) return { maxTurnMs };
  const [least, most] = HEARING_BOUNDS.silenceMs;
  const silenceMs = Math.min(most, Math.max(least, speechEndMs));
  return { maxTurnMs, silenceMs, minSilenceMs: silenceMs, maxSilenceMs: silenceMs };
}

/** The program that the caller chose: by the very keys, or by the longest words among those said. */
function choiceOf({ choices }: Gather, result: Gathered): Target | undefined {
  if (choices === undefined || result.by === 'none') return undefined;
  if (result.by === 'keys') return choices.get(result.digits);
  const said = [result.text, result.heard ?? ''].map((text) => ` ${wordsOf(text)} `);
  const [chosen] = [...choices]
    .map(([words, target]) => ({ words: wordsOf(words), target }))
    .filter(({ words }) => words !== '' && said.some((text) => text.includes(` ${words} `)))
    .toSorted((a, b) => b.words.length - a.words.length);
  return chosen?.target;
}

/** Lower case, without punctuation. Letters of scripts without spaces are words of their own. */
function wordsOf(text: string): string {
  return text
    .toLowerCase()
    .normalize('NFKC')
    .replace(/([\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}])/gu, ' $1 ')
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .trim();
}
