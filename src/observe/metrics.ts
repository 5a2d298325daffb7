// Counts what the server does, as Prometheus metrics.
//
// Each instance has its own registry, so that two servers in one process (tests) count separately.
// scraped-metrics.ts reads the figures of other parts at each scrape.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { HttpMetrics, RequestAnswered, SpeechAnswered } from '../api/http/http-metrics.js';
import type { CallMetrics } from '../call/call-journal.js';
import type { CallRecord } from '../call/phone-calls.js';
import type { RemoteReception } from '../media/quality.js';
import { AgentMetrics } from './agent-metrics.js';
import { ApplicationMetrics } from './application-metrics.js';
import { RecognitionMetrics } from './recognition-metrics.js';
import { type ScrapedFigures, scrapedMetrics } from './scraped-metrics.js';

interface MetricsOptions extends ScrapedFigures {
  /**
   * True adds Node's own metrics (memory, event loop, garbage collection), observed until the process ends.
   */
  readonly node?: boolean;
}

type ProtocolLabel = 'protocol' | 'door';
const PROTOCOL_LABELS: readonly ProtocolLabel[] = ['protocol', 'door'];

/** `door` is the old name of `protocol`. It stays for one more release. */
function protocolLabels(protocol: string) {
  return { protocol, door: protocol };
}

const FIRST_AUDIO_SECONDS = [0.005, 0.01, 0.015, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1, 2, 5];
const REQUEST_SECONDS = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

// Label values come from closed sets: all unknown methods are one value.
const HTTP_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

export class Metrics implements HttpMetrics, CallMetrics {
  readonly #registry = new Registry();
  readonly sockets = new SocketCounters(this.#registry);
  readonly recognition = new RecognitionMetrics(this.#registry);
  readonly agents = new AgentMetrics(this.#registry);
  readonly applications = new ApplicationMetrics(this.#registry);
  readonly #receptions = new ReceptionMetrics(this.#registry);
  readonly sip: SipMetrics;
  readonly #calls = new Gauge<ProtocolLabel>({
    name: 'parley_calls',
    help: 'calls open now, by protocol (door: its old label, for one more release)',
    labelNames: PROTOCOL_LABELS,
    registers: [this.#registry],
  });
  readonly #callsTotal = new Counter<ProtocolLabel | 'end'>({
    name: 'parley_calls_total',
    help: 'calls that have ended, by protocol and reason',
    labelNames: [...PROTOCOL_LABELS, 'end'],
    registers: [this.#registry],
  });
  readonly #utterances = new Counter<'end'>({
    name: 'parley_utterances_total',
    help: 'utterances that have ended: spoken, interrupted or failed',
    labelNames: ['end'],
    registers: [this.#registry],
  });
  readonly #defects = new Counter<'work'>({
    name: 'parley_defects_total',
    help: 'defects of the server, each of which ended one piece of work',
    labelNames: ['work'],
    registers: [this.#registry],
  });
  readonly #turns = new Counter({
    name: 'parley_turns_total',
    help: 'turns of callers that have ended',
    registers: [this.#registry],
  });
  readonly #bargeIns = new Counter<'speech'>({
    name: 'parley_barge_ins_total',
    help: 'times that a sound of the caller paused the voice: it was speech (true), or not (false)',
    labelNames: ['speech'],
    registers: [this.#registry],
  });
  readonly #firstAudio = new Histogram<ProtocolLabel>({
    name: 'parley_time_to_first_audio_seconds',
    help: 'time from the arrival of a text to its first packet (calls) or first byte of audio (HTTP)',
    labelNames: PROTOCOL_LABELS,
    buckets: FIRST_AUDIO_SECONDS,
    registers: [this.#registry],
  });
  readonly #requests = new Counter<'method' | 'route' | 'status'>({
    name: 'parley_http_requests_total',
    help: 'HTTP requests answered, by method, route and status',
    labelNames: ['method', 'route', 'status'],
    registers: [this.#registry],
  });
  readonly #requestSeconds = new Histogram<'method' | 'route'>({
    name: 'parley_http_request_duration_seconds',
    help: 'time from the head of an HTTP request to the end of its response',
    labelNames: ['method', 'route'],
    buckets: REQUEST_SECONDS,
    registers: [this.#registry],
  });
  readonly #speech: SpeechMetrics;
  readonly #beginScrape: () => void;

  constructor(options: MetricsOptions = {}) {
    this.#speech = new SpeechMetrics(this.#registry);
    this.sip = new SipMetrics(this.#registry);
    const { metrics, beginScrape } = scrapedMetrics(options);
    for (const metric of metrics) this.#registry.registerMetric(metric);
    this.#beginScrape = beginScrape;
    if (options.node === true) collectDefaultMetrics({ register: this.#registry });
  }

  /** An error that nobody expected ended a piece of work. */
  defect(work: string): void {
    this.#defects.inc({ work });
  }

  turnEnded(): void {
    this.#turns.inc();
  }

  bargeIn(isSpeech: boolean): void {
    this.#bargeIns.inc({ speech: String(isSpeech) });
  }

  /** The content type of `exposition()`. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All metrics in Prometheus' text format. */
  exposition(): Promise<string> {
    this.#beginScrape();
    return this.#registry.metrics();
  }

  callOpened(protocol: string): void {
    this.#calls.inc(protocolLabels(protocol));
  }

  /** `end` comes from the closed set of reasons of calls. */
  callClosed(protocol: string, end: string, remote?: RemoteReception): void {
    this.#calls.dec(protocolLabels(protocol));
    this.#callsTotal.inc({ ...protocolLabels(protocol), end });
    if (remote !== undefined) this.#receptions.ended(protocol, remote);
  }

  utteranceEnded(end: 'spoken' | 'interrupted' | 'failed'): void {
    this.#utterances.inc({ end });
  }

  /** Milliseconds from the arrival of a text to its first sound leaving. */
  firstAudio(ms: number, protocol = 'webrtc'): void {
    this.#firstAudio.observe(protocolLabels(protocol), ms / 1000);
  }

  requestAnswered({ method, route, status, seconds }: RequestAnswered): void {
    const known = HTTP_METHODS.has(method) ? method : 'OTHER';
    this.#requests.inc({ method: known, route, status: String(status) });
    this.#requestSeconds.observe({ method: known, route }, seconds);
  }

  speechAnswered(answered: SpeechAnswered): void {
    this.#speech.answered(answered);
  }

  /** `code` is the error code that the client received. */
  speechFailed(code: string): void {
    this.#speech.failed(code);
  }
}

const LOSS_RATIO = [0, 0.001, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5];
const JITTER_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5];
const RTT_SECONDS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2];

/** How far ends received the calls that have ended, by protocol. */
class ReceptionMetrics {
  readonly #loss: Histogram<ProtocolLabel>;
  readonly #jitterSeconds: Histogram<ProtocolLabel>;
  readonly #rttSeconds: Histogram<ProtocolLabel>;
  readonly #mos: Histogram<ProtocolLabel>;

  constructor(registry: Registry) {
    const histogram = (name: string, help: string, buckets: number[]) =>
      new Histogram({ name, help, labelNames: PROTOCOL_LABELS, buckets, registers: [registry] });
    const reported = 'of a call that ended, as the far end reported it';
    this.#loss = histogram('parley_call_remote_loss_ratio', `packet loss ${reported}, 0 to 1`, LOSS_RATIO);
    this.#jitterSeconds = histogram(
      'parley_call_remote_jitter_seconds',
      `jitter ${reported}`,
      JITTER_SECONDS,
    );
    this.#rttSeconds = histogram('parley_call_rtt_seconds', `round trip ${reported}`, RTT_SECONDS);
    this.#mos = histogram('parley_call_remote_mos', `mean opinion score ${reported}, by the E-model`, MOS);
  }

  ended(protocol: string, { loss, jitterMs, rttMs, mos }: RemoteReception): void {
    const labels = protocolLabels(protocol);
    this.#loss.observe(labels, loss);
    this.#jitterSeconds.observe(labels, jitterMs / 1000);
    if (rttMs !== null) this.#rttSeconds.observe(labels, rttMs / 1000);
    this.#mos.observe(labels, mos);
  }
}

/** Metrics of speech requests, with the names of an older server. */
class SpeechMetrics {
  readonly #requests: Counter<'endpoint' | 'format' | 'status'>;
  readonly #seconds: Histogram<'endpoint'>;
  readonly #inferSeconds: Histogram;
  readonly #synthesisSeconds: Histogram<'voice' | 'language' | 'format'>;
  readonly #errors: Counter<'code'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#requests = new Counter({
      name: 'tts_requests_total',
      help: 'speech requests answered, by endpoint, format and status',
      labelNames: ['endpoint', 'format', 'status'],
      registers,
    });
    this.#seconds = new Histogram({
      name: 'tts_request_duration_seconds',
      help: 'time from the head of a speech request to the end of its audio',
      labelNames: ['endpoint'],
      buckets: REQUEST_SECONDS,
      registers,
    });
    this.#inferSeconds = new Histogram({
      name: 'tts_inference_duration_seconds',
      help: 'engine time of one request, summed over its sentences; cached renderings are not counted',
      buckets: REQUEST_SECONDS,
      registers,
    });
    this.#synthesisSeconds = new Histogram({
      name: 'tts_synthesis_duration_seconds',
      help: 'engine and encoder time of one request, by voice, language and format',
      labelNames: ['voice', 'language', 'format'],
      buckets: REQUEST_SECONDS,
      registers,
    });
    this.#errors = new Counter({
      name: 'tts_errors_total',
      help: 'speech requests that were refused or broke off, by error code',
      labelNames: ['code'],
      registers,
    });
  }

  answered({
    route: endpoint,
    format = 'none',
    status,
    seconds,
    inferSeconds,
    synthesis,
  }: SpeechAnswered): void {
    this.#requests.inc({ endpoint, format, status: String(status) });
    this.#seconds.observe({ endpoint }, seconds);
    if (inferSeconds !== undefined) this.#inferSeconds.observe(inferSeconds);
    if (synthesis === undefined) return;
    const { voice, language, seconds: synthesisSeconds } = synthesis;
    this.#synthesisSeconds.observe({ voice, language, format }, synthesisSeconds);
  }

  failed(code: string): void {
    this.#errors.inc({ code });
  }
}

/**
 * Counts WebSockets. Label values come from closed sets: the names of dialects, and the reasons of an end.
 */
class SocketCounters {
  readonly #open: Gauge<'dialect'>;
  readonly #ended: Counter<'dialect' | 'end'>;
  readonly #messages: Counter<'dialect' | 'direction'>;
  readonly #refused: Counter<'status'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#open = new Gauge({
      name: 'parley_sockets',
      help: 'WebSockets open now, by dialect',
      labelNames: ['dialect'],
      registers,
    });
    this.#ended = new Counter({
      name: 'parley_sockets_total',
      help: 'WebSockets that have ended, by dialect and reason',
      labelNames: ['dialect', 'end'],
      registers,
    });
    this.#messages = new Counter({
      name: 'parley_socket_messages_total',
      help: 'messages of WebSockets, by dialect and direction (in, out)',
      labelNames: ['dialect', 'direction'],
      registers,
    });
    this.#refused = new Counter({
      name: 'parley_sockets_refused_total',
      help: 'WebSocket upgrades that were refused, by status',
      labelNames: ['status'],
      registers,
    });
  }

  opened(dialect: string): void {
    this.#open.inc({ dialect });
  }

  closed(dialect: string, end: string): void {
    this.#open.dec({ dialect });
    this.#ended.inc({ dialect, end });
  }

  message(dialect: string, direction: 'in' | 'out'): void {
    this.#messages.inc({ dialect, direction });
  }

  refused(status: number): void {
    this.#refused.inc({ status: String(status) });
  }
}

type SipDirection = 'in' | 'out';

/** Methods of RFC 3261 and its extensions. */
const SIP_METHODS: ReadonlySet<string> = new Set(
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

/**
 * Counts telephone calls and their SIP messages. A far end's methods, statuses and causes are counted by name
 * only if a standard defines them.
 */
class SipMetrics {
  readonly #requests: Counter<'method' | 'direction'>;
  readonly #responses: Counter<'method' | 'status' | 'direction'>;
  readonly #calls: Counter<'direction' | 'end' | 'cause'>;
  readonly #setupSeconds: Histogram;
  readonly #mos: Histogram;

  constructor(registry: Registry) {
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
  }

  /** A request, and the final response to it. */
  answered(direction: SipDirection, method: string, status: number): void {
    this.request(method, direction);
    this.response(method, status, direction);
  }

  request(method: string, direction: SipDirection): void {
    this.#requests.inc({ method: knownSipMethod(method), direction });
  }

  /** `method` is the method of the request. */
  response(method: string, status: number, direction: SipDirection): void {
    this.#responses.inc({ method: knownSipMethod(method), status: knownStatus(status), direction });
  }

  callEnded({ direction, end: { reason: end, cause }, setupMs, received }: CallRecord): void {
    this.#calls.inc({ direction, end, cause: knownCause(cause) });
    if (setupMs !== undefined) this.#setupSeconds.observe(setupMs / 1000);
    if (received !== undefined) this.#mos.observe(received.mos);
  }
}

function knownSipMethod(method: string): string {
  return SIP_METHODS.has(method) ? method : 'OTHER';
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
