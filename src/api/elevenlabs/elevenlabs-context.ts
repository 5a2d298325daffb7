// Speaks one stream of text as one stream of sound: the whole of a stream-input socket, or one context of a
// multi-stream-input socket. It has the idle timer of the context.
//
//   text ──▶ schedule ──▶ runs, one for each flush ──▶ speaker ──▶ messages
//
//   open ──▶ closing ──▶ over      closing: the flushed text is still spoken
//     └───────────────────▲
//
// Runs are sent one after the other. The next one begins when the last sentence of the run before it is being
// sent.
import type { SpeechSettings } from '../../speaking/speech-request.js';
import type { SentenceSpeaker } from '../../speaking/spoken-sentences.js';
import { SENTENCE_PAUSE_MS } from '../../speaking/speech-pipeline.js';
import { asParleyError, ParleyError } from '../../errors.js';
import type { Time } from '../../time.js';
import type { ClientMessage } from './elevenlabs-request.js';
import { SoundMessages, type SoundMessagesParts } from './sound-messages.js';
import { cutPlace, sentenceCut, TextRun, TextSchedule, type TextScheduleOptions } from './text-run.js';

interface ContextParts extends Omit<SoundMessagesParts, 'sent'> {
  readonly id: string | undefined;
  readonly speaker: SentenceSpeaker;
  readonly time: Time;
  /** Milliseconds without a message in either direction after which `silent` is called. */
  readonly inactivityMs: number;
  readonly settings: SpeechSettings;
  readonly schedule: TextScheduleOptions;
  /** Characters that the speaker takes as one text. */
  readonly maxTextLength: number;
  /** Nothing is sent before it. */
  readonly after?: Promise<void> | undefined;
  readonly silent: () => void;
  /** Called once, when nothing of it follows any more; with the error that ended it. */
  readonly over: (error: ParleyError | undefined) => void;
}

const MAX_WAITING = 40_000; // characters: minutes of speech
const MAX_RUNS = 256; // flushes of which nothing was heard yet

export class ElevenLabsContext {
  /** Undefined for the context of messages without an id. */
  readonly id: string | undefined;
  /** Resolves when nothing of it runs any more. */
  readonly freed: Promise<void>;
  readonly #parts: ContextParts;
  readonly #messages: SoundMessages;
  readonly #idle: IdleTimer;
  readonly #runs: TextRun[] = [];
  #schedule: TextSchedule;
  #settings: SpeechSettings;
  #state: 'open' | 'closing' | 'over' = 'open';
  #working = false;
  /** The run that has a sentence being sent. */
  #sending: TextRun | undefined;
  #resolveFreed!: () => void;

  constructor(parts: ContextParts) {
    this.id = parts.id;
    this.#parts = parts;
    this.#settings = parts.settings;
    this.#schedule = new TextSchedule(parts.schedule);
    this.#idle = new IdleTimer(parts.time, parts.inactivityMs, () => this.#isSpeaking, parts.silent);
    this.#messages = new SoundMessages({ ...parts, sent: () => this.#idle.touch() });
    this.freed = new Promise((resolve) => (this.#resolveFreed = resolve));
  }

  /** There is text that waits for more. */
  get hasText(): boolean {
    return this.#schedule.waiting > 0 || this.#runs.length > 0;
  }

  /** Takes the settings and the text of a message. An error ends the context. */
  take(message: ClientMessage): void {
    this.#idle.touch();
    if (this.#state !== 'open') return;
    try {
      this.#configure(message);
      const { text, flush, trigger } = message;
      if (text !== undefined || flush)
        this.#push(text ?? '', flush ? 'flush' : trigger ? 'now' : 'scheduled');
    } catch (error) {
      this.stop(asParleyError(error, 'WRONG_STATE'));
    }
  }

  /** Changes the settings of text flushed from now on. */
  #configure({ speed, schedule }: ClientMessage): void {
    if (speed !== undefined) this.#settings = { ...this.#settings, speed };
    if (schedule === undefined) return;
    const waiting = this.#schedule.flush();
    this.#schedule = new TextSchedule({ ...this.#parts.schedule, schedule });
    this.#feed(this.#schedule.push(waiting, false).text);
  }

  /** Throws TEXT_TOO_LONG and QUEUE_FULL when the peer is too far ahead of its sound. */
  #push(text: string, how: 'scheduled' | 'now' | 'flush'): void {
    this.#checkRoom(text);
    const { text: released, complete } = this.#schedule.push(text, how !== 'scheduled');
    this.#feed(released);
    if (complete) this.#openRun()?.end();
    if (how === 'flush') this.#flush();
    else if (text.trim() === '') this.#openRun()?.keepAlive();
    this.#work();
  }

  /** Ends the text: everything received is spoken, then the context is over. */
  finish(): void {
    if (this.#state !== 'open') return;
    this.#flush();
    this.#close();
  }

  /** Speaks the flushed text, then ends. Ends at once if no text was flushed, or at the second call. */
  close(): void {
    if (this.#state !== 'open' || !this.#runs.some((run) => run.flushed)) return this.stop();
    for (const run of this.#runs) if (!run.flushed) run.stop();
    this.#runs.splice(this.#runs.findLastIndex((run) => run.flushed) + 1);
    this.#close();
  }

  /** Nothing more is sent; idempotent. */
  stop(error?: ParleyError): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#idle.close();
    this.#messages.stop();
    for (const run of this.#runs) run.stop();
    this.#runs.length = 0;
    this.#parts.over(error);
    if (!this.#working) this.#resolveFreed();
  }

  /** There is text that will be spoken without another word from the peer. */
  get #isSpeaking(): boolean {
    return this.#runs.some((run) => run.ended);
  }

  #checkRoom(text: string): void {
    const waiting = this.#runs.reduce((sum, run) => sum + run.waiting, this.#schedule.waiting);
    if (waiting + text.length > MAX_WAITING) {
      const message = `more than ${MAX_WAITING} characters of text wait to be spoken`;
      throw new ParleyError('TEXT_TOO_LONG', message, { field: 'text' });
    }
    if (this.#runs.length >= MAX_RUNS) {
      throw new ParleyError('QUEUE_FULL', `${MAX_RUNS} flushed texts wait to be spoken`);
    }
  }

  /** Shares a long text among runs, since the speaker takes only so much as one. */
  #feed(text: string): void {
    const { maxTextLength } = this.#parts;
    let rest = text;
    while (rest !== '') {
      const run = this.#openRun() ?? this.#newRun();
      const room = maxTextLength - run.length;
      const isLong = run.length + rest.length > maxTextLength / 2;
      const at = rest.length > room ? cutPlace(rest, room, run.length === 0) : isLong ? sentenceCut(rest) : 0;
      const cut = rest.length > room || at > 0;
      if (at > 0 || !cut) run.push(cut ? rest.slice(0, at) : rest);
      if (cut) run.end();
      rest = cut ? rest.slice(at) : '';
    }
  }

  #flush(): void {
    this.#feed(this.#schedule.flush());
    for (const run of this.#runs) {
      run.flushed = true;
      run.end();
    }
  }

  #openRun(): TextRun | undefined {
    const last = this.#runs.at(-1);
    return last?.ended === false ? last : undefined;
  }

  #newRun(): TextRun {
    const run = new TextRun(this.#parts.speaker, this.#settings);
    this.#runs.push(run);
    this.#startNext();
    return run;
  }

  #close(): void {
    this.#state = 'closing';
    this.#work();
  }

  #work(): void {
    if (this.#working || this.#state === 'over') return;
    if (this.#runs.length === 0) {
      if (this.#state === 'closing') this.stop();
      return;
    }
    this.#working = true;
    void this.#speakAll()
      .catch((error: unknown) => this.stop(asParleyError(error, 'ENGINE_FAILED')))
      .then(() => {
        this.#working = false;
        if (this.#state === 'over') this.#resolveFreed();
        else this.#work();
      });
  }

  async #speakAll(): Promise<void> {
    await this.#parts.after;
    for (let run = this.#runs[0]; run !== undefined; run = this.#runs[0]) {
      await this.#speak(run);
      this.#runs.shift();
    }
    this.#messages.space();
  }

  async #speak(run: TextRun): Promise<void> {
    run.start(this.#messages.owesSpace ? SENTENCE_PAUSE_MS : 0);
    for (let sentence = await run.next(); sentence !== undefined; sentence = await run.next()) {
      this.#sending = run;
      const sent = this.#messages.send(sentence, sentence.continues === true ? 0 : SENTENCE_PAUSE_MS);
      this.#startNext();
      await sent;
      this.#sending = undefined;
    }
  }

  /** While the last sentence of a run is sent, the first one of the next run is made. */
  #startNext(): void {
    if (this.#sending?.exhausted === true) this.#runs[1]?.start(SENTENCE_PAUSE_MS);
  }
}

/** Calls back once nothing has happened for a while. */
export class IdleTimer {
  readonly #time: Time;
  readonly #ms: number;
  readonly #busy: () => boolean;
  readonly #idle: () => void;
  #touchedAtMs: number;
  #cancel: () => void;

  /** `idle` is called once, after `ms` without activity while `busy` returns false. */
  constructor(time: Time, ms: number, busy: () => boolean, idle: () => void) {
    this.#time = time;
    this.#ms = ms;
    this.#busy = busy;
    this.#idle = idle;
    this.#touchedAtMs = time.now();
    this.#cancel = time.after(ms, () => this.#due());
  }

  touch(): void {
    this.#touchedAtMs = this.#time.now();
  }

  /** Idempotent. */
  close(): void {
    this.#cancel();
  }

  // One timer for any number of touches: it looks again when the last of them may have been too long ago.
  #due(): void {
    if (this.#busy()) this.touch();
    const leftMs = this.#touchedAtMs + this.#ms - this.#time.now();
    if (leftMs <= 0) this.#idle();
    else this.#cancel = this.#time.after(leftMs, () => this.#due());
  }
}
