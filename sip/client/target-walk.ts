// The targets of one request, one after the other: the flow that the peer came
// in on, what the locator finds, and at last those that lately did not serve. A
// place whose connection closed under the request comes once more, for a new one.
import type { Time } from '../../src/time.js';
import type { LocatedUri, Target as LocatedTarget } from '../locator/locator.js';
import type { Flow } from '../transport/flow.js';
import type { Target } from '../transport/outbound.js';
import type { Journey } from './request-sender.js';

export interface TargetFinder {
  locate(uri: LocatedUri): AsyncGenerator<LocatedTarget, void, void>;
}

export interface SenderContext {
  readonly locator: TargetFinder;
  readonly passedOver: PassedOver;
  readonly time: Time;
}

const MOST_TARGETS = 4;
const LOCATE_MS = 10_000; // in all: a name may need several questions, and each of them has a bound of its own

type Step = IteratorResult<LocatedTarget, void> | undefined;

export class TargetWalk {
  readonly #context: SenderContext;
  readonly #flow: Target | undefined;
  readonly #lastResort: Target | undefined;
  readonly #from: string | undefined;
  readonly #udpOnly: boolean | undefined;
  readonly #located: AsyncGenerator<LocatedTarget, void, void> | undefined;
  readonly #given = new Set<string>();
  readonly #later: Target[] = [];
  readonly #reopened = new Set<string>();
  #again: Target | undefined;
  #leftMs = LOCATE_MS;
  #found = false; // everything that there is
  #closed = false;
  #giveUp: (() => void) | undefined;

  constructor({ nextHop, flow, lastResort, from, udpOnly }: Journey, context: SenderContext) {
    this.#context = context;
    this.#from = from;
    this.#udpOnly = udpOnly;
    this.#flow = targetOver(flow, udpOnly);
    this.#lastResort = targetOver(lastResort, udpOnly);
    this.#located = nextHop.isSip && !isNowhere(nextHop) ? context.locator.locate(nextHop) : undefined;
  }

  /** Undefined after the last one, after four, and after `close`, which also ends a wait. */
  async next(): Promise<Target | undefined> {
    if (this.#closed) return undefined;
    const again = this.#again;
    this.#again = undefined;
    if (again !== undefined) return again;
    if (this.#given.size >= MOST_TARGETS) return undefined;
    const target = this.#ofFlow() ?? (await this.#fresh()) ?? this.#later.shift() ?? this.#unlocated();
    if (target === undefined || this.#closed) return undefined;
    this.#given.add(wayKey(target));
    return target;
  }

  /**
   * The connection closed under a request to this target, which the last `next` gave. True if that says nothing of
   * the place: its peer may have left a connection that stood, and takes the next one.
   */
  reopens(target: Target): boolean {
    const { transport, flow } = target;
    if (flow?.reliable === true) return true; // its place comes among those that are found, if a new one leads there
    const key = targetKey(target);
    const isBrowsers = transport === 'ws' || transport === 'wss'; // nobody can connect to it
    if (isBrowsers || this.#reopened.has(key)) return false;
    this.#reopened.add(key);
    this.#again = target;
    return true;
  }

  /** Nobody asks any more. */
  close(): void {
    this.#closed = true;
    this.#giveUp?.();
    void this.#located?.return().catch(() => undefined);
  }

  #ofFlow(): Target | undefined {
    return this.#given.size === 0 ? this.#flow : undefined;
  }

  /** The name has led nowhere. */
  #unlocated(): Target | undefined {
    return this.#given.size === 0 ? this.#lastResort : undefined;
  }

  async #fresh(): Promise<Target | undefined> {
    while (!this.#found && !this.#closed) {
      const step = await this.#step();
      if (step === undefined || step.done === true) {
        this.#found = true;
        return undefined;
      }
      const { transport, address, port, domain } = step.value;
      const target: Target = {
        transport,
        address,
        port,
        name: domain,
        from: this.#from,
        udpOnly: this.#udpOnly,
      };
      if (this.#given.has(targetKey(target))) continue;
      if (!this.#context.passedOver.has(target)) return target;
      this.#later.push(target);
    }
    return undefined;
  }

  #step(): Promise<Step> {
    const { time } = this.#context;
    const located = this.#located;
    if (located === undefined || this.#leftMs <= 0) return Promise.resolve(undefined);
    const startMs = time.now();
    return new Promise((resolve) => {
      const give = (step: Step): void => {
        cancelTimer();
        this.#giveUp = undefined;
        this.#leftMs -= time.now() - startMs;
        resolve(step);
      };
      const cancelTimer = time.after(this.#leftMs, () => give(undefined));
      this.#giveUp = () => give(undefined);
      located.next().then(give, () => give(undefined));
    });
  }
}

function targetOver(flow: Flow | undefined, udpOnly: boolean | undefined): Target | undefined {
  if (flow === undefined || flow.closed) return undefined;
  return { transport: flow.transport, ...flow.remote, flow, udpOnly };
}

/** A connection that stands is another way than a new one to the same place. */
function wayKey(target: Target): string {
  return target.flow?.reliable === true ? `flow ${targetKey(target)}` : targetKey(target);
}

/** What browsers' phones call themselves (RFC 7118, section 5); no name server is to be asked for it (RFC 6761). */
function isNowhere({ host }: LocatedUri): boolean {
  return /(?:^|\.)invalid\.?$/i.test(host);
}

// Targets that lately did not serve: one that said 503, or that nobody could
// reach, comes after all others until its time is over (RFC 3263, section 4.3).
// It is not shut out: where it is the only one, trying costs less than giving up.

/** How long one that could not be reached comes last. */
export const UNREACHABLE_MS = 30_000;

const MOST_REMEMBERED = 1000;
const LONGEST_MS = 300_000; // whatever a Retry-After says: a mistake there is not to last a day

export class PassedOver {
  readonly #time: Time;
  readonly #untilMs = new Map<string, number>();

  constructor(time: Time) {
    this.#time = time;
  }

  /** Targets that are remembered: at most 1000, the oldest is forgotten first. */
  get size(): number {
    return this.#untilMs.size;
  }

  has(target: Target): boolean {
    const key = targetKey(target);
    const untilMs = this.#untilMs.get(key);
    if (untilMs === undefined) return false;
    if (untilMs > this.#time.now()) return true;
    this.#untilMs.delete(key);
    return false;
  }

  add(target: Target, forMs: number): void {
    const key = targetKey(target);
    this.#untilMs.delete(key);
    this.#untilMs.set(key, this.#time.now() + Math.min(forMs, LONGEST_MS));
    if (this.#untilMs.size <= MOST_REMEMBERED) return;
    const [oldest] = this.#untilMs.keys();
    if (oldest !== undefined) this.#untilMs.delete(oldest);
  }

  /** It has served. */
  remove(target: Target): void {
    this.#untilMs.delete(targetKey(target));
  }
}

function targetKey({ transport, address, port }: Target): string {
  return `${transport} ${address} ${port}`;
}
