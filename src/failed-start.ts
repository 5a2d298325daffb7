// How the program ends where it cannot do what it was started for.
import { ParleyError } from './errors.js';

const EXIT_CONFIG = 78; // EX_CONFIG of sysexits.h

export function failStart(error: unknown): never {
  const known = error instanceof ParleyError;
  process.stderr.write(`parley: ${known ? error.message : String((error as Error).stack ?? error)}\n`);
  process.exit(known && error.code === 'CONFIG_INVALID' ? EXIT_CONFIG : 1);
}
