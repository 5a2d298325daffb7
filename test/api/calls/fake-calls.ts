// Fakes of telephone calls. Their state is in memory, and the tests change it.
import type { Interruptible } from '../../../src/call/utterance.js';
import type { HearingSettings } from '../../../src/config/hearing-config.js';
import type { SoundReader } from '../../../src/api/calls/telephone-access.js';
import type { Interruption } from '../../../src/call/utterance-queue.js';
import type {
  DigitsRequest,
  PhoneCallEvent,
  PhoneCallRequest,
  PhoneCalls,
  PhoneCallView,
  TransferOutcome,
  TransferRequest,
} from '../../../src/call/phone-calls.js';
import { ParleyError } from '../../../src/errors.js';
import type { PlayedSound } from '../../../src/speaking/speech-piece.js';
import type { TextRequest } from '../../../src/speaking/speech-request.js';

const EPOCH_MS = 1_700_000_000_000;

type NewEvent = PhoneCallEvent extends infer E
  ? E extends PhoneCallEvent
    ? Omit<E, 'id' | 'at'>
    : never
  : never;

export class FakePhone implements PhoneCalls {
  readonly requests: PhoneCallRequest[] = [];
  readonly views = new Map<string, PhoneCallView>();
  readonly events = new Map<string, PhoneCallEvent[]>();
  readonly followers = new Map<string, Set<(event: PhoneCallEvent) => void>>();
  /** Everything asked of calls, with the name of what was asked. */
  readonly asked: (readonly [name: string, id: string, what?: unknown])[] = [];
  /** Thrown by whatever is asked next, while it is there. */
  refusal: ParleyError | undefined;
  /** Awaited before a call is placed, and before keys were pressed. */
  ready: Promise<void> = Promise.resolve();
  #utterances = 0;

  async place(request: PhoneCallRequest): Promise<PhoneCallView> {
    this.requests.push(request);
    const id = `call_${this.requests.length}`;
    await this.ready;
    if (this.refusal !== undefined) throw this.refusal;
    return this.add(id, request);
  }

  /** A call that is on its way. */
  add(
    id: string,
    { to, from = 'sip:parley@trunk.example', owner }: PhoneCallRequest = { to: '100' },
  ): PhoneCallView {
    const view: PhoneCallView = {
      id,
      direction: 'outbound',
      state: 'dialling',
      to,
      from,
      createdAt: EPOCH_MS + 250,
      digits: [],
      ...(owner === undefined ? {} : { owner }),
    };
    this.views.set(id, view);
    this.events.set(id, []);
    this.followers.set(id, new Set());
    this.happen(id, { type: 'state', state: 'dialling' });
    return view;
  }

  list(): readonly PhoneCallView[] {
    return [...this.views.values()].reverse();
  }

  get(id: string): PhoneCallView {
    const view = this.views.get(id);
    if (view === undefined) throw new ParleyError('NOT_FOUND', 'there is no call of this id');
    return view;
  }

  say(id: string, speech: TextRequest): { utterance: number } {
    this.#note('say', id, speech);
    return { utterance: ++this.#utterances };
  }

  play(id: string, sound: PlayedSound, interruptible?: Interruptible): { utterance: number } {
    this.#note('play', id, interruptible === undefined ? sound : { ...sound, interruptible });
    return { utterance: ++this.#utterances };
  }

  listen(id: string, settings: Partial<HearingSettings> | undefined): void {
    this.#note('listen', id, settings);
  }

  interrupt(id: string): Interruption {
    this.#note('interrupt', id);
    return { text: 'Press one', utterances: [{ utterance: 1, text: 'Press one', sentMs: 640 }] };
  }

  async press(id: string, request: DigitsRequest): Promise<void> {
    this.#note('press', id, request);
    await this.ready;
  }

  async hold(id: string, held: boolean): Promise<PhoneCallView> {
    this.#note('hold', id, held);
    return this.become(id, { state: held ? 'held' : 'connected' });
  }

  async transfer(id: string, request: TransferRequest): Promise<TransferOutcome> {
    this.#note('transfer', id, request);
    return { accepted: true, status: 200 };
  }

  async hangUp(id: string): Promise<PhoneCallView> {
    this.#note('hangUp', id);
    return this.end(id);
  }

  follow(id: string, after: number, received: (event: PhoneCallEvent) => void): () => void {
    this.get(id);
    for (const event of this.events.get(id) ?? []) if (event.id > after) received(event);
    this.followers.get(id)?.add(received);
    return () => void this.followers.get(id)?.delete(received);
  }

  /** Changes what is known of a call. */
  become(id: string, changes: Partial<PhoneCallView>): PhoneCallView {
    const view = { ...this.get(id), ...changes };
    this.views.set(id, view);
    return view;
  }

  happen(id: string, event: NewEvent): void {
    const kept = this.events.get(id) ?? [];
    const whole = { id: kept.length + 1, at: EPOCH_MS + 500, ...event } as PhoneCallEvent;
    kept.push(whole);
    for (const received of this.followers.get(id) ?? []) received(whole);
  }

  end(id: string): PhoneCallView {
    const end = { reason: 'we hung up', status: 200, cause: 16 } as const;
    const view = this.become(id, { state: 'ended', endedAt: EPOCH_MS + 9000, end });
    this.happen(id, { type: 'state', state: 'ended', end });
    return view;
  }

  /** Followers of one call now. */
  watching(id: string): number {
    return this.followers.get(id)?.size ?? 0;
  }

  #note(name: string, id: string, what?: unknown): void {
    this.get(id);
    if (this.refusal !== undefined) throw this.refusal;
    this.asked.push(what === undefined ? [name, id] : [name, id, what]);
  }
}

/** Takes the bytes of a file for its samples. */
export class FakeSounds implements SoundReader {
  readonly read = (source: string | Uint8Array, field: string, signal: AbortSignal): Promise<PlayedSound> => {
    this.signals.push(signal);
    if (String(source) === 'noise') {
      return Promise.reject(new ParleyError('AUDIO_INVALID', 'the file is no audio', { field }));
    }
    this.sources.push([field, source]);
    return Promise.resolve({ samples: Float32Array.of(0.5), sampleRate: 24_000 });
  };
  readonly named = (name: string, field: string): Promise<PlayedSound> => {
    if (name === 'unknown.wav') {
      return Promise.reject(new ParleyError('INVALID_FIELD', 'there is no sound', { field }));
    }
    this.sources.push([field, name]);
    return Promise.resolve({ samples: Float32Array.of(0.25), sampleRate: 8000 });
  };
  readonly sources: (readonly [field: string, source: string | Uint8Array])[] = [];
  readonly signals: AbortSignal[] = [];
}
