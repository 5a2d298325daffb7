// One stream of text that becomes one stream of sound: the whole of a
// stream-input socket, or one context of a multi-stream-input socket.
//
//   text ──▶ schedule ──▶ runs, one for each flush ──▶ speaker ──▶ messages
//
//   open ──▶ closing ──▶ over      closing: what was flushed is still spoken
//     └───────────────────▲
//
// Runs are sent one after the other; the next one is begun when the last
// sentence of the one before it is on its way.
import type { SpeechSettings } from '../../speaking/speech-request.js';
import type { SentenceSpeaker } from '../../speaking/spoken-sentences.js';
import { SENTENCE_PAUSE_MS } from '../../speaking/speech-line.js';
import { asParleyError, ParleyError } from '../../errors.js';
import { SoundMessages, type SoundMessagesParts } from './sound-messages.js';
import { cutPlace, sentenceCut, TextRun, TextSchedule, type TextScheduleOptions } from './text-run.js';

interface ContextParts extends SoundMessagesParts {
  readonly speaker: SentenceSpeaker;
  readonly settings: SpeechSettings;
  readonly schedule: TextScheduleOptions;
  /** Characters that the speaker takes as one text. */
  readonly maxTextLength: number;
  /** Nothing is sent before it. */
  readonly after?: Promise<void>;
  /** Called once, when nothing of it follows any more; with the error that ended it. */
  readonly over: (error: ParleyError | undefined) => void;
}

const MAX_WAITING = 40_000; // characters: minutes of speech
const MAX_RUNS = 256; // flushes of which nothing was heard yet

export class ElevenLabsContext {
  /** Resolves when nothing of it runs any more. */
  readonly freed: Promise<void>;
  readonly #parts: ContextParts;
  readonly #messages: SoundMessages;
  readonly #runs: TextRun[] = [];
  #schedule: TextSchedule;
  #settings: SpeechSettings;
  #state: 'open' | 'closing' | 'over' = 'open';
  #working = false;
  /** The run that has a sentence being sent. */
  #sending: TextRun | undefined;
  #resolveFreed!: () => void;

  constructor(parts: ContextParts) {
    this.#parts = parts;
    this.#settings = parts.settings;
    this.#schedule = new TextSchedule(parts.schedule);
    this.#messages = new SoundMessages(parts);
    this.freed = new Promise((resolve) => (this.#resolveFreed = resolve));
  }

  /** There is text that will be spoken without another word from the peer. */
  get busy(): boolean {
    return this.#runs.some((run) => run.ended);
  }

  /** There is text that waits for more. */
  get hasText(): boolean {
    return this.#schedule.waiting > 0 || this.#runs.length > 0;
  }

  /** Changes the settings of text flushed from now on. */
  configure(change: {
    readonly speed?: number | undefined;
    readonly schedule?: readonly number[] | undefined;
  }): void {
    const { speed, schedule } = change;
    if (speed !== undefined) this.#settings = { ...this.#settings, speed };
    if (schedule === undefined) return;
    const waiting = this.#schedule.flush();
    this.#schedule = new TextSchedule({ ...this.#parts.schedule, schedule });
    this.#feed(this.#schedule.push(waiting, false).text);
  }

  /** Throws TEXT_TOO_LONG and QUEUE_FULL when the peer is too far ahead of its sound. */
  push(text: string, how: 'scheduled' | 'now' | 'flush'): void {
    if (this.#state !== 'open') return;
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
    this.#messages.stop();
    for (const run of this.#runs) run.stop();
    this.#runs.length = 0;
    this.#parts.over(error);
    if (!this.#working) this.#resolveFreed();
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
