// Calls others for the caller, and joins it with the first one that accepts. The rest are hung up.
//
//   targets ──place──▶ attempts ──first that accepts──▶ both talk ──▶ the result, for `action`
//                          └── all are over ──────────────────────▶ the result, for `action`
//
// A program places calls only where SIP_DESTINATIONS names the destinations: a document may come from a
// stranger, and calls cost money.
import type { HandledCall } from '../call/call-handler.js';
import { warningOf } from './door.js';
import { type AcceptedCall, DialAttempt, FORBIDDEN_NUMBER } from './dial-attempt.js';
import { DialRecording } from './dial-recording.js';
import type { Outcome, ProgramCalls, Scene } from './scene.js';
import type { Dial, DialResult, DialStatus } from './verbs.js';

const STAR = '*';
/** The status of several calls of which none was joined: the first of these that one of them has. */
const BY_RANK: readonly DialStatus[] = ['busy', 'no-answer', 'completed', 'canceled', 'failed'];

export async function dial(verb: Dial, scene: Scene): Promise<Outcome> {
  if (!verb.answersLate) await scene.answered();
  const result = await dialled(verb, scene);
  return verb.action === undefined ? 'next' : { follow: verb.action, result, isToldAtEnd: true };
}

async function dialled(verb: Dial, scene: Scene): Promise<DialResult> {
  const { calls } = scene;
  const problem = calls === undefined ? 'this server has no telephone' : calls.problem();
  if (calls !== undefined && problem === undefined) return new Dialling(verb, scene, calls).result();
  scene.warn({ code: FORBIDDEN_NUMBER, message: `a program cannot dial here: ${problem ?? ''}` });
  return { of: 'dial', status: 'failed', isBridged: false };
}

class Dialling {
  readonly #verb: Dial;
  readonly #scene: Scene;
  readonly #calls: ProgramCalls;
  readonly #attempts: DialAttempt[] = [];
  #recording: DialRecording | undefined;

  constructor(verb: Dial, scene: Scene, calls: ProgramCalls) {
    this.#verb = verb;
    this.#scene = scene;
    this.#calls = calls;
  }

  async result(): Promise<DialResult> {
    const { signal } = this.#scene;
    const cancel = () => this.#attempts.forEach((attempt) => attempt.cancel());
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const winner = await this.#ring();
      const result =
        winner === undefined ? this.#unanswered() : await this.#talk(winner.attempt, winner.call);
      cancel();
      const recording = await this.#recording?.end();
      return recording === undefined ? result : { ...result, recording };
    } finally {
      signal.removeEventListener('abort', cancel);
      cancel();
    }
  }

  /** The caller hears ringing meanwhile: its own before the answer, ours behind it. */
  async #ring() {
    const { isAnswered } = this.#scene;
    const isHeard = isAnswered || !this.#verb.answersLate;
    const caller = isHeard ? await this.#scene.answered() : undefined;
    if (this.#scene.signal.aborted) return undefined; // while the call was being answered
    if (caller !== undefined && this.#verb.recordsFrom === 'ringing') this.#record(caller);
    const stop = caller === undefined ? () => undefined : this.#calls.ring(caller);
    try {
      return this.#verb.isSequential ? await this.#oneByOne() : await this.#allAtOnce();
    } finally {
      stop();
    }
  }

  async #oneByOne() {
    for (const target of this.#verb.targets) {
      if (this.#scene.signal.aborted) return undefined;
      const attempt = this.#attempt(target);
      const call = await attempt.accepted;
      if (call !== undefined) return { attempt, call };
    }
    return undefined;
  }

  async #allAtOnce() {
    const attempts = this.#verb.targets.map((target) => this.#attempt(target));
    const first = await firstAccepted(attempts);
    for (const attempt of attempts) if (attempt !== first?.attempt) attempt.cancel();
    return first;
  }

  #attempt(target: Dial['targets'][number]): DialAttempt {
    const attempt = new DialAttempt(target, this.#scene, this.#calls);
    this.#attempts.push(attempt);
    void attempt.begin(this.#verb);
    return attempt;
  }

  async #talk(attempt: DialAttempt, { handled, answeredMs }: AcceptedCall): Promise<DialResult> {
    const { signal, time, keys } = this.#scene;
    const about = this.#aboutOf(attempt);
    const caller = await this.#scene.answered();
    if (signal.aborted) return { of: 'dial', status: 'canceled', isBridged: false, ...about };
    // Keys of the talk are no input of the next verb.
    const releaseKeys = keys.take(() => undefined);
    let cancelLimit = (): void => undefined;
    const part = () => this.#calls.part(caller);
    try {
      const ended = this.#calls.join(caller, handled, this.#verb.endsByStar ? { endKey: STAR } : {});
      signal.addEventListener('abort', part, { once: true });
      if (this.#verb.recordsFrom !== undefined) this.#record(caller);
      let isOver = false;
      cancelLimit = time.after(this.#verb.talkMs, () => ((isOver = true), part()));
      const reason = await ended;
      const durationMs = time.now() - answeredMs;
      if (reason === 'parted' && !isOver && !signal.aborted) attempt.release();
      const status = reason === 'failed' ? 'failed' : 'completed';
      return { of: 'dial', status, isBridged: status !== 'failed', ...about, durationMs };
    } catch (error) {
      if (!signal.aborted) this.#scene.warn(warningOf(error));
      return { of: 'dial', status: 'failed', isBridged: false, ...about };
    } finally {
      cancelLimit();
      signal.removeEventListener('abort', part);
      releaseKeys();
    }
  }

  #record({ call }: HandledCall): void {
    this.#recording ??= new DialRecording(call, this.#verb.recorded, this.#scene);
  }

  #unanswered(): DialResult {
    const status = BY_RANK.find((rank) => this.#attempts.some((attempt) => attempt.status === rank));
    const attempt = this.#attempts.findLast((one) => one.status === status);
    // A call that was answered and did not accept was not reached.
    const told = status === 'completed' ? 'no-answer' : (status ?? 'failed');
    return { of: 'dial', status: told, isBridged: false, ...(attempt && this.#aboutOf(attempt)) };
  }

  #aboutOf({ view, sipStatus }: DialAttempt): Pick<DialResult, 'call' | 'sipCallId' | 'sipStatus'> {
    return { call: view?.id, sipCallId: view?.callId, sipStatus };
  }
}

/** Resolves with undefined when all are over. */
function firstAccepted(
  attempts: readonly DialAttempt[],
): Promise<{ attempt: DialAttempt; call: AcceptedCall } | undefined> {
  return new Promise((resolve) => {
    let left = attempts.length;
    for (const attempt of attempts)
      void attempt.accepted.then((call) => {
        left--;
        if (call !== undefined) resolve({ attempt, call });
        else if (left === 0) resolve(undefined);
      });
  });
}
