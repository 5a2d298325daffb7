// Conducts one call by its program, from its INVITE or its answer to its end.
//
//   door ──program──▶ verb, verb, … ──┬─ result with a target ──▶ door ──program──▶ …
//                                     └─ no verb is left ──▶ the call is hung up
//
// The first verb decides whether the call is answered: a pause, a redirect and a refusal do not answer. The
// end of the call stops the verb, and so does another program that takes the place of this one.
import type { Talk } from '../call/call-handler.js';
import type { ProgramCaller } from '../call/call-programs.js';
import { asParleyError, ParleyError, tellDefect } from '../errors.js';
import { stated } from '../stated.js';
import { type OpenDoor, type Program, ProgramError, warningOf } from './door.js';
import type { ProgramChain } from './program-chain.js';
import { ProgramLeg, type ProgramParts, REDIRECTED } from './program-leg.js';
import type { Target } from './verbs.js';

/** A caller hears this when its program fails. */
const APOLOGY = 'We are sorry, an application error has occurred. Goodbye.';
const APOLOGY_MS = 30_000;
const HOUR_MS = 60 * 60_000;
/** A menu that goes round without a caller would keep its call for ever. */
const MOST_CALL_MS = 4 * HOUR_MS;

/** The program that takes the place of the running one. */
export type Replacement = { readonly program: Program } | { readonly target: Target };

export class ProgramRun implements Talk {
  /** Resolves when the call is over, or has been hung up. */
  readonly over: Promise<void>;
  readonly #caller: ProgramCaller;
  readonly #parts: ProgramParts;
  readonly #leg: ProgramLeg;
  readonly #chain: ProgramChain;
  readonly #cancelLimit: () => void;
  #isOver = false;

  constructor(caller: ProgramCaller, open: OpenDoor, parts: ProgramParts) {
    this.#caller = caller;
    this.#parts = parts;
    this.#leg = new ProgramLeg(caller, open, parts);
    this.#chain = this.#leg.chain();
    void caller.over.then(() => this.#end());
    this.#cancelLimit = parts.time.after(MOST_CALL_MS, () => this.#tooLong());
    this.over = this.#conduct();
  }

  typed(text: string): void {
    this.#leg.typed(text);
  }

  /** The running verb stops, and this follows. Throws CALL_STATE once the program or the call is over. */
  replace(replacement: Replacement): void {
    if (this.#isOver) throw new ParleyError('CALL_STATE', 'the call is over');
    const { door } = this.#leg;
    this.#chain.replace((signal) =>
      'program' in replacement
        ? Promise.resolve(replacement.program)
        : door.follow(replacement.target, REDIRECTED, signal),
    );
  }

  async #conduct(): Promise<void> {
    try {
      await this.#chain.perform((signal) => this.#leg.door.begin(signal));
      await this.#leg.hangUp();
    } catch (error) {
      if (!this.#isOver) await this.#failed(error);
    } finally {
      this.#end();
      this.#leg.close();
    }
  }

  #tooLong(): void {
    this.#leg.warn({ message: `a program conducts a call for ${MOST_CALL_MS / HOUR_MS} hours at most` });
    void this.#leg.hangUp();
  }

  /** The caller hears an apology, and the call ends. */
  async #failed(error: unknown): Promise<void> {
    const warning = warningOf(error);
    const { log, time } = this.#parts;
    log.warn({ call: this.#caller.id, ...warning }, 'a program has failed');
    if (!(error instanceof ProgramError)) tellDefect(error, { work: 'program', call: this.#caller.id });
    this.#leg.tell({ type: 'program.failed', ...stated({ ...warning }) });
    try {
      const { call } = await this.#leg.answer();
      const { ended } = call.speak(APOLOGY);
      let cancel = (): void => undefined;
      const limit = new Promise<void>((resolve) => (cancel = time.after(APOLOGY_MS, resolve)));
      await Promise.race([ended, limit]).finally(cancel);
    } catch (failure) {
      const { code } = asParleyError(failure, 'WRONG_STATE');
      if (code !== 'ABORTED') log.warn({ call: this.#caller.id, code }, 'no apology could be spoken');
    }
    await this.#leg.hangUp();
  }

  /** Idempotent. */
  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#chain.stop();
    this.#cancelLimit();
    this.#leg.end();
  }
}
