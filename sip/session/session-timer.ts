// Keeps a call alive that both sides would otherwise take for dead, and ends
// one that is (RFC 4028): who refreshes, how often, and when it was too long.
//
// The owner passes every INVITE and UPDATE through here, whichever side sends
// it, and gets what to write into it or to answer with; the timer calls back
// when a refresh is due and when the session is over.
import type { Time } from '../../src/time.js';
import { refused, type Result } from '../message/refusal.js';
import { headerParameters, Scanner } from '../message/scanner.js';

type HeaderPairs = readonly (readonly [name: string, value: string])[];

export interface SessionTimerOptions {
  readonly time: Time;
  /** The interval that we ask for; 0 asks for none, and still keeps to the peer's. */
  readonly wantedSeconds: number;
  /** The shortest that we accept. */
  readonly leastSeconds: number;
  /** A refresh is due: an UPDATE or a re-INVITE with `requestFields()`. */
  readonly onRefresh: () => void;
  /** Nobody has refreshed in time: the call is to be ended with BYE. Comes once. */
  readonly onExpired: () => void;
}

export interface SessionAnswer {
  /** For the 2xx. */
  readonly headers: HeaderPairs;
  /** What counts from the moment when the 2xx goes out; undefined: no session timer. */
  readonly running: RunningSession | undefined;
}

export interface RunningSession {
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

  /** Undefined while the session has no limit. */
  get running(): RunningSession | undefined {
    return this.#running;
  }

  /** For an INVITE or UPDATE of ours; later ones leave the roles as they are (section 7.4). */
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

  /** The peer's INVITE or UPDATE: 422 where its interval is too short, else what to answer. `answered` puts it into force. */
  validate(request: SessionFields): Result<SessionAnswer> {
    const read = readSessionFields(request);
    if (read.refusal !== undefined) return read;
    const { intervalSeconds, refresher, leastSeconds, knowsTimers } = read.value;
    if (intervalSeconds !== undefined && intervalSeconds < this.#leastSeconds && knowsTimers) {
      return refused(422, 'Session Interval Too Small', [['Min-SE', String(this.#leastSeconds)]]);
    }
    const wanted = this.#running?.intervalSeconds ?? this.#options.wantedSeconds;
    // One who knows nothing of timers has not asked (a proxy may have): it cannot refresh, so we do (section 9).
    const asked = intervalSeconds ?? (wanted === 0 ? undefined : Math.max(wanted, leastSeconds));
    if (asked === undefined) return { value: { headers: [], running: undefined } };
    // What was asked for may be shortened, down to the least that either side or a proxy accepts, never raised.
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

  /** As the peer of this request would call the side that refreshes now. */
  #roleNow(): Refresher | undefined {
    if (this.#running === undefined) return undefined;
    return this.#running.refresher === 'us' ? 'uas' : 'uac';
  }

  /** The 2xx to the peer's request goes out. */
  answered({ running }: SessionAnswer): void {
    this.#start(running);
  }

  /** A 2xx to our INVITE or UPDATE. Fields that cannot be read count as none. */
  accepted(response: SessionFields): void {
    const { value } = readSessionFields(response);
    const seconds = value?.intervalSeconds;
    if (value === undefined || seconds === undefined || seconds === 0) return this.#start(undefined);
    // Where the answer names nobody, it is on the one who asked (section 7.2).
    const refresher = value.refresher === 'uas' ? 'them' : 'us';
    this.#start({ intervalSeconds: Math.min(Math.max(seconds, LEAST_SECONDS), MOST_SECONDS), refresher });
  }

  /** A 422 to our request: true if `requestFields()` now asks for enough, so that it is worth sending again. */
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

// The header fields of session timers (RFC 4028 sections 4 and 5), and what
// they ask for.

/** By the roles of the request at hand: its sender is the uac. */
type Refresher = 'uac' | 'uas';

/** As they stand in a message; undefined if it has none. */
export interface SessionFields {
  readonly sessionExpires: string | undefined;
  readonly minSe: string | undefined;
  /** Every option tag of Supported (and Require). */
  readonly supported: readonly string[];
}

export interface SessionRequest {
  /** Undefined if the message says nothing of an interval. */
  readonly intervalSeconds: number | undefined;
  readonly refresher: Refresher | undefined;
  readonly leastSeconds: number;
  readonly knowsTimers: boolean;
}

/** Nothing shorter may be asked for (section 5). */
const LEAST_SECONDS = 90;

const LONGEST_SECONDS = 0x7fff_ffff;

/** 400 for fields that are malformed. */
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

/** Null for what is neither a number of seconds nor one with parameters. */
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
