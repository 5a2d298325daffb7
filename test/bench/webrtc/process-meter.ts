// The use of the own process since a moment: processor time, the main thread's busy time, memory,
// descriptors. The servers of the bench webrtc answer their parent's questions with it.
import { readdirSync, readFileSync } from 'node:fs';
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { trimHeap } from '../../../src/encoding/idle-memory.js';

export type ToServer =
  { readonly type: 'begin'; readonly mostPackets: number } | { readonly type: 'figures' | 'collect' };

export interface ProcessFigures {
  /** Milliseconds of processor time of all threads, since `begin`. */
  readonly cpuMs: number;
  /** Milliseconds since `begin`. */
  readonly elapsedMs: number;
  /** Milliseconds in which the main thread's event loop was busy, since `begin`. */
  readonly loopActiveMs: number;
  readonly residentMb: number;
  /** V8's used heap. */
  readonly heapMb: number;
  /** Anonymous resident memory beside V8's heap: the addons, OpenSSL, buffers, stacks. */
  readonly nativeMb: number;
  readonly descriptors: number;
  readonly threads: number;
}

const MB = 2 ** 20;

export class ProcessMeter {
  #sinceMs = performance.now();
  #cpu = process.cpuUsage();
  #loop: EventLoopUtilization = performance.eventLoopUtilization();

  begin(): void {
    this.#sinceMs = performance.now();
    this.#cpu = process.cpuUsage();
    this.#loop = performance.eventLoopUtilization();
  }

  /** Collects garbage and returns free memory to the system. Node must have been started with --expose-gc. */
  collect(): void {
    const { gc } = globalThis as { gc?: (options: object) => void };
    if (gc === undefined) throw new Error('the process was started without --expose-gc');
    for (let pass = 0; pass < 3; pass++) gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    trimHeap();
  }

  figures(): ProcessFigures {
    const elapsedMs = performance.now() - this.#sinceMs;
    const { user, system } = process.cpuUsage(this.#cpu);
    const { active } = performance.eventLoopUtilization(this.#loop);
    const { rss, heapUsed, heapTotal } = process.memoryUsage();
    const status = readFileSync('/proc/self/status', 'utf8');
    const number = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? NaN);
    return {
      cpuMs: (user + system) / 1000,
      elapsedMs,
      loopActiveMs: active,
      residentMb: rss / MB,
      heapMb: heapUsed / MB,
      nativeMb: number('RssAnon') / 1024 - heapTotal / MB,
      descriptors: readdirSync('/proc/self/fd').length,
      threads: number('Threads'),
    };
  }
}
