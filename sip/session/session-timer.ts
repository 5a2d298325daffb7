// Runs the session timer (RFC 4028): it decides who refreshes and how often, and ends a dead call.
//
// The owner passes every INVITE and UPDATE of both sides through the timer and gets the fields to
// send. The timer calls back when a refresh is due and when the session has expired.
import type { Time } from '../../src/time.js';
import { refused, type Result } from '../message/refusal.js';
import { headerParameters, Scanner } from '../message/scanner.js';

type HeaderPairs = readonly (readonly [name: string, value: string])[];

interface SessionTimerOptions {
  readonly time: Time;
  /** Interval to request in seconds; 0 requests none but accepts the peer's. */
  readonly wantedSeconds: number;
  /** Shortest accepted interval in seconds. */
  readonly leastSeconds: number;
  /** A refresh is due: send UPDATE or re-INVITE with `requestFields()`. */
  readonly onRefresh: () => void;
  /** The session was not refreshed in time: end the call with BYE. Called once. */
  readonly onExpired: () => void;
}

export interface SessionAnswer {
  /** Fields for the 2xx. */
  readonly headers: HeaderPairs;
  /** Timer in force once the 2xx is sent; undefined for none. */
  readonly running: RunningSession | undefined;
}

interface RunningSession {
  readonly intervalSeconds: number;
  readonly refresher: 'us' | 'them';
}

const LONGEST_MARGIN_SECONDS = 32; // section 10
const SHORTEST_RETRY_MS = 1000;
const MOST_SECONDS = 86_400; // a longer interval is a timer that never fires

export class SessionTimer {
  readonly #options: SessionTimerOptions;
  #leastSeconds: number;
  #running: RunningSession | undefined;
  #expiresAtMs = 0;
  #cancelRefresh = () => {};
  #cancelExpiry = () => {};
  #closed = false;

  constructor(options: SessionTimerOptions) {
    this.#options = options;
    this.#leastSeconds = Math.max(LEAST_SECONDS, options.leastSeconds);
  }

  /** Undefined while no session timer is in force. */
  get running(): RunningSession | undefined {
    return this.#running;
  }

  /** Fields of our INVITE or UPDATE; later ones keep the roles (section 7.4). */
  requestFields(): HeaderPairs {
    const { wantedSeconds } = this.#options;
    const supported = ['Supported', 'timer'] as const;
    const seconds = this.#running?.intervalSeconds ?? wantedSeconds;
    if (seconds === 0) return [supported];
    const refresher: Record<RunningSession['refresher'], Refresher> = { us: 'uac', them: 'uas' };
    const role = this.#running === undefined ? undefined : refresher[this.#running.refresher];
    const least = Math.max(this.#leastSeconds, LEAST_SECONDS);
    return [
      supported,
      ['Session-Expires', sessionExpiresText(Math.max(seconds, least), role)],
      ['Min-SE', String(least)],
    ];
  }

  /**
   * Validates the peer's INVITE or UPDATE: 422 if its interval is too short, else the answer. `answered`
   * puts it into force.
   */
  validate(request: SessionFields): Result<SessionAnswer> {
    const read = readSessionFields(request);
    if (read.refusal !== undefined) return read;
    const { intervalSeconds, refresher, leastSeconds, knowsTimers } = read.value;
    if (intervalSeconds !== undefined && intervalSeconds < this.#leastSeconds && knowsTimers) {
      return refused(422, 'Session Interval Too Small', [['Min-SE', String(this.#leastSeconds)]]);
    }
    const wanted = this.#running?.intervalSeconds ?? this.#options.wantedSeconds;
    // A peer without timer support has not asked (a proxy may have) and cannot refresh, so we do
    // (section 9).
    const asked = intervalSeconds ?? (wanted === 0 ? undefined : Math.max(wanted, leastSeconds));
    if (asked === undefined) return { value: { headers: [], running: undefined } };
    // The interval may be shortened to the minimum of both sides and the proxies, never raised.
    const ours = wanted === 0 ? asked : Math.max(wanted, leastSeconds, this.#leastSeconds);
    const seconds = Math.min(Math.max(Math.min(asked, ours), LEAST_SECONDS), MOST_SECONDS);
    const role: Refresher = knowsTimers ? (refresher ?? this.#roleNow() ?? 'uac') : 'uas';
    const headers: HeaderPairs = [
      ...(knowsTimers ? [['Require', 'timer'] as const] : []),
      ['Session-Expires', sessionExpiresText(seconds, role)],
    ];
    return {
      value: { headers, running: { intervalSeconds: seconds, refresher: role === 'uas' ? 'us' : 'them' } },
    };
  }

  /** Current refresher in the roles of this request. */
  #roleNow(): Refresher | undefined {
    if (this.#running === undefined) return undefined;
    return this.#running.refresher === 'us' ? 'uas' : 'uac';
  }

  /** The 2xx to the peer's request is sent. */
  answered({ running }: SessionAnswer): void {
    this.#start(running);
  }

  /** A 2xx to our INVITE or UPDATE arrived. Malformed fields count as absent. */
  accepted(response: SessionFields): void {
    const { value } = readSessionFields(response);
    const seconds = value?.intervalSeconds;
    if (value === undefined || seconds === undefined || seconds === 0) return this.#start(undefined);
    // An answer without a refresher leaves the task to the requester (section 7.2).
    const refresher = value.refresher === 'uas' ? 'them' : 'us';
    this.#start({ intervalSeconds: Math.min(Math.max(seconds, LEAST_SECONDS), MOST_SECONDS), refresher });
  }

  /**
   * A 422 to our request: true if `requestFields()` now asks for enough, so that it is worth sending again.
   */
  tooShort(minSe: string | undefined): boolean {
    const { value } = readSessionFields({ sessionExpires: undefined, minSe, supported: [] });
    if (value === undefined || value.leastSeconds <= this.#leastSeconds || value.leastSeconds > MOST_SECONDS)
      return false;
    this.#leastSeconds = value.leastSeconds;
    return true;
  }

  /** Our refresh was refused for now (491, 500, 503): it is tried again while there is time. */
  refreshFailed(): void {
    if (this.#closed || this.#running?.refresher !== 'us') return;
    const leftMs = this.#expiresAtMs - this.#options.time.now();
    this.#cancelRefresh();
    this.#cancelRefresh = this.#options.time.after(
      Math.max(leftMs / 2, SHORTEST_RETRY_MS),
      this.#options.onRefresh,
    );
  }

  /** The call has ended: nothing is called back any more. */
  close(): void {
    this.#closed = true;
    this.#start(undefined);
  }

  #start(running: RunningSession | undefined): void {
    const { time, onRefresh, onExpired } = this.#options;
    this.#cancelRefresh();
    this.#cancelExpiry();
    this.#running = this.#closed ? undefined : running;
    if (this.#running === undefined) return;
    const { intervalSeconds, refresher } = this.#running;
    const marginSeconds = Math.min(LONGEST_MARGIN_SECONDS, intervalSeconds / 3);
    const lastMs = (intervalSeconds - marginSeconds) * 1000;
    this.#expiresAtMs = time.now() + lastMs;
    if (refresher === 'us') this.#cancelRefresh = time.after((intervalSeconds * 1000) / 2, onRefresh);
    this.#cancelExpiry = time.after(lastMs, () => {
      this.close();
      onExpired();
    });
  }
}

/** Roles of the current request: its sender is the uac. */
type Refresher = 'uac' | 'uas';

/** Raw fields of a message; undefined if absent. */
export interface SessionFields {
  readonly sessionExpires: string | undefined;
  readonly minSe: string | undefined;
  /** Option tags of Supported and Require. */
  readonly supported: readonly string[];
}

interface SessionRequest {
  /** Undefined if the message contains no interval. */
  readonly intervalSeconds: number | undefined;
  readonly refresher: Refresher | undefined;
  readonly leastSeconds: number;
  readonly knowsTimers: boolean;
}

/** Shortest permitted interval (section 5). */
const LEAST_SECONDS = 90;

const LONGEST_SECONDS = 0x7fff_ffff;

/** Refuses malformed fields with 400. */
export function readSessionFields({
  sessionExpires,
  minSe,
  supported,
}: SessionFields): Result<SessionRequest> {
  const expires = sessionExpires === undefined ? undefined : readExpires(sessionExpires);
  const least = minSe === undefined ? undefined : readExpires(minSe);
  if (expires === null || least === null)
    return refused(400, 'the fields of the session timer are not well-formed');
  return {
    value: {
      intervalSeconds: expires?.seconds,
      refresher: expires?.refresher,
      leastSeconds: Math.max(LEAST_SECONDS, least?.seconds ?? 0),
      knowsTimers: supported.some((tag) => tag.toLowerCase() === 'timer'),
    },
  };
}

/** Null for a malformed value. */
function readExpires(text: string): { seconds: number; refresher: Refresher | undefined } | null {
  const [digits = ''] = /^\s*\d{1,10}/.exec(text) ?? [];
  const params = digits === '' ? undefined : headerParameters(new Scanner(text, digits.length));
  const seconds = Number(digits);
  if (params === undefined || seconds > LONGEST_SECONDS) return null;
  const refresher = params.get('refresher')?.toLowerCase();
  if (refresher !== undefined && refresher !== 'uac' && refresher !== 'uas') return null;
  return { seconds, refresher };
}

function sessionExpiresText(seconds: number, refresher: Refresher | undefined): string {
  return refresher === undefined ? String(seconds) : `${seconds};refresher=${refresher}`;
}
