// The programs that conduct the calls of this server: the doors that write them, and the runs that perform
// them.
import type { HandledCall, Talk } from '../call/call-handler.js';
import type { CallPrograms, ProgramCaller } from '../call/call-programs.js';
import type { ProgramSource } from '../config/ivr-config.js';
import type { OpenCalls } from '../call/open-calls.js';
import { ParleyError } from '../errors.js';
import { answeredCaller } from './answered-caller.js';
import type { OpenDoor } from './door.js';
import type { ProgramParts } from './program-leg.js';
import { ProgramRun, type Replacement } from './program-run.js';

/** A door for a source, or the reason why it cannot be used. */
type DoorOf = (source: ProgramSource) => OpenDoor | string;

export interface ProgramsParts extends ProgramParts {
  readonly doorOf: DoorOf;
  readonly openCalls: Pick<OpenCalls, 'conductedBy' | 'talksIn'>;
  /** Name of the API key that a call belongs to; undefined: to every key. */
  readonly ownerOf: (call: string) => string | undefined;
}

const CONDUCTOR = 'a call program';

export class Programs implements CallPrograms {
  readonly #parts: ProgramsParts;
  readonly #runs = new Map<string, { readonly run: ProgramRun; readonly source: ProgramSource }>();

  constructor(parts: ProgramsParts) {
    this.#parts = parts;
  }

  /** Calls that a program conducts. */
  get size(): number {
    return this.#runs.size;
  }

  problemOf(source: ProgramSource): string | undefined {
    const door = this.#parts.doorOf(source);
    return typeof door === 'string' ? door : undefined;
  }

  /** A source that cannot be used any more refuses the caller. */
  take(caller: ProgramCaller, source: ProgramSource): void {
    const door = this.#parts.doorOf(source);
    if (typeof door === 'string') {
      this.#parts.log.warn({ call: caller.id, detail: door }, 'no program for a call');
      return caller.refuse(new ParleyError('CALL_STATE', door));
    }
    caller.ring();
    const { openCalls } = this.#parts;
    const run = this.#run(
      {
        ...heldOpen(caller),
        onceTalking: (action) =>
          caller.onceTalking((handled) => {
            openCalls.conductedBy(handled.call.id, CONDUCTOR);
            openCalls.talksIn(handled.call.id, run);
            action(handled);
          }),
      },
      door,
      source,
    );
    return undefined;
  }

  conduct(handled: HandledCall, source: ProgramSource): Talk {
    const door = this.#parts.doorOf(source);
    if (typeof door === 'string') throw new ParleyError('CALL_STATE', door);
    const { openCalls, ownerOf } = this.#parts;
    openCalls.conductedBy(handled.call.id, CONDUCTOR);
    const run = this.#run(answeredCaller(handled, ownerOf(handled.call.id)), door, source);
    openCalls.talksIn(handled.call.id, run);
    return run;
  }

  /** The source of the program that conducts this call; undefined: no program does. */
  sourceOf(call: string): ProgramSource | undefined {
    return this.#runs.get(call)?.source;
  }

  /** Another program takes the place of the one of this call. Throws NOT_FOUND and CALL_STATE. */
  replace(call: string, replacement: Replacement): void {
    const conducted = this.#runs.get(call);
    if (conducted === undefined) throw new ParleyError('NOT_FOUND', 'no program conducts this call');
    conducted.run.replace(replacement);
  }

  /** Somebody else has talked in this call, and its program conducts it again. */
  conductsAgain(call: string): void {
    const run = this.#runs.get(call)?.run;
    if (run === undefined) return;
    this.#parts.openCalls.conductedBy(call, CONDUCTOR);
    this.#parts.openCalls.talksIn(call, run);
  }

  #run(caller: ProgramCaller, door: OpenDoor, source: ProgramSource): ProgramRun {
    const run = new ProgramRun(caller, door, this.#parts);
    this.#runs.set(caller.id, { run, source });
    void run.over.then(() => this.#runs.delete(caller.id));
    return run;
  }
}

/** The caller with its methods, which `...` would leave out. */
function heldOpen(caller: ProgramCaller): Omit<ProgramCaller, 'onceTalking'> {
  const { id, about, over } = caller;
  return {
    id,
    about,
    over,
    answer: () => caller.answer(),
    ring: () => caller.ring(),
    refuse: (why) => caller.refuse(why),
  };
}
