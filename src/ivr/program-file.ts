// Keeps the call programs of the server: those of IVR_FILE, which is read again whenever it changes, and the
// example program.
//
// A changed file with mistakes is logged, and the programs stay as they were. A call keeps the programs that
// it began with.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { FileWatch, type FileWatchOptions } from '../config/file-watch.js';
import { ParleyError } from '../errors.js';
import type { Log } from '../log.js';
import { EXAMPLE_PROGRAMS } from './example-program.js';
import { type ProgramTable, readPrograms } from './program-reader.js';

const MOST_BYTES = 1024 * 1024;
const MOST_PROBLEMS = 50; // in one message

export class ProgramFile {
  readonly #path: string;
  readonly #log: Log;
  readonly #watch: FileWatch;
  #programs: ProgramTable = EXAMPLE_PROGRAMS;
  /** Reads one after the other: the last content counts. */
  #reads: Promise<void> = Promise.resolve();

  constructor(path: string, log: Log, watch: FileWatchOptions = {}) {
    this.#path = path;
    this.#log = log;
    this.#watch = new FileWatch([path], () => this.#changed(), watch);
  }

  /** The programs as they are now. A table never changes. */
  get programs(): ProgramTable {
    return this.#programs;
  }

  /** Reads the programs. Rejects with CONFIG_INVALID and every mistake of the file. */
  async open(): Promise<void> {
    await this.#watch.open(); // before reading, so that no change is missed
    try {
      this.#programs = withExample(await readProgramFile(this.#path));
    } catch (error) {
      this.close();
      throw new ParleyError('CONFIG_INVALID', `IVR_FILE ${(error as Error).message}`, { cause: error });
    }
  }

  close(): void {
    this.#watch.close();
  }

  #changed(): void {
    this.#reads = this.#reads.then(() => this.#readAgain());
  }

  async #readAgain(): Promise<void> {
    try {
      const read = await readProgramFile(this.#path);
      this.#programs = withExample(read);
      this.#log.info({ programs: read.size }, 'call programs read again');
    } catch (error) {
      this.#log.error({ detail: (error as Error).message }, 'call programs stay as they were');
    }
  }
}

/** Rejects with CONFIG_INVALID; the message begins with the path. */
async function readProgramFile(path: string): Promise<ProgramTable> {
  return programsIn(await textOfFile(path), path);
}

/** The programs of the text of a file. Throws CONFIG_INVALID with its path and its mistakes. */
export function programsIn(text: string, path: string): ProgramTable {
  const { programs, problems = [] } = readPrograms(text);
  if (programs !== undefined) return programs;
  const shown = problems.slice(0, MOST_PROBLEMS);
  if (problems.length > shown.length) shown.push(`… and ${problems.length - shown.length} more`);
  throw new ParleyError('CONFIG_INVALID', `(${path}) is not usable:\n- ${shown.join('\n- ')}`);
}

/**
 * The text of a file of at most 1 MiB. Rejects with CONFIG_INVALID and its path. It reads one byte more than
 * a file may have, so that a file that grows is found, too.
 */
export async function textOfFile(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  try {
    const buffer = Buffer.alloc(MOST_BYTES + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
      if (bytesRead === 0) return buffer.toString('utf8', 0, length);
      length += bytesRead;
      if (length > MOST_BYTES)
        throw new ParleyError('CONFIG_INVALID', `(${path}) must have at most ${MOST_BYTES} bytes`);
    }
  } catch (error) {
    throw error instanceof ParleyError ? error : unreadable(path, error);
  } finally {
    await file.close();
  }
}

function unreadable(path: string, error: unknown): ParleyError {
  const { code, message } = error as NodeJS.ErrnoException;
  return new ParleyError('CONFIG_INVALID', `(${path}) cannot be read: ${code ?? message}`, { cause: error });
}

/** A program of the file may have the name of one of the example. */
function withExample(programs: ProgramTable): ProgramTable {
  return new Map([...EXAMPLE_PROGRAMS, ...programs]);
}
