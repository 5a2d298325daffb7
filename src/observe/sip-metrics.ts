// Counts telephone calls and their SIP messages.
//
// Label values come from closed sets: methods, statuses and causes of a far end are counted by name only if a standard
// defines them. Figures of other parts are read at each scrape.
import { Counter, Histogram, type Registry } from 'prom-client';
import type { CallRecord } from '../call/phone-calls.js';
import { readable, readAtScrape, type ScrapedValue } from './scraped-metrics.js';

type SipDirection = 'in' | 'out';

const REGISTRATION_STATES = ['registering', 'registered', 'failed', 'off'] as const;
export type RegistrationState = (typeof REGISTRATION_STATES)[number];

/** Numbers by name, of a closed set of names. */
type Counts = Readonly<Record<string, number>>;

/** Figures that other parts hold; absent ones have no metric. */
export interface SipFigures {
  /** Rejected requests and connections, by cause. */
  readonly dropped?: () => Counts;
  readonly retransmissions?: () => number;
  /** Each trunk that registers. */
  readonly registrations?: () => readonly { readonly trunk: string; readonly state: RegistrationState }[];
  /** Pairs of RTP ports by state: free, used, resting. */
  readonly rtpPorts?: () => Counts;
  /** Number of times that the RTP of a call came from another address than the announced one. */
  readonly latchDepartures?: () => number;
  /** Since the server began. */
  readonly receivedPackets?: () => number;
  readonly lostPackets?: () => number;
  /** Call records by the outcome of their webhook. */
  readonly webhooks?: () => Counts;
}

/** Methods of RFC 3261 and its extensions. */
const METHODS: ReadonlySet<string> = new Set(
  'INVITE ACK BYE CANCEL OPTIONS REGISTER PRACK SUBSCRIBE NOTIFY PUBLISH INFO REFER MESSAGE UPDATE'.split(
    ' ',
  ),
);

/** Status codes registered at IANA. */
const STATUSES: ReadonlySet<number> = new Set([
  100, 180, 181, 182, 183, 199, 200, 202, 204, 300, 301, 302, 305, 380, 400, 401, 402, 403, 404, 405, 406,
  407, 408, 410, 412, 413, 414, 415, 416, 417, 420, 421, 422, 423, 424, 425, 428, 429, 430, 433, 436, 437,
  438, 439, 440, 469, 470, 480, 481, 482, 483, 484, 485, 486, 487, 488, 489, 491, 493, 494, 500, 501, 502,
  503, 504, 505, 513, 555, 580, 600, 603, 604, 606, 607, 608,
]);

const SETUP_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128];
const MOS = [1, 2, 2.5, 3, 3.25, 3.5, 3.75, 4, 4.1, 4.2, 4.3, 4.4, 4.5];
const MOST_CAUSE = 127; // Q.850 has seven bits

export class SipMetrics {
  readonly #requests: Counter<'method' | 'direction'>;
  readonly #responses: Counter<'method' | 'status' | 'direction'>;
  readonly #calls: Counter<'direction' | 'end' | 'cause'>;
  readonly #setupSeconds: Histogram;
  readonly #mos: Histogram;

  constructor(registry: Registry, figures: SipFigures = {}) {
    const registers = [registry];
    this.#requests = new Counter({
      name: 'parley_sip_requests_total',
      help: 'SIP requests received or sent, without retransmissions',
      labelNames: ['method', 'direction'],
      registers,
    });
    this.#responses = new Counter({
      name: 'parley_sip_responses_total',
      help: 'final SIP responses, without retransmissions, by the direction of their requests',
      labelNames: ['method', 'status', 'direction'],
      registers,
    });
    this.#calls = new Counter({
      name: 'parley_sip_calls_total',
      help: 'telephone calls that have ended, by direction, reason and Q.850 cause',
      labelNames: ['direction', 'end', 'cause'],
      registers,
    });
    this.#setupSeconds = new Histogram({
      name: 'parley_sip_setup_seconds',
      help: 'time from an INVITE to its final response',
      buckets: SETUP_SECONDS,
      registers,
    });
    this.#mos = new Histogram({
      name: 'parley_call_mos',
      help: 'mean opinion score of the received audio of telephone calls, estimated by the E-model',
      buckets: MOS,
      registers,
    });
    for (const metric of scraped(figures)) registry.registerMetric(metric);
  }

  /** A request, and the final response to it. */
  answered(direction: SipDirection, method: string, status: number): void {
    this.request(method, direction);
    this.response(method, status, direction);
  }

  request(method: string, direction: SipDirection): void {
    this.#requests.inc({ method: knownMethod(method), direction });
  }

  /** `method` is the method of the request. */
  response(method: string, status: number, direction: SipDirection): void {
    this.#responses.inc({ method: knownMethod(method), status: knownStatus(status), direction });
  }

  callEnded({ direction, end: { reason: end, cause }, setupMs, received }: CallRecord): void {
    this.#calls.inc({ direction, end, cause: knownCause(cause) });
    if (setupMs !== undefined) this.#setupSeconds.observe(setupMs / 1000);
    if (received !== undefined) this.#mos.observe(received.mos);
  }
}

function knownMethod(method: string): string {
  return METHODS.has(method) ? method : 'OTHER';
}

/** The status, or the class of one that is not registered. */
function knownStatus(status: number): string {
  if (STATUSES.has(status)) return String(status);
  const hundreds = Math.floor(status / 100);
  return hundreds >= 1 && hundreds <= 6 ? `${hundreds}xx` : 'other';
}

function knownCause(cause: number | undefined): string {
  if (cause === undefined) return 'none';
  return Number.isInteger(cause) && cause >= 1 && cause <= MOST_CAUSE ? String(cause) : 'other';
}

function scraped(figures: SipFigures) {
  const {
    dropped,
    retransmissions,
    registrations,
    latchDepartures,
    rtpPorts,
    receivedPackets,
    lostPackets,
    webhooks,
  } = figures;
  return [
    counted(
      'parley_sip_dropped_total',
      'SIP requests and connections that were rejected, by cause',
      'cause',
      dropped,
    ),
    total(
      'parley_sip_retransmissions_total',
      'SIP requests that were received again and absorbed',
      retransmissions,
    ),
    registrations === undefined ? [] : standing(registrations),
    total(
      'parley_rtp_latch_departures_total',
      'times that the RTP of a call came from another address than the announced one',
      latchDepartures,
    ),
    rtpPorts === undefined
      ? []
      : readAtScrape('parley_rtp_ports', 'pairs of RTP ports, by state: free, used, resting', 'gauge', () =>
          byName('state', rtpPorts),
        ),
    total('parley_rtp_received_packets_total', 'RTP packets received', receivedPackets),
    total('parley_rtp_lost_packets_total', 'RTP packets lost, by their sequence numbers', lostPackets),
    counted('parley_webhooks_total', 'call records by the outcome of their webhook', 'outcome', webhooks),
  ].flat();
}

function total(name: string, help: string, read: (() => number) | undefined) {
  return read === undefined ? [] : readAtScrape(name, help, 'counter', () => [{ value: readable(read) }]);
}

function counted(name: string, help: string, label: string, read: (() => Counts) | undefined) {
  return read === undefined ? [] : readAtScrape(name, help, 'counter', () => byName(label, read));
}

/** Empty if the part that holds the figures fails. */
function byName(label: string, read: () => Counts): ScrapedValue[] {
  try {
    return Object.entries(read()).map(([name, value]) => ({ value, labels: { [label]: name } }));
  } catch {
    return [];
  }
}

/** 1 for the state that a trunk is in, 0 for the others. */
function standing(read: NonNullable<SipFigures['registrations']>) {
  const values = () =>
    read().flatMap(({ trunk, state }) =>
      REGISTRATION_STATES.map((name) => ({ value: Number(name === state), labels: { trunk, state: name } })),
    );
  return readAtScrape(
    'parley_sip_registrations',
    '1 for the registration state that a trunk is in, 0 for the others',
    'gauge',
    () => {
      try {
        return values();
      } catch {
        return [];
      }
    },
  );
}
