// A call that only remembers what it is told, and a channel that keeps what it
// is given.
import type { HearingSettings } from '../../src/config/hearing-config.js';
import type { SpeakOptions } from '../../src/call/call.js';
import type { Interruption } from '../../src/call/utterance-queue.js';
import type { CallEvent } from '../../src/call/call-events.js';
import type { Utterance, UtteranceEnd } from '../../src/call/utterance.js';
import type { WordTime } from '../../src/engines/engine.js';
import type { ParleyError } from '../../src/errors.js';
import { OPUS } from '../../src/codecs/codec.js';
import type { ServerMessage, TalkingCall } from '../../signaling/data-channel.js';
import type { TextChannel } from '../../signaling/outbox.js';

interface SpokenText {
  readonly options: SpeakOptions;
  /** Pieces read so far; a whole text is one. */
  readonly pieces: string[];
  state: 'open' | 'complete' | ParleyError;
  /** Ends the utterance, as a call does. */
  readonly end: (end: UtteranceEnd['end']) => void;
}

export class FakeCall implements TalkingCall {
  readonly id = 'rtc_1';
  readonly codec = OPUS;
  readonly isLinkThin = () => this.hasThinLink;
  hasThinLink = false;
  readonly texts: SpokenText[] = [];
  readonly reasons: string[] = [];
  /** Settings of every `listen`. */
  readonly listened: (Partial<HearingSettings> | undefined)[] = [];
  interruption: Interruption = { text: '', utterances: [] };
  /** Thrown by the next `speak`. */
  refusal: ParleyError | undefined;
  /** Times of the words of each sentence, by its number. */
  readonly times = new Map<number, readonly WordTime[]>();
  readonly wordTimes = (_utterance: number, sentence: number) => this.times.get(sentence) ?? [];
  readonly observers = new Set<(event: CallEvent) => void>();

  observe(observer: (event: CallEvent) => void): () => void {
    this.observers.add(observer);
    return () => void this.observers.delete(observer);
  }

  emit(event: CallEvent): void {
    for (const observer of this.observers) observer(event);
  }

  speak(text: string | AsyncIterable<string>, options: SpeakOptions = {}): Utterance {
    const { refusal } = this;
    this.refusal = undefined;
    if (refusal !== undefined) throw refusal;
    let end: SpokenText['end'] = () => undefined;
    const ended = new Promise<UtteranceEnd>((resolve) => {
      end = (how) => resolve({ end: how, text: '', durationMs: 0 });
    });
    const spoken: SpokenText = { options, pieces: [], state: 'open', end };
    this.texts.push(spoken);
    if (typeof text === 'string') {
      spoken.pieces.push(text);
      spoken.state = 'complete';
    } else {
      void read(text, spoken);
    }
    return { number: this.texts.length, ended } as unknown as Utterance;
  }

  listen(settings: Partial<HearingSettings> | undefined): undefined {
    this.listened.push(settings);
  }

  /** Keys that were pressed. */
  readonly keys: string[] = [];

  pressed(digit: string): void {
    this.keys.push(digit);
  }

  interrupt(reason: string): Interruption {
    this.reasons.push(reason);
    return this.interruption;
  }

  stats(): ReturnType<TalkingCall['stats']> {
    return {
      packets: 7,
      octets: 0,
      silencePackets: 0,
      underruns: 0,
      lateTicks: 0,
      skippedTicks: 0,
      sendErrors: 0,
      queuedMs: 0,
      sequence: 0,
      timestamp: 0,
      digitsWaiting: 0,
      carried: 0,
    };
  }

  close(reason: string): Promise<void> {
    this.reasons.push(`closed: ${reason}`);
    return Promise.resolve();
  }
}

async function read(text: AsyncIterable<string>, spoken: SpokenText): Promise<void> {
  try {
    for await (const piece of text) spoken.pieces.push(piece);
    spoken.state = 'complete';
  } catch (error) {
    spoken.state = error as ParleyError;
  }
}

export class FakeChannel implements TextChannel {
  bufferedAmount = 0;
  unacknowledged = 0;
  readonly sent: ServerMessage[] = [];
  broken = false;

  send(text: string): void {
    if (this.broken) throw new Error('broken');
    this.sent.push(JSON.parse(text) as ServerMessage);
  }

  /** Messages sent since the previous call. */
  take(): ServerMessage[] {
    return this.sent.splice(0);
  }
}
