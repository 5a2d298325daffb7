// Two calls that hear each other.
//
//   dialling ──early media──▶ one hears ──answer──▶ both hear ◀──hold──▶ one hears music
//       └──────────────────────────┴────────────────────┴────────────────────┴────▶ ended
//
// Each change of a call's port, and each hold, joins the media again: as a relay of packets where both sides
// have the same codec and our voice does not speak over the bridge, as a mixer otherwise.
import { asParleyError, attempt, ParleyError } from '../errors.js';
import type { Log } from '../log.js';
import type { PlayedSound } from '../speaking/speech-piece.js';
import type { Call } from './call.js';
import type { HandledCall } from './call-handler.js';
import { CallMusic } from './call-music.js';
import type { MediaPort } from './call-route.js';
import {
  type JoinedLeg,
  legOf,
  type MediaJoiner,
  type Mixer,
  type MixerMember,
  type VoiceMode,
} from './joined-media.js';
import type { SpeakingMode } from './supervised-media.js';

export interface BridgeSettings {
  /** Keys of one side are pressed at the other side, or not. */
  readonly keys: 'forward' | 'keep';
  /** A key that ends the bridge, whoever presses it. It is not forwarded. */
  readonly endKey?: string | undefined;
  readonly voice: VoiceMode;
  /** Heard by a side that the other one holds; undefined: silence. */
  readonly music?: PlayedSound | undefined;
  /** Heard by the first side until there is sound of the other one; undefined: silence. */
  readonly ringBack?: PlayedSound | undefined;
}

export type BridgeReason =
  | 'parted'
  | 'key'
  /** Either side hung up. */
  | 'hung up'
  /** The two far ends talk without this server. */
  | 'transferred'
  | 'no answer'
  | 'busy'
  | 'rejected'
  | 'failed'
  | 'server closing';

interface BridgeParts {
  readonly joiner: MediaJoiner;
  /** The sound of a key; absent: keys that a far end cannot take are dropped. */
  readonly keyTone?: ((digit: string) => PlayedSound) | undefined;
  readonly log: Log;
}

/** The way of the sound between the two ports. */
interface Flow {
  readonly aToB: boolean;
  readonly bToA: boolean;
  /** The supervisor holds: it hears nobody, and nobody hears the music of its far end. */
  readonly isThirdHeld: boolean;
}

interface JoinedMedia {
  readonly plan: Plan;
  flow(flow: Flow): void;
  close(): void;
}

type Plan =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'sound'; readonly side: Side; readonly sound: PlayedSound }
  | {
      readonly kind: 'pair';
      readonly a: MediaPort;
      readonly b: MediaPort;
      readonly third?: Third | undefined;
    };

/** The supervisor of one side, which is in the mix as its mode says. */
interface Third {
  readonly port: MediaPort;
  readonly mode: SpeakingMode;
  /** The side that it supervises. */
  readonly of: 'a' | 'b';
}

interface Supervisor extends Omit<Third, 'port'> {
  readonly side: Side;
  onFailed: (error: ParleyError) => void;
}

type PairPlan = Extract<Plan, { kind: 'pair' }>;

const NOTHING: Plan = { kind: 'nothing' };
const WORK = { work: 'bridge' };

/** One call of a bridge. */
class Side {
  readonly call: Call;
  port: MediaPort | undefined;
  isHeld: boolean;
  /** Known once the call is answered. */
  handled: HandledCall | undefined;
  #stop: (() => void)[] = [];

  constructor(call: Call, onChange: () => void, onKey: (digit: string) => void) {
    this.call = call;
    this.isHeld = call.isHeld();
    let isBegun = false;
    const stopFollowing = call.follow((port) => {
      this.port = port;
      if (isBegun) onChange();
    });
    isBegun = true;
    const stopObserving = call.observe((event) => {
      if (event.type === 'digit') return onKey(event.digit);
      if (event.type !== 'call.held' && event.type !== 'call.resumed') return undefined;
      this.isHeld = event.type === 'call.held';
      return onChange();
    });
    this.#stop = [stopFollowing, stopObserving];
  }

  get leg(): JoinedLeg | undefined {
    return this.port === undefined ? undefined : legOf(this.port);
  }

  answered(handled: HandledCall): void {
    this.handled = handled;
    const resumeSilence = handled.leg?.suspendSilence();
    if (resumeSilence !== undefined) this.#stop.push(resumeSilence);
  }

  close(): void {
    for (const stop of this.#stop.splice(0)) attempt(WORK, stop);
  }
}

export class Bridge {
  /** Resolves once nothing flows any more. */
  readonly ended: Promise<BridgeReason>;
  readonly first: Call;
  readonly #parts: BridgeParts;
  readonly #settings: BridgeSettings;
  readonly #a: Side;
  #b: Side | undefined;
  #media: JoinedMedia | undefined;
  #supervisor: Supervisor | undefined;
  #isOver = false;
  #failure: ParleyError | undefined;
  #resolveEnded!: (reason: BridgeReason) => void;

  /** Throws what the joiner throws. Until `reach` the first call hears the ring-back. */
  constructor(first: HandledCall, settings: BridgeSettings, parts: BridgeParts) {
    this.first = first.call;
    this.#parts = parts;
    this.#settings = settings;
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve));
    this.#a = this.#side(first.call);
    this.#a.answered(first);
    this.#join();
  }

  /** Id of the second call; undefined before `reach`. */
  get second(): string | undefined {
    return this.#b?.call.id;
  }

  get isAnswered(): boolean {
    return this.#b?.handled !== undefined;
  }

  /** Why the two calls could not be joined, which has ended the bridge; undefined: they could. */
  get failure(): ParleyError | undefined {
    return this.#failure;
  }

  /** `relay`: packets go on as they are; `mixed`: they are decoded; undefined: nothing flows. */
  get mode(): 'relay' | 'mixed' | undefined {
    const plan = this.#media?.plan;
    if (plan?.kind !== 'pair') return undefined;
    return this.#isRelayed(plan) ? 'relay' : 'mixed';
  }

  /**
   * The first call hears the second one, which was not answered yet. If that ends without an answer, its
   * owner knows the reason and ends the bridge.
   */
  reach(call: Call): void {
    if (this.#isOver || this.#b !== undefined) return;
    this.#b = this.#side(call);
    this.#join();
  }

  /** Both hear each other from now on. */
  answered(handled: HandledCall): void {
    if (this.#isOver) return;
    this.#b ??= this.#side(handled.call);
    this.#b.answered(handled);
    this.#join();
  }

  /**
   * The supervisor of one of the two calls is heard as its mode says, until the returned function is called.
   * Throws CALL_STATE if there is one already, and what the joiner throws. `onFailed`: the supervisor could
   * not be joined on a later port. The two calls go on without it.
   */
  supervise(target: Call, supervisor: Call, mode: SpeakingMode, onFailed: () => void): () => void {
    if (this.#supervisor !== undefined)
      throw new ParleyError('CALL_STATE', 'the other call of the bridge is supervised already');
    const side = new Side(
      supervisor,
      () => this.#join(),
      () => undefined,
    );
    const failures: ParleyError[] = [];
    const third: Supervisor = {
      side,
      mode,
      of: target === this.first ? 'a' : 'b',
      onFailed: (error) => void failures.push(error),
    };
    this.#supervisor = third;
    this.#join();
    const [failure] = failures;
    if (failure !== undefined) throw failure;
    third.onFailed = onFailed;
    return () => {
      if (this.#supervisor !== third) return;
      this.#supervisor = undefined;
      side.close();
      this.#join();
    };
  }

  /** Both calls go on without each other. Idempotent. */
  end(reason: BridgeReason): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#part();
    this.#a.close();
    this.#b?.close();
    this.#supervisor?.side.close();
    this.#supervisor = undefined;
    this.#resolveEnded(reason);
  }

  #side(call: Call): Side {
    const side: Side = new Side(
      call,
      () => this.#join(),
      (digit) => this.#pressed(side, digit),
    );
    void call.closed.then((reason) => {
      if (side !== this.#b || this.isAnswered)
        return this.end(reason === 'server closing' || reason === 'transferred' ? reason : 'hung up');
      side.port = undefined;
      this.#join();
    });
    return side;
  }

  #pressed(by: Side, digit: string): void {
    if (this.#isOver || !this.isAnswered) return;
    if (digit === this.#settings.endKey) return this.end('key');
    const to = by === this.#a ? this.#b : this.#a;
    if (this.#settings.keys === 'forward' && to !== undefined) void this.#press(to, digit);
  }

  /** In RTP or INFO where the far end takes it, else as the sound of the key. */
  async #press({ call, handled }: Side, digit: string): Promise<void> {
    try {
      if (handled?.leg === undefined) throw new ParleyError('WRONG_STATE', 'the protocol carries no keys');
      await handled.leg.press({ digits: digit });
    } catch (error) {
      const { code } = asParleyError(error, 'WRONG_STATE');
      const { keyTone, log } = this.#parts;
      try {
        if (code !== 'WRONG_STATE' || keyTone === undefined) throw error;
        call.play(keyTone(digit));
      } catch {
        log.debug({ call: call.id, code }, 'key not forwarded');
      }
    }
  }

  #plan(): Plan {
    const [a, b] = [this.#a, this.#b];
    const { music, ringBack } = this.#settings;
    if (b === undefined) return soundFor(a, ringBack);
    if (this.isAnswered && a.isHeld !== b.isHeld) return soundFor(a.isHeld ? b : a, music);
    if ((this.isAnswered && a.isHeld) || a.leg === undefined || b.leg === undefined) return NOTHING;
    const { side, mode, of } = this.#supervisor ?? {};
    const third =
      side?.leg === undefined || mode === undefined || of === undefined
        ? undefined
        : { port: side.port as MediaPort, mode, of };
    return { kind: 'pair', a: a.port as MediaPort, b: b.port as MediaPort, third };
  }

  #join(): void {
    if (this.#isOver) return;
    const plan = this.#plan();
    const flow = {
      aToB: this.isAnswered,
      bToA: true,
      isThirdHeld: this.#supervisor?.side.isHeld === true,
    };
    try {
      if (this.#media !== undefined && isSame(this.#media.plan, plan)) return this.#media.flow(flow);
      this.#part();
      this.#media = this.#open(plan);
      this.#media.flow(flow);
    } catch (error) {
      this.#failed(plan, error);
    }
  }

  /** A supervisor that cannot be joined leaves. The bridge ends only if the two calls cannot be joined. */
  #failed(plan: Plan, error: unknown): void {
    const failure = asParleyError(error, 'WRONG_STATE');
    const { code, message: detail } = failure;
    const lost = plan.kind === 'pair' && plan.third !== undefined ? this.#supervisor : undefined;
    const about = { call: this.first.id, other: this.second, supervisor: lost?.side.call.id, code, detail };
    this.#parts.log.warn(about, 'calls not joined');
    if (lost === undefined) {
      this.#failure = failure;
      return this.end('failed');
    }
    this.#supervisor = undefined;
    lost.side.close();
    this.#join();
    lost.onFailed(failure);
  }

  #part(): void {
    const media = this.#media;
    this.#media = undefined;
    attempt(WORK, () => media?.close());
  }

  #isRelayed({ a, b, third }: PairPlan): boolean {
    return third === undefined && this.#settings.voice === 'paused' && this.#parts.joiner.canRelay(a, b);
  }

  #open(plan: Plan): JoinedMedia {
    const { joiner } = this.#parts;
    if (plan.kind === 'nothing') return { plan, flow: () => undefined, close: () => undefined };
    if (plan.kind === 'sound') {
      const music = new CallMusic(joiner, plan.sound);
      music.add(plan.side.call);
      return { plan, flow: () => undefined, close: () => music.close() };
    }
    const [a, b] = [legOf(plan.a) as JoinedLeg, legOf(plan.b) as JoinedLeg];
    if (!this.#isRelayed(plan)) return mixed(plan, joiner, [a, b], this.#settings.voice);
    const relay = joiner.openRelay(a, b);
    const flow = ({ aToB, bToA }: Flow) => {
      relay.flow('a-to-b', aToB);
      relay.flow('b-to-a', bToA);
    };
    return { plan, flow, close: () => relay.close() };
  }
}

function soundFor(side: Side, sound: PlayedSound | undefined): Plan {
  return sound === undefined || side.leg === undefined ? NOTHING : { kind: 'sound', side, sound };
}

/** The sound follows the ports of its call by itself. */
function isSame(one: Plan, other: Plan): boolean {
  if (one.kind === 'pair' && other.kind === 'pair') {
    const [third, before] = [one.third, other.third];
    const isSameThird = third?.port === before?.port && third?.mode === before?.mode;
    return one.a === other.a && one.b === other.b && isSameThird && third?.of === before?.of;
  }
  if (one.kind === 'sound' && other.kind === 'sound')
    return one.side === other.side && one.sound === other.sound;
  return one.kind === 'nothing' && other.kind === 'nothing';
}

function mixed(
  plan: PairPlan,
  joiner: MediaJoiner,
  [a, b]: readonly [JoinedLeg, JoinedLeg],
  voice: VoiceMode,
): JoinedMedia {
  const mixer = joiner.openMixer();
  try {
    const [first, second] = [mixer.add(a, { muted: true }), mixer.add(b, { muted: true })];
    for (const member of [first, second]) member.voice = voice;
    const third = plan.third && addThird(mixer, plan.third, first, second);
    const flow = ({ aToB, bToA, isThirdHeld }: Flow) => {
      first.set({ muted: !aToB });
      second.set({ muted: !bToA });
      third?.set({ muted: isThirdHeld, deaf: isThirdHeld });
    };
    return { plan, flow, close: () => mixer.close() };
  } catch (error) {
    mixer.close();
    throw error;
  }
}

/** A supervisor hears both sides. */
function addThird(
  mixer: Mixer,
  { port, mode, of }: Third,
  first: MixerMember,
  second: MixerMember,
): MixerMember {
  const [served, other] = of === 'a' ? [first, second] : [second, first];
  const supervisor = mixer.add(legOf(port) as JoinedLeg, { muted: true });
  if (mode === 'whisper') other.hears(supervisor, false);
  if (mode === 'take_over') other.hears(served, false);
  return supervisor;
}
