// What is counted about WebSockets, by dialect. All label values come from
// closed sets: dialects have fixed names, and so have the reasons of an end.
import { Counter, Gauge, type Registry } from 'prom-client';

export class SocketMetrics {
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
      help: 'requests for a WebSocket that were refused, by status',
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
