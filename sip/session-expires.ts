// The header fields of session timers (RFC 4028 sections 4 and 5), and what
// they ask for.
import { headerParameters, Scanner } from './message/scanner.js';
import { refused, type Result } from './message/refusal.js';

/** By the roles of the request at hand: its sender is the uac. */
export type Refresher = 'uac' | 'uas';

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
export const LEAST_SECONDS = 90;

const MOST_SECONDS = 0x7fff_ffff;

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
  if (params === undefined || seconds > MOST_SECONDS) return null;
  const refresher = params.get('refresher')?.toLowerCase();
  if (refresher !== undefined && refresher !== 'uac' && refresher !== 'uas') return null;
  return { seconds, refresher };
}

export function sessionExpiresText(seconds: number, refresher: Refresher | undefined): string {
  return refresher === undefined ? String(seconds) : `${seconds};refresher=${refresher}`;
}
