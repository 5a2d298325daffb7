// Performs a chain of programs over one leg: each from its first verb to its last one, or to the one that
// names the next program.
//
//   load ──program──▶ verb, verb, … ──┬─ a target ──▶ load ──program──▶ …
//                                     ├─ hangup, or leave ──▶ that is the end of the chain
//                                     └─ no verb is left ───▶ done
import { attempt, isAborted, ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import { type Door, type Program, ProgramError, type Warning, warningOf } from './door.js';
import type { ChainEnd, Outcome } from './scene.js';
import type { Verb } from './verbs.js';

export type LoadProgram = (signal: AbortSignal) => Promise<Program>;

/** Tools that the chain lends to each verb. */
export interface ChainScene {
  /** Aborted when the verb has to stop. */
  readonly signal: AbortSignal;
  /** `action` runs when the next verb begins, or the chain ends. */
  readonly afterwards: (action: () => void) => void;
}

interface ChainParts {
  readonly door: Pick<Door, 'follow'>;
  readonly count: ProgramCount;
  /** The verbs that may be performed; undefined: all, except that nothing can be left. */
  readonly allowed?: readonly Verb['verb'][] | undefined;
  readonly perform: (verb: Verb, scene: ChainScene) => Promise<Outcome>;
  readonly began: (verb: Verb) => void;
  readonly warn: (warning: Warning) => void;
}

/** Programs that a call may begin within a minute: two that name each other would go on for ever. */
const MOST_PROGRAMS = 100;
const MINUTE_MS = 60_000;

/** Counts the programs of a call, so that those that go round come to an end. */
export class ProgramCount {
  readonly #time: Time;
  /** Times at which the latest programs began. */
  readonly #begun: number[] = [];

  constructor(time: Time) {
    this.#time = time;
  }

  /** Another program begins. Throws a ProgramError. */
  add(): void {
    const now = this.#time.now();
    this.#begun.push(now);
    if (this.#begun.length <= MOST_PROGRAMS) return;
    const first = this.#begun.shift() ?? now;
    if (now - first > MINUTE_MS) return;
    const message = `a loop: more than ${MOST_PROGRAMS} programs have begun within a minute`;
    throw new ProgramError({ message });
  }

  /** The programs so far do not count. */
  reset(): void {
    this.#begun.length = 0;
  }
}

export class ProgramChain {
  readonly #parts: ChainParts;
  /** Ends the running verb. */
  #verb = new AbortController();
  #replacement: LoadProgram | undefined;
  #isStopped = false;
  #isOver = false;
  /** Actions of the verb before, for the beginning of the next one. */
  #afterwards: (() => void)[] = [];

  constructor(parts: ChainParts) {
    this.#parts = parts;
  }

  /** Performs the first program and those that follow it. Rejects if one cannot be had. */
  async perform(first: LoadProgram): Promise<ChainEnd> {
    let load = first;
    try {
      for (;;) {
        const outcome = await this.#performNext(load);
        const replacement = this.#replacement;
        if (this.#isStopped) {
          if (replacement === undefined) await this.#tellLast(outcome);
          return 'stopped';
        }
        this.#replacement = undefined;
        if (replacement !== undefined) {
          this.#parts.count.reset(); // no loop: somebody outside of the program has asked for it
          load = replacement;
        } else if (outcome === 'next') return 'done';
        else if (outcome === 'end') return 'hangup';
        else if (outcome === 'leave') return outcome;
        else load = (signal) => this.#parts.door.follow(outcome.follow, outcome.result, signal);
      }
    } finally {
      this.#isOver = true;
      this.#runAfterwards();
    }
  }

  /** The running verb stops, and this program follows. Throws CALL_STATE once the chain has ended. */
  replace(load: LoadProgram): void {
    if (this.#isOver) throw new ParleyError('CALL_STATE', 'the program of the call has ended');
    this.#replacement = load;
    this.#verb.abort();
  }

  /** The running verb stops, and nothing follows. Idempotent. */
  stop(): void {
    this.#isStopped = true;
    this.#verb.abort();
  }

  /** The verb that the end of the call has stopped. The program at its target is not performed. */
  async #tellLast(outcome: Outcome): Promise<void> {
    if (typeof outcome === 'string' || outcome.isToldAtEnd !== true) return;
    try {
      await this.#parts.door.follow(outcome.follow, outcome.result, new AbortController().signal);
    } catch (error) {
      this.#parts.warn(warningOf(error));
    }
  }

  async #performNext(load: LoadProgram): Promise<Outcome> {
    if (this.#isStopped) return 'next';
    this.#parts.count.add();
    this.#verb = new AbortController();
    try {
      const { verbs, warnings } = await load(this.#verb.signal);
      for (const warning of warnings) this.#parts.warn(warning);
      // A caller that is not answered would not learn of it, and nobody else would.
      if (verbs.length === 0 && warnings.length > 0)
        throw new ProgramError({ message: 'the program has no verb that this server does' });
      return await this.#performAll(verbs);
    } catch (error) {
      if (isAborted(error) && this.#verb.signal.aborted) return 'next';
      throw error;
    }
  }

  /** `next`: no verb is left. */
  async #performAll(verbs: readonly Verb[]): Promise<Outcome> {
    const { perform, began } = this.#parts;
    const { signal } = this.#verb;
    const scene = { signal, afterwards: (action: () => void) => void this.#afterwards.push(action) };
    for (const verb of verbs) {
      if (signal.aborted) return 'next';
      if (!this.#mayPerform(verb)) continue;
      this.#runAfterwards();
      began(verb);
      const outcome = await perform(verb, scene);
      if (outcome !== 'next') return outcome;
    }
    return 'next';
  }

  #mayPerform({ verb }: Verb): boolean {
    const { allowed, warn } = this.#parts;
    if (allowed === undefined ? verb !== 'leave' : allowed.includes(verb)) return true;
    const message =
      allowed === undefined
        ? 'there is nothing to leave: the call waits in no queue; the verb is skipped'
        : `a program within another verb may have ${allowed.join(', ')}, not ${verb}; the verb is skipped`;
    warn({ message });
    return false;
  }

  #runAfterwards(): void {
    for (const action of this.#afterwards.splice(0)) attempt({ work: 'program' }, action);
  }
}
