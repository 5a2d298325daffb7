// Performs the program of one call, verb by verb, from its INVITE or its answer to its end.
//
//   door ──program──▶ verb, verb, … ──┬─ result with a target ──▶ door ──program──▶ …
//                                     └─ no verb is left ──▶ the call is hung up
//
// The first verb decides whether the call is answered: a pause, a redirect and a refusal do not answer. The
// end of the call stops the verb, and so does another program that takes the place of this one.
import type { HandledCall, Talk } from '../call/call-handler.js';
import type { ProgramCaller } from '../call/call-programs.js';
import type { CallEvent } from '../call/call-events.js';
import { asParleyError, attempt, isAborted, ParleyError, tellDefect } from '../errors.js';
import type { Log } from '../log.js';
import { stated } from '../stated.js';
import type { Time } from '../time.js';
import { type Door, type OpenDoor, type Program, ProgramError, type Warning, warningOf } from './door.js';
import { gather } from './gather.js';
import { PressedKeys } from './pressed-keys.js';
import { prompt } from './prompts.js';
import type { Outcome, ProgramRecogniser, Scene } from './scene.js';
import type { Press, Target, Verb, VerbResult } from './verbs.js';

export interface ProgramParts {
  readonly callerTexts: ProgramRecogniser;
  readonly time: Time;
  readonly log: Log;
}

/** A caller hears this when its program fails. */
const APOLOGY = 'We are sorry, an application error has occurred. Goodbye.';
const APOLOGY_MS = 30_000;
/** Programs that a call may begin within a minute: two that name each other would go on for ever. */
const MOST_PROGRAMS = 100;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A menu that goes round without a caller would keep its call for ever. */
const MOST_CALL_MS = 4 * HOUR_MS;
/** Events that are kept until the call is answered. */
const MOST_KEPT = 100;
const REDIRECTED: VerbResult = { of: 'redirect' };
const STATUSES = { busy: 486, rejected: 404 };

/** What takes the place of the running program. */
export type Replacement = { readonly program: Program } | { readonly target: Target };

export class ProgramRun implements Talk {
  /** Resolves when the call is over, or has been hung up. */
  readonly over: Promise<void>;
  readonly #caller: ProgramCaller;
  readonly #parts: ProgramParts;
  readonly #door: Door;
  readonly #keys = new PressedKeys();
  readonly #typed = new Set<(text: string) => void>();
  readonly #call = new AbortController();
  readonly #answered: Promise<HandledCall>;
  #handled: HandledCall | undefined;
  #asked = false;
  readonly #cancelLimit: () => void;
  /** Ends the running verb. */
  #verb = new AbortController();
  #replacement: Replacement | undefined;
  /** Events of a call that is not answered yet. */
  #kept: CallEvent[] = [];
  /** Actions of the verb before, for the beginning of the next one. */
  #afterwards: (() => void)[] = [];
  /** Times at which the latest programs began. */
  readonly #begun: number[] = [];

  constructor(caller: ProgramCaller, open: OpenDoor, parts: ProgramParts) {
    this.#caller = caller;
    this.#parts = parts;
    const isAnswered = () => this.#handled !== undefined;
    this.#door = open({
      about: caller.about,
      get isAnswered() {
        return isAnswered();
      },
      warn: (warning) => this.#warn(warning),
    });
    this.#answered = new Promise((resolve, reject) => {
      caller.onceTalking((handled) => (this.#talks(handled), resolve(handled)));
      this.#call.signal.addEventListener('abort', () => reject(callOver()), { once: true });
    });
    this.#answered.catch(() => undefined);
    void caller.over.then(() => this.#end());
    this.#cancelLimit = parts.time.after(MOST_CALL_MS, () => this.#tooLong());
    this.over = this.#conduct();
  }

  /** What the client of the call types counts as what its user says. */
  typed(text: string): void {
    for (const listener of this.#typed) listener(text);
  }

  /** The running verb stops, and this follows. Throws CALL_STATE once the call is over. */
  replace(replacement: Replacement): void {
    if (this.#call.signal.aborted) throw new ParleyError('CALL_STATE', 'the call is over');
    this.#replacement = replacement;
    this.#verb.abort();
  }

  async #conduct(): Promise<void> {
    try {
      await this.#performAll();
      await this.#hangUp();
    } catch (error) {
      if (!this.#call.signal.aborted) await this.#failed(error);
    } finally {
      this.#end();
    }
  }

  async #performAll(): Promise<void> {
    let load = (signal: AbortSignal) => this.#door.begin(signal);
    for (;;) {
      const outcome = await this.#performNext(load);
      const replacement = this.#replacement;
      if (this.#call.signal.aborted) return;
      this.#replacement = undefined;
      if (replacement !== undefined) load = this.#loaderOf(replacement);
      else if (outcome === 'end' || outcome === 'next') return;
      else load = (signal) => this.#door.follow(outcome.follow, outcome.result, signal);
    }
  }

  #loaderOf(replacement: Replacement): (signal: AbortSignal) => Promise<Program> {
    if ('program' in replacement) return () => Promise.resolve(replacement.program);
    return (signal) => this.#door.follow(replacement.target, REDIRECTED, signal);
  }

  async #performNext(load: (signal: AbortSignal) => Promise<Program>): Promise<Outcome> {
    this.#countProgram();
    this.#verb = new AbortController();
    try {
      const { verbs, warnings } = await load(this.#verb.signal);
      for (const warning of warnings) this.#warn(warning);
      // A caller that is not answered would not learn of it, and nobody else would.
      if (verbs.length === 0 && warnings.length > 0)
        throw new ProgramError({ message: 'the program has no verb that this server does' });
      return await this.#perform(verbs);
    } catch (error) {
      if (isAborted(error) && this.#verb.signal.aborted) return 'next';
      throw error;
    }
  }

  /** `next`: no verb is left. */
  async #perform(verbs: readonly Verb[]): Promise<Outcome> {
    for (const verb of verbs) {
      if (this.#verb.signal.aborted) return 'next';
      this.#runAfterwards();
      this.#tell({ type: 'program.verb', verb: verb.verb });
      const outcome = await this.#performOne(verb);
      if (outcome !== 'next') return outcome;
    }
    return 'next';
  }

  async #performOne(verb: Verb): Promise<Outcome> {
    const scene = this.#scene();
    switch (verb.verb) {
      case 'say':
      case 'play':
      case 'pause':
        return prompt(verb, scene);
      case 'press':
        return this.#press(verb);
      case 'gather':
        return gather(verb, scene);
      case 'redirect':
        return { follow: verb.to, result: REDIRECTED };
      case 'hangup':
        if (this.#handled === undefined) await scene.answered();
        return 'end';
      case 'reject':
        if (this.#handled === undefined)
          this.#caller.refuse({ reason: 'rejected', status: STATUSES[verb.reason] });
        return 'end';
    }
  }

  async #press({ digits }: Press): Promise<Outcome> {
    const { leg } = await this.#answer();
    try {
      if (leg === undefined) throw new ParleyError('CALL_STATE', 'this call takes no keys from us');
      await leg.press({ digits });
    } catch (error) {
      if (!this.#verb.signal.aborted) this.#warn(warningOf(error));
    }
    return 'next';
  }

  #scene(): Scene {
    const { callerTexts, time } = this.#parts;
    return {
      door: this.#door,
      keys: this.#keys,
      signal: this.#verb.signal,
      callerTexts,
      time,
      answered: () => this.#answer(),
      typed: (listener) => {
        this.#typed.add(listener);
        return () => void this.#typed.delete(listener);
      },
      warn: (warning) => this.#warn(warning),
      afterwards: (action) => void this.#afterwards.push(action),
    };
  }

  #runAfterwards(): void {
    for (const action of this.#afterwards.splice(0)) attempt({ work: 'program' }, action);
  }

  #answer(): Promise<HandledCall> {
    if (this.#handled === undefined && !this.#asked) this.#caller.answer();
    this.#asked = true;
    return this.#answered;
  }

  #talks(handled: HandledCall): void {
    this.#handled = handled;
    const resumeSilence = handled.leg?.suspendSilence();
    handled.call.onKey((key) => this.#keys.pressed(key));
    this.#call.signal.addEventListener('abort', () => resumeSilence?.(), { once: true });
    for (const event of this.#kept) handled.call.tell(event);
    this.#kept = [];
  }

  #tooLong(): void {
    this.#warn({ message: `a program conducts a call for ${MOST_CALL_MS / HOUR_MS} hours at most` });
    void this.#hangUp();
  }

  #countProgram(): void {
    const now = this.#parts.time.now();
    this.#begun.push(now);
    if (this.#begun.length <= MOST_PROGRAMS) return;
    const first = this.#begun.shift() ?? now;
    if (now - first > MINUTE_MS) return;
    const message = `a loop: more than ${MOST_PROGRAMS} programs have begun within a minute`;
    throw new ProgramError({ message });
  }

  #warn(warning: Warning): void {
    this.#parts.log.info({ call: this.#caller.id, ...warning }, 'warning of a call program');
    this.#tell({ type: 'program.warning', ...stated({ ...warning }) });
  }

  /** Observers are told of a call that is answered. */
  #tell(event: CallEvent): void {
    if (this.#handled !== undefined) this.#handled.call.tell(event);
    else if (this.#kept.length < MOST_KEPT) this.#kept.push(event);
  }

  /** The caller hears an apology, and the call ends. */
  async #failed(error: unknown): Promise<void> {
    const warning = warningOf(error);
    const { log, time } = this.#parts;
    log.warn({ call: this.#caller.id, ...warning }, 'a program has failed');
    if (!(error instanceof ProgramError)) tellDefect(error, { work: 'program', call: this.#caller.id });
    this.#tell({ type: 'program.failed', ...stated({ ...warning }) });
    try {
      const { call } = await this.#answer();
      const { ended } = call.speak(APOLOGY);
      let cancel = (): void => undefined;
      const limit = new Promise<void>((resolve) => (cancel = time.after(APOLOGY_MS, resolve)));
      await Promise.race([ended, limit]).finally(cancel);
    } catch (failure) {
      const { code } = asParleyError(failure, 'WRONG_STATE');
      if (code !== 'ABORTED') log.warn({ call: this.#caller.id, code }, 'no apology could be spoken');
    }
    await this.#hangUp();
  }

  async #hangUp(): Promise<void> {
    if (this.#call.signal.aborted) return;
    if (this.#handled === undefined) return this.#caller.refuse({ reason: 'rejected', status: 480 });
    try {
      await this.#handled.hangUp();
    } catch (error) {
      tellDefect(error, { work: 'call', call: this.#caller.id });
    }
  }

  /** Idempotent. */
  #end(): void {
    if (this.#call.signal.aborted) return;
    this.#call.abort();
    this.#verb.abort();
    this.#cancelLimit();
    this.#runAfterwards();
    this.#door.close();
  }
}

function callOver(): ParleyError {
  return new ParleyError('ABORTED', 'the call is over');
}
