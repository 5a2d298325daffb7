// Asks the application how an incoming call is answered (CALL_INCOMING_URL, CALL_INCOMING_KEY). Its answer is
// a rule like those of SIP_ROUTES. Without an answer in time, or with one that cannot be used, the call is
// not lost: the routes decide, or it is refused for a while, as configured.
import { asParleyError, type ErrorCode, ParleyError } from '../../src/errors.js';
import type { IncomingCalls } from '../../src/call/incoming-calls.js';
import { signedHeaders } from '../../src/signed-headers.js';
import { responseText } from '../../src/response-text.js';
import { stated } from '../../src/stated.js';
import type { Time } from '../../src/time.js';
import { readRule, type RoutingContext } from '../routing-file.js';
import type { Route, RouteAnswer } from '../routing-table.js';
import type { Log } from '../../src/log.js';

export interface IncomingCall {
  /** Id that the call has on this server if it is answered. */
  readonly id?: string | undefined;
  /** Call-ID of the INVITE. */
  readonly callId: string;
  readonly from: string;
  readonly to: string;
  readonly displayName?: string | undefined;
  /** As SIP_CALL_HEADERS lets them through. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Name of the rule that answers the call without a decision. */
  readonly route?: string | undefined;
}

interface DecisionParts {
  /** Undefined: `followers` are asked. */
  readonly url: string | undefined;
  /** Signs the requests to the URL. */
  readonly secret: string;
  readonly followers: Pick<IncomingCalls, 'ask'>;
  readonly timeoutMs: number;
  /** Decides about a call for which no usable decision comes. */
  readonly fallback: 'routes' | 'reject';
  readonly context: RoutingContext;
  readonly time: Time;
  /** Milliseconds since 1970. */
  readonly wallMs: () => number;
  readonly log: Log;
  /** Called once for each call. */
  readonly decided: (outcome: DecisionOutcome) => void;
}

/** The kind of the answer, `routes` if it leaves the call to them, or why there was no usable answer. */
type DecisionOutcome = RouteAnswer['kind'] | 'routes' | 'timeout' | 'unusable' | 'busy' | 'unreachable';
const OUTCOMES: Partial<Record<ErrorCode, DecisionOutcome>> = {
  TIMEOUT: 'timeout',
  INVALID_FIELD: 'unusable',
  MALFORMED: 'unusable',
  TOO_LARGE: 'unusable',
  QUEUE_FULL: 'busy',
};

const MOST_ANSWER = 65_536; // bytes
const MOST_ASKING = 256; // calls about which the application is asked at the same time
const EVENT = 'call.incoming';
const NO_CONTENT = 204;
/** Refuses calls for a while. */
const REFUSED: Route = {
  name: 'incoming fallback',
  headers: new Map(),
  answer: { kind: 'reject', status: 503, text: 'Service Unavailable' },
};

export class IncomingDecision {
  readonly #parts: DecisionParts;
  #asking = 0;

  constructor(parts: DecisionParts) {
    this.#parts = parts;
  }

  /** Undefined: the routes decide. Never rejects. */
  async of(call: IncomingCall): Promise<Route | undefined> {
    const { fallback, log, decided } = this.#parts;
    this.#asking++;
    try {
      if (this.#asking > MOST_ASKING)
        throw new ParleyError('QUEUE_FULL', `it is being asked about ${MOST_ASKING} other calls`);
      const { url } = this.#parts;
      const route = await (url === undefined ? this.#askFollowers(call) : this.#ask(call, url));
      decided(route?.answer.kind ?? 'routes');
      return route;
    } catch (error) {
      const { code, message: detail } = asParleyError(error, 'WRONG_STATE');
      decided(OUTCOMES[code] ?? 'unreachable');
      log.warn({ callId: call.callId, code, detail, fallback }, 'no usable decision about a call');
      return fallback === 'reject' ? REFUSED : undefined;
    } finally {
      this.#asking--;
    }
  }

  #askFollowers({ id, ...about }: IncomingCall): Promise<Route | undefined> {
    const { followers, timeoutMs } = this.#parts;
    const call = { direction: 'inbound', protocol: 'sip', ...about } as const;
    return followers.ask({ about: call, call: id, timeoutMs, read: (rule) => this.#rule(rule) });
  }

  async #ask(call: IncomingCall, url: string): Promise<Route | undefined> {
    const { secret, timeoutMs, time, wallMs } = this.#parts;
    const body = JSON.stringify(incomingBody(call, wallMs()));
    const late = new AbortController();
    const forget = time.after(timeoutMs, () => late.abort());
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: signedHeaders(EVENT, { secret, body, unixMs: wallMs() }),
        body,
        redirect: 'manual', // who calls whom goes only to the address that the operator configured
        signal: late.signal,
      });
      if (!response.ok) throw new ParleyError('WRONG_STATE', `it answered with status ${response.status}`);
      if (response.status === NO_CONTENT) return undefined;
      const { text, isWhole } = await responseText(response, MOST_ANSWER);
      if (!isWhole) throw new ParleyError('TOO_LARGE', `its answer has more than ${MOST_ANSWER} bytes`);
      return this.#read(text);
    } catch (error) {
      if (late.signal.aborted) throw new ParleyError('TIMEOUT', `it did not answer within ${timeoutMs} ms`);
      throw error;
    } finally {
      forget();
    }
  }

  #read(text: string): Route | undefined {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw new ParleyError('MALFORMED', 'its answer is not JSON');
    }
    return this.#rule(value);
  }

  /** Undefined for an empty object: the routes decide. Throws INVALID_FIELD. */
  #rule(value: unknown): Route | undefined {
    if (typeof value === 'object' && value !== null && Object.keys(value).length === 0) return undefined;
    const { route, problems } = readRule(value, this.#parts.context);
    if (route !== undefined && problems.length === 0) return route;
    throw new ParleyError('INVALID_FIELD', problems.join('; '));
  }
}

function incomingBody(incoming: IncomingCall, nowMs: number): object {
  const { id, callId, from, to, displayName, headers, route } = incoming;
  const call = stated({ id, sip_call_id: callId, from, to, display_name: displayName, headers, route });
  return {
    event: EVENT,
    created_at: nowMs / 1000,
    ...stated({ call_id: id }),
    call: { object: 'call.incoming', direction: 'inbound', ...call },
  };
}
