// The door of the programs of IVR_FILE: targets are names of programs, and sounds are files of SOUNDS_DIR.
import { asParleyError, ParleyError } from '../errors.js';
import type { PlayedSound } from '../speaking/speech-piece.js';
import { type Door, type OpenDoor, type Program, ProgramError } from './door.js';
import type { ProgramTable } from './program-reader.js';

interface FileDoorParts {
  /** The programs as they are when the call begins. */
  readonly programs: () => ProgramTable;
  /** A file of SOUNDS_DIR. */
  readonly sound: (name: string) => Promise<PlayedSound>;
}

/** The door of the program of this name, or the reason why there is none. */
export function fileDoor(name: string, { programs, sound }: FileDoorParts): OpenDoor | string {
  if (!programs().has(name)) return missing(name);
  return () => new FileDoor(name, programs(), sound);
}

class FileDoor implements Door {
  readonly #first: string;
  readonly #programs: ProgramTable;
  readonly #sound: FileDoorParts['sound'];

  constructor(first: string, programs: ProgramTable, sound: FileDoorParts['sound']) {
    this.#first = first;
    this.#programs = programs;
    this.#sound = sound;
  }

  async begin(signal: AbortSignal): Promise<Program> {
    return this.#program(this.#first, signal);
  }

  async follow({ at }: { readonly at: string }, _result: unknown, signal: AbortSignal): Promise<Program> {
    return this.#program(at, signal);
  }

  /** Nobody hears of a program of a file while it runs. */
  tell(): void {
    return undefined;
  }

  nameOf(call: string): string {
    return call;
  }

  codeOf(): undefined {
    return undefined;
  }

  async sound(name: string, signal: AbortSignal): Promise<PlayedSound> {
    try {
      const sound = await this.#sound(name);
      if (!signal.aborted) return sound;
    } catch (error) {
      if (signal.aborted) throw aborted();
      const { message } = asParleyError(error, 'AUDIO_INVALID');
      throw new ProgramError(
        { message: `the sound ${JSON.stringify(name)} cannot be played: ${message}` },
        { cause: error },
      );
    }
    throw aborted();
  }

  /** The same programs: nothing of them is about one call. */
  ofLeg(): Door {
    return this;
  }

  close(): void {
    return undefined;
  }

  #program(name: string, signal: AbortSignal): Program {
    if (signal.aborted) throw aborted();
    const verbs = this.#programs.get(name);
    if (verbs === undefined) throw new ProgramError({ message: missing(name), document: name });
    return { verbs, warnings: [] };
  }
}

function missing(name: string): string {
  return `there is no call program ${JSON.stringify(name)}; IVR_FILE has the programs of this server`;
}

function aborted(): ParleyError {
  return new ParleyError('ABORTED', 'the program is over');
}
