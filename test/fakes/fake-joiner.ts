// Joins no sound, and notes what it would join. A leg is named by the handle of its socket.
import { PcmRing } from '../../src/audio/pcm-ring.js';
import {
  type Hearing,
  type JoinedLeg,
  type MediaJoiner,
  MIX_HZ,
  type Mixer,
  type MixerMember,
  type MixerSink,
  type MixerSource,
  type VoiceMode,
} from '../../src/call/joined-media.js';
import type { MediaPort } from '../../src/call/call-route.js';

export class FakeRelay {
  readonly open: Record<'a-to-b' | 'b-to-a', boolean> = { 'a-to-b': true, 'b-to-a': true };
  readonly legs: readonly [a: number, b: number];
  isClosed = false;

  constructor(a: JoinedLeg, b: JoinedLeg) {
    this.legs = [a.socket.handle, b.socket.handle];
  }

  flow(direction: 'a-to-b' | 'b-to-a', isOpen: boolean): void {
    this.open[direction] = isOpen;
  }

  close(): void {
    this.isClosed = true;
  }
}

export class FakeMember implements MixerMember {
  voice: VoiceMode = 'paused';
  hearing: Hearing;
  /** Sockets of the members that it does not hear. */
  readonly unheard = new Set<number>();
  readonly leg: number;
  readonly #mixer: FakeMixer;

  constructor(leg: JoinedLeg, hearing: Hearing, mixer: FakeMixer) {
    this.leg = leg.socket.handle;
    this.hearing = hearing;
    this.#mixer = mixer;
  }

  set(hearing: Hearing): void {
    this.hearing = { ...this.hearing, ...hearing };
  }

  hears(other: MixerMember, isHeard: boolean): void {
    const { leg } = other as FakeMember;
    if (isHeard) this.unheard.delete(leg);
    else this.unheard.add(leg);
  }

  leave(): void {
    this.#mixer.members.delete(this);
  }
}

/** What the test has fail, while it is there. */
interface Failures {
  mixer?: Error | undefined;
  member?: Error | undefined;
  source?: Error | undefined;
}

export class FakeMixer implements Mixer {
  onSpeaking: Mixer['onSpeaking'];
  readonly members = new Set<FakeMember>();
  readonly sources = new Set<PcmRing>();
  readonly sinks = new Set<PcmRing>();
  isClosed = false;
  readonly #failures: Failures;
  readonly #handed = new Map<PcmRing, MixerSource>();

  constructor(failures: Failures) {
    this.#failures = failures;
  }

  add(leg: JoinedLeg, hearing: Hearing = {}): FakeMember {
    if (this.#failures.member !== undefined) throw this.#failures.member;
    const member = new FakeMember(leg, hearing, this);
    this.members.add(member);
    return member;
  }

  addSource(ring: PcmRing): MixerSource {
    if (this.#failures.source !== undefined) throw this.#failures.source;
    const source: MixerSource = { onEnd: undefined, close: () => void this.sources.delete(ring) };
    this.sources.add(ring);
    this.#handed.set(ring, source);
    return source;
  }

  /** The ring has ended, and was played. */
  sourceEnds(ring: PcmRing | undefined): void {
    if (ring === undefined || !this.sources.delete(ring)) throw new Error('no source of this mixer');
    this.#handed.get(ring)?.onEnd?.();
  }

  addSink({ capacityMs }: { readonly capacityMs: number }): MixerSink {
    const ring = PcmRing.open(MIX_HZ, (MIX_HZ * capacityMs) / 1000);
    this.sinks.add(ring);
    return { ring, close: () => void this.sinks.delete(ring) };
  }

  member(leg: number | undefined): FakeMember | undefined {
    return [...this.members].find((member) => member.leg === leg);
  }

  close(): void {
    this.isClosed = true;
    this.members.clear();
  }
}

export class FakeJoiner implements MediaJoiner {
  readonly relays: FakeRelay[] = [];
  readonly mixers: FakeMixer[] = [];
  /** Thrown by whatever is opened next, while it is there. */
  failure: Error | undefined;
  /** As `failure`, of mixers, their members and their sources only. */
  readonly failures: Failures = {};

  canRelay(a: MediaPort, b: MediaPort): boolean {
    return a.codec === b.codec;
  }

  openRelay(a: JoinedLeg, b: JoinedLeg): FakeRelay {
    if (this.failure !== undefined) throw this.failure;
    const relay = new FakeRelay(a, b);
    this.relays.push(relay);
    return relay;
  }

  openMixer(): FakeMixer {
    const failure = this.failure ?? this.failures.mixer;
    if (failure !== undefined) throw failure;
    const mixer = new FakeMixer(this.failures);
    this.mixers.push(mixer);
    return mixer;
  }

  /** Those that were not closed. */
  get openRelays(): readonly FakeRelay[] {
    return this.relays.filter(({ isClosed }) => !isClosed);
  }

  get openMixers(): readonly FakeMixer[] {
    return this.mixers.filter(({ isClosed }) => !isClosed);
  }

  /** Nothing is joined. */
  get isIdle(): boolean {
    return this.openRelays.length + this.openMixers.length === 0;
  }
}
