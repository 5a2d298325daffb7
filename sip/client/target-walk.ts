// Yields the targets of one request in order: the flow of the peer's own request, the targets that the
// locator finds, and last those that failed recently (PassedOver). A target whose connection closed
// under the request is tried once more over a new one.
import type { Time } from '../../src/time.js';
import type { LocatedTarget, LocatedUri } from '../locator/locator.js';
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
const LOCATE_MS = 10_000; // in total: a name may need several queries, each with its own limit

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
  #found = false; // set once the locator has no more targets
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

  /** Undefined after the last target, after four targets, and after `close`, which also ends a wait. */
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
   * Handles a connection that closed under a request to the latest target. True if the target may be tried
   * again over a new connection: the peer may have dropped an idle one.
   */
  reopens(target: Target): boolean {
    const { transport, flow } = target;
    if (flow?.reliable === true) return true; // the locator may find the same place for a new connection
    const key = targetKey(target);
    const isBrowsers = transport === 'ws' || transport === 'wss'; // no connection can be opened to it
    if (isBrowsers || this.#reopened.has(key)) return false;
    this.#reopened.add(key);
    this.#again = target;
    return true;
  }

  /** Ends the walk. */
  close(): void {
    this.#closed = true;
    this.#giveUp?.();
    void this.#located?.return().catch(() => undefined);
  }

  #ofFlow(): Target | undefined {
    return this.#given.size === 0 ? this.#flow : undefined;
  }

  /** Last resort if the name resolved to nothing. */
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

/** An open connection and a new one to the same place count as different targets. */
function wayKey(target: Target): string {
  return target.flow?.reliable === true ? `flow ${targetKey(target)}` : targetKey(target);
}

/** Host names of browser phones (RFC 7118, section 5), which must not be looked up (RFC 6761). */
function isNowhere({ host }: LocatedUri): boolean {
  return /(?:^|\.)invalid\.?$/i.test(host);
}

/** Time for which an unreachable target is tried last. */
export const UNREACHABLE_MS = 30_000;

const MOST_REMEMBERED = 1000;
const LONGEST_MS = 300_000; // upper limit for Retry-After values, which may be wrong

/**
 * Targets that failed recently: one that answered 503 or was unreachable comes last until its time is over
 * (RFC 3263, section 4.3). It is not excluded, because trying an only target costs less than giving up.
 */
export class PassedOver {
  readonly #time: Time;
  readonly #untilMs = new Map<string, number>();

  constructor(time: Time) {
    this.#time = time;
  }

  /** Number of stored targets, at most 1000; the oldest is dropped first. */
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

  /** Removes a target that has answered. */
  remove(target: Target): void {
    this.#untilMs.delete(targetKey(target));
  }
}

function targetKey({ transport, address, port }: Target): string {
  return `${transport} ${address} ${port}`;
}
