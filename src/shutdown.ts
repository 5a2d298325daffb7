// Decides what ends the server, and ends it: closes its parts in reverse order, at signals or after a failed
// start. A defect does not end it.
import { Defect, ParleyError } from './errors.js';
import type { Log } from './log.js';

interface Stoppable {
  /** Refuses new calls; resolves when the open ones have ended, or after `limitMs`. */
  drain(limitMs: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * SIGTERM drains calls for `drainMs` before the close; SIGINT closes at once; a second signal exits at once.
 */
export function stopAtSignals(server: Stoppable, drainMs: number, log: Log): void {
  const stop = (signal: string): void => {
    log.info({ signal }, 'parley closes');
    for (const again of ['SIGINT', 'SIGTERM']) {
      process.removeAllListeners(again);
      process.once(again, () => process.exit(1));
    }
    const drained = signal === 'SIGTERM' ? server.drain(drainMs) : Promise.resolve();
    drained
      .then(() => server.close())
      .then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'parley did not close cleanly');
          process.exit(1);
        },
      );
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

/**
 * Keeps the process alive after an error that nobody caught, in a handler or in a promise. It is a defect in
 * one piece of work, and no reason to hang up on every caller. It is logged with that work, if it is known,
 * and counted. Call it before the first listener opens: an earlier error ends the process. The calls also go
 * on if nobody reads the output any more, or its disk is full: the log alone is lost.
 */
export function surviveDefects(log: Log, counted: (work: string) => void): void {
  const report = (error: unknown): void => {
    const isNamed = error instanceof Defect;
    const { work, ...fields } = isNamed ? error.work : { work: 'unknown' };
    counted(work);
    log.error({ ...fields, work, err: isNamed ? error.cause : error }, 'defect');
  };
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  process.on('uncaughtException', report);
  process.on('unhandledRejection', report);
}

/** Closes the parts of the server in reverse order of their opening. A failure does not stop the others. */
export class Closing {
  readonly #steps: (() => void | Promise<void>)[] = [];
  #closed: Promise<void> | undefined;

  add(step: () => void | Promise<void>): void {
    this.#steps.unshift(step);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const failures: unknown[] = [];
    for (const step of this.#steps) {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'the server did not close cleanly');
  }
}

const EXIT_CONFIG = 78; // EX_CONFIG of sysexits.h

/** Writes why the server did not start, and exits: 78 for a wrong configuration, otherwise 1. */
export function failStart(error: unknown): never {
  const known = error instanceof ParleyError;
  process.stderr.write(`parley: ${known ? error.message : String((error as Error).stack ?? error)}\n`);
  process.exit(known && error.code === 'CONFIG_INVALID' ? EXIT_CONFIG : 1);
}
