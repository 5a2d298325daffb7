// Opens a dialect with scripted speech behind it, and records the messages that its client receives.
import type { SocketHandler, Dialect, Peer } from '../../src/api/http/socket-dialect.js';
import type { SpeechSocketParts } from '../../src/api/speech/speech-sockets.js';
import { ParleyError } from '../../src/errors.js';
import type { SoundOutcome } from '../../src/speaking/sound.js';
import type { SpeechRequest } from '../../src/speaking/speech-request.js';
import { SpokenSentences } from '../../src/speaking/spoken-sentences.js';
import { InstantEngine } from '../fakes/engines.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { type AskedSpeech, askedSpeech, FakeStream, OUTCOME } from './fake-speech.js';

// Records every message that a dialect sends to its client, in order. A binary message becomes a string of
// its bytes.

class RecordedPeer implements Peer {
  readonly messages: (Record<string, unknown> | string)[] = [];
  readonly unreadBytes = 0;
  closedWith: readonly [code: number, reason: string] | undefined;
  #full: Promise<void> | undefined;
  #read: () => void = () => undefined;

  send(message: string | Uint8Array): void {
    const received =
      typeof message === 'string'
        ? (JSON.parse(message) as Record<string, unknown>)
        : Buffer.from(message).toString('latin1');
    this.messages.push(received);
  }

  drained(): Promise<void> {
    return this.#full ?? Promise.resolve();
  }

  close(code: number, reason: string): void {
    this.closedWith ??= [code, reason];
  }

  /** From now on it takes nothing, until it reads. */
  stall(): void {
    this.#full = new Promise((resolve) => (this.#read = resolve));
  }

  read(): void {
    this.#full = undefined;
    this.#read();
  }

  /** Everything since the last time it was asked. */
  taken(): (Record<string, unknown> | string)[] {
    return this.messages.splice(0);
  }
}

// The sound of a sentence is its own text, so that tests can read it.

class OpenedStream extends FakeStream {
  readonly #left: () => void;
  #over = false;

  constructor(left: () => void) {
    super('audio/pcm');
    this.#left = left;
    this.outcome = new Promise(() => undefined);
  }

  override cancel(): void {
    this.end(new ParleyError('ABORTED', 'the reader left'));
    if (!this.#over) this.#left();
    this.#over = true;
  }

  whole(outcome: Partial<SoundOutcome>): void {
    this.outcome = Promise.resolve({ ...OUTCOME, ...outcome });
    this.end();
  }
}

class ScriptedSpeech {
  readonly requests: AskedSpeech<SpeechRequest>[] = [];
  /** Streams that were opened and not left. */
  active = 0;
  /** Sentences whose sound does not end until `finish`. */
  readonly held = new Set<string>();
  /** Fields that the dialect adds to the usual values of every outcome of a sentence. */
  outcome: Partial<SoundOutcome> = {};
  /** Sentences that fail before their first byte. */
  readonly refused = new Map<string, ParleyError>();
  /** Sentences that break off after their first half. */
  readonly broken = new Map<string, ParleyError>();
  readonly #open = new Map<string, OpenedStream>();

  find(): undefined {
    return undefined;
  }

  has(): boolean {
    return false;
  }

  openPart(): Promise<never> {
    return Promise.reject(new Error('no sentence is a part of a run here'));
  }

  get texts(): string[] {
    return this.requests.map(({ text }) => text);
  }

  openStream(request: SpeechRequest): Promise<FakeStream> {
    const { text } = request;
    this.requests.push(askedSpeech(request));
    const refusal = this.refused.get(text);
    if (refusal !== undefined) return Promise.reject(refusal);
    this.active++;
    const stream = new OpenedStream(() => this.active--);
    const middle = Math.ceil(text.length / 2);
    stream.push(text.slice(0, middle));
    this.#open.set(text, stream);
    const failure = this.broken.get(text);
    if (failure !== undefined) stream.end(failure);
    else if (!this.held.has(text)) this.finish(text);
    return Promise.resolve(stream);
  }

  /** More sound of a sentence that is held. */
  more(text: string, bytes: Uint8Array): void {
    this.#open.get(text)?.push(bytes);
  }

  /** The rest of a sentence that was held. */
  finish(text: string): void {
    const stream = this.#open.get(text);
    stream?.push(text.slice(Math.ceil(text.length / 2)));
    stream?.whole(this.outcome);
  }
}

const LIMITS = { maxTextLength: 100, maxWaitingUtterances: 2, maxNewTokens: 2048, textIdleMs: 1000 };

export interface DialectUnderTest {
  readonly speech: ScriptedSpeech;
  readonly peer: RecordedPeer;
  readonly time: ManualTime;
  readonly conversation: SocketHandler;
  /** Codes of failures that went to the log, each with its request. */
  readonly failures: string[];
  readonly firstSounds: number[];
  say(...messages: (object | string)[]): void;
  /** Resolves with all messages since the last time, once there are so many. */
  received(count: number): Promise<(Record<string, unknown> | string)[]>;
}

export function openDialect(make: (parts: SpeechSocketParts) => Dialect, query = ''): DialectUnderTest {
  const speech = new ScriptedSpeech();
  const time = new ManualTime(100);
  const routing = new InstantEngine({ languages: ['en', 'fr'] });
  const failures: string[] = [];
  const firstSounds: number[] = [];
  const dialect = make({
    speaker: new SpokenSentences({ speech, routing, limits: LIMITS, time }),
    limits: LIMITS,
    time,
    checkModel: (name) => {
      if (name === 'unknown')
        throw new ParleyError('MODEL_UNKNOWN', 'there is no such model', { field: 'model' });
    },
    failed: ({ code }: ParleyError, requestId) => void failures.push(`${requestId} ${code}`),
    firstSound: (ms) => void firstSounds.push(ms),
  });
  const peer = new RecordedPeer();
  const handshake = {
    url: new URL(`ws://somewhere${dialect.path}${query}`),
    params: {},
    client: 'key 0',
    requestId: 'req_1',
    authorize: () => true,
  };
  dialect.check?.(handshake);
  const conversation = dialect.open(peer, handshake);
  return {
    speech,
    peer,
    time,
    conversation,
    failures,
    firstSounds,
    say: (...messages) => {
      for (const message of messages) {
        conversation.message(typeof message === 'string' ? message : JSON.stringify(message));
      }
    },
    received: async (count) => {
      await until(() => peer.messages.length >= count);
      return peer.taken();
    },
  };
}
