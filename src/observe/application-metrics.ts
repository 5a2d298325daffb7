// Counts the connections of calls to applications, and the decisions of applications about calls that come
// in, as Prometheus metrics. Label values come from closed sets.
//
//   first socket: opened ──▶ lost ──▶ reconnected … ──▶ closed, and failed if the application is the reason
import { Counter, Gauge, type Registry } from 'prom-client';

export class ApplicationMetrics {
  readonly #open: Gauge<'kind'>;
  readonly #opened: Counter<'kind'>;
  readonly #failed: Counter<'kind' | 'reason'>;
  readonly #reconnected: Counter<'kind'>;
  readonly #decisions: Counter<'outcome'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#open = new Gauge({
      name: 'parley_application_lines',
      help: 'lines to applications open now, those included whose socket is lost for a moment, by kind: relay, attached_relay, page_relay, socket_relay or media_stream',
      labelNames: ['kind'],
      registers,
    });
    this.#opened = new Counter({
      name: 'parley_application_lines_total',
      help: 'lines to applications that were opened: the first socket of a call',
      labelNames: ['kind'],
      registers,
    });
    this.#failed = new Counter({
      name: 'parley_application_lines_failed_total',
      help: 'lines that failed, by reason: unreachable (never opened), lost (its socket closed), bad_messages',
      labelNames: ['kind', 'reason'],
      registers,
    });
    this.#reconnected = new Counter({
      name: 'parley_application_reconnects_total',
      help: 'lost sockets of lines that another socket has replaced',
      labelNames: ['kind'],
      registers,
    });
    this.#decisions = new Counter({
      name: 'parley_incoming_decisions_total',
      help: 'calls about which an application was asked, by outcome: its answer, or why there was none',
      labelNames: ['outcome'],
      registers,
    });
  }

  opened(kind: string): void {
    this.#open.inc({ kind });
    this.#opened.inc({ kind });
  }

  /** A connection that was opened has ended. */
  closed(kind: string): void {
    this.#open.dec({ kind });
  }

  reconnected(kind: string): void {
    this.#reconnected.inc({ kind });
  }

  /** Counted besides `closed`, if the connection was opened. */
  failed(kind: string, reason: string): void {
    this.#failed.inc({ kind, reason });
  }

  /** `outcome` is the kind of a rule, `routes`, or why there was no usable answer. */
  decided(outcome: string): void {
    this.#decisions.inc({ outcome });
  }
}
