// Limits the destinations of outbound calls, and their number per minute: for each prefix of called numbers
// and for each API key.
import { ParleyError } from '../../src/errors.js';
import type { Destination } from '../../src/config/telephone-config.js';
import type { Time } from '../../src/time.js';
import { SourceRates } from '../guard/source-rates.js';
import type { WrittenAddress } from './call-fields.js';

interface DestinationLimits {
  /** Empty: every destination is allowed. */
  readonly destinations: readonly Destination[];
  /** Limit for each key; 0: no limit. */
  readonly callsPerMinute: number;
}

interface Rule extends Destination {
  readonly rates: SourceRates | undefined;
}

const MOST_KEYS = 10_000;
const EVERYTHING = '*';

export class DestinationRules {
  readonly #rules: readonly Rule[];
  readonly #keys: SourceRates | undefined;

  constructor({ destinations, callsPerMinute }: DestinationLimits, time: Time) {
    this.#rules = destinations.map((rule) => ({ ...rule, rates: ratesOf(rule.callsPerMinute, time) }));
    this.#keys = ratesOf(callsPerMinute === 0 ? undefined : callsPerMinute, time);
  }

  /**
   * Throws FORBIDDEN if no prefix allows the destination, and RATE_LIMITED if its prefix or the key has
   * reached its limit. The returned function counts the call. Without keys, all clients count as one.
   */
  check(to: WrittenAddress, key = ''): () => void {
    const rule = this.#ruleFor(to);
    if (this.#rules.length > 0 && (rule === undefined || rule.callsPerMinute === 0)) {
      throw new ParleyError(
        'FORBIDDEN',
        'to is a destination that is not allowed; SIP_DESTINATIONS lists those that are',
        {
          field: 'to',
        },
      );
    }
    const byRule = rule?.rates;
    refuseAfter(
      byRule?.waitMs('') ?? 0,
      'the prefix of to has had its calls of this minute (SIP_DESTINATIONS)',
    );
    refuseAfter(
      this.#keys?.waitMs(key) ?? 0,
      'the API key has had its calls of this minute (SIP_CALLS_PER_MINUTE)',
    );
    return () => {
      byRule?.take('');
      this.#keys?.take(key);
    };
  }

  /** The longest prefix wins, then the host, then the rule for all other destinations. */
  #ruleFor(to: WrittenAddress): Rule | undefined {
    const user = calledUser(to);
    const host = to.kind === 'uri' ? (to.uri.params.get('maddr') ?? to.uri.host).toLowerCase() : undefined;
    const byLength = this.#rules.toSorted((one, other) => other.prefix.length - one.prefix.length);
    return (
      byLength.find(({ prefix }) => isUserPrefix(prefix) && user.startsWith(prefix)) ??
      this.#rules.find(({ prefix }) => host !== undefined && prefix === `@${host}`) ??
      this.#rules.find(({ prefix }) => prefix === EVERYTHING)
    );
  }
}

/**
 * The user part in lower case. A number keeps only its digits: the peer may ignore more characters than the
 * separators of RFC 3966.
 */
function calledUser(to: WrittenAddress): string {
  const user = (to.kind === 'user' ? to.user : (to.uri.user ?? '')).toLowerCase();
  const [number = ''] = /^[^a-z;]*\d[^a-z;]*(?=;|$)/.exec(user) ?? [];
  return number.replace(/[^+\d*#]/g, '') + user.slice(number.length);
}

function isUserPrefix(prefix: string): boolean {
  return prefix !== EVERYTHING && !prefix.startsWith('@');
}

/** Allows a burst of one minute's calls. */
function ratesOf(perMinute: number | undefined, time: Time): SourceRates | undefined {
  if (perMinute === undefined || perMinute === 0) return undefined;
  return new SourceRates({ perSecond: perMinute / 60, burst: perMinute, mostSources: MOST_KEYS }, time);
}

function refuseAfter(waitMs: number, message: string): void {
  if (waitMs === 0) return;
  throw new ParleyError('RATE_LIMITED', message, {
    field: 'to',
    retryAfterSeconds: Math.ceil(waitMs / 1000),
  });
}
