// Tells the operator of too few file descriptors: at the start, if the settings may need more than the limit,
// and at once when none is left.
//
// Without a descriptor libuv closes each new connection unanswered, and no event tells of it. So the watch
// opens a descriptor of its own every half second. That fails as soon as none is left.
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import type { Time } from '../time.js';
import type { Log } from '../log.js';

/** The descriptors of this process. */
interface DescriptorTable {
  /** The most that the process may have open; undefined if the system does not tell. */
  limit(): number | undefined;
  /** Number of open descriptors; undefined if the system does not tell. */
  inUse(): number | undefined;
  /** Opens one and closes it. Throws what the system throws. */
  probe(): void;
}

export const OWN_DESCRIPTORS: DescriptorTable = {
  limit: () => {
    const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(textOf('/proc/self/limits')) ?? [];
    return soft === undefined ? undefined : soft === 'unlimited' ? Infinity : Number(soft);
  },
  inUse: () => {
    try {
      return readdirSync('/proc/self/fd').length;
    } catch {
      return undefined;
    }
  },
  probe: () => closeSync(openSync('/dev/null', 'r')),
};

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // not Linux
  }
}

const HTTP_CONNECTIONS = 100; // that are no WebSockets; nothing limits them
const OF_CALL = 1; // its TCP connection, or that of its application
const OF_PHONE_CALL = 2; // RTP and RTCP
const RAISE = '`ulimit -n`, LimitNOFILE of systemd, `ulimits: nofile` of Docker Compose';

/** The settings that decide how many descriptors may be open. */
interface Demand {
  readonly access: { readonly maxSockets: number };
  readonly limits: { readonly maxCalls: number };
  readonly sip: { readonly enabled: boolean };
  readonly recording: object | undefined;
}

/** A warning if the settings may need more descriptors than the limit. Call it once everything listens. */
export function descriptorNotices(
  { access, limits, sip, recording }: Demand,
  table: DescriptorTable = OWN_DESCRIPTORS,
): readonly string[] {
  const [limit, inUse] = [table.limit(), table.inUse()];
  if (limit === undefined || inUse === undefined) return [];
  const ofCall = OF_CALL + (sip.enabled ? OF_PHONE_CALL : 0) + (recording === undefined ? 0 : 1);
  const { maxSockets, maxCalls } = { ...access, ...limits };
  const needed = inUse + HTTP_CONNECTIONS + maxSockets + maxCalls * ofCall;
  if (needed <= limit) return [];
  const sum = `${inUse} are open, ${HTTP_CONNECTIONS} for HTTP, ${maxSockets} for MAX_SOCKETS, ${ofCall} for each of ${maxCalls} MAX_CALLS`;
  return [
    `the settings may need ${needed} file descriptors (${sum}), and the limit is ${limit}: raise it (${RAISE}), or lower the settings`,
  ];
}

interface WatchParts {
  readonly time: Time;
  readonly log: Log;
  readonly table?: DescriptorTable;
}

const PROBE_MS = 500;
const CALM_MS = 10_000; // without a failure, after which a shortage is over; so no shortage fills the log

const RAN_OUT: ReadonlyMap<string, string> = new Map([
  ['EMFILE', `new connections are closed unanswered; raise the limit of the process (${RAISE})`],
  ['ENFILE', 'new connections are closed unanswered; raise the limit of the machine (sysctl fs.file-max)'],
]);

/** Logs the begin and the end of each shortage of descriptors. */
export class DescriptorWatch {
  readonly #time: Time;
  readonly #log: WatchParts['log'];
  readonly #table: DescriptorTable;
  /** Times of the first and the last probe of a shortage that failed. */
  #shortage: { readonly beganMs: number; failedMs: number } | undefined;
  #cancelTimer: () => void = () => undefined;

  constructor({ time, log, table = OWN_DESCRIPTORS }: WatchParts) {
    this.#time = time;
    this.#log = log;
    this.#table = table;
    this.#wait();
  }

  /** Idempotent. */
  close(): void {
    this.#cancelTimer();
  }

  #wait(): void {
    this.#cancelTimer = this.#time.after(PROBE_MS, () => {
      this.#wait();
      this.#look();
    });
  }

  #look(): void {
    const now = this.#time.now();
    try {
      this.#table.probe();
    } catch (error) {
      return this.#failed((error as NodeJS.ErrnoException).code ?? '', now);
    }
    const over = this.#shortage;
    if (over === undefined || now - over.failedMs < CALM_MS) return;
    this.#shortage = undefined;
    const ms = Math.round(over.failedMs - over.beganMs);
    this.#log.info({ ms, limit: this.#table.limit() }, 'file descriptors are free again');
  }

  #failed(code: string, now: number): void {
    const detail = RAN_OUT.get(code);
    if (detail === undefined) return; // no shortage: the device is missing, for example
    if (this.#shortage !== undefined) {
      this.#shortage.failedMs = now;
      return;
    }
    this.#shortage = { beganMs: now, failedMs: now };
    this.#log.error({ code, detail }, 'file descriptors have run out');
  }
}
