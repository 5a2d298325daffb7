// Time that the host gave to others while this machine wanted to run: on a
// shared virtual machine it bounds every figure of lateness from below.
import { readFileSync } from 'node:fs';

const STEAL_FIELD = 8; // field index in the "cpu" line of /proc/stat (proc(5))
const TICKS_PER_SECOND = 100; // USER_HZ

/** Seconds since boot, of all processors together; 0 where the system does not say. */
export function stolenSeconds(): number {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
    return Number(line.split(/\s+/)[STEAL_FIELD] ?? 0) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}
