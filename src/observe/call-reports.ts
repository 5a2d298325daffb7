// What is told of telephone calls that are over: a line of the log, a count, and
// a webhook where one is configured.
import type { CallRecord } from '../call/phone-calls.js';
import type { Config } from '../config/config.js';
import type { Time } from '../time.js';
import { callRecordLine } from './call-record-line.js';
import type { Log } from './log.js';
import type { SipMetrics } from './sip-metrics.js';
import { Webhook } from './webhook.js';

export interface CallReportsParts {
  readonly config: Pick<Config, 'logNumbers' | 'callWebhookUrl' | 'callWebhookSecret'>;
  readonly metrics: Pick<SipMetrics, 'callEnded'>;
  readonly time: Time;
  readonly log: Log;
}

export class CallReports {
  readonly #parts: CallReportsParts;
  readonly #webhook: Webhook | undefined;

  constructor(parts: CallReportsParts) {
    const { config, time, log } = parts;
    const { callWebhookUrl: url, callWebhookSecret: secret } = config;
    this.#parts = parts;
    if (url === undefined || secret === undefined) return;
    this.#webhook = new Webhook({ url, secret, time, wallClock: Date.now, random: Math.random, log });
  }

  tell(record: CallRecord): void {
    const { config, metrics, log } = this.#parts;
    metrics.callEnded(record);
    log.info(callRecordLine(record, { numbers: config.logNumbers }), 'call ended');
    this.#webhook?.send(record);
  }

  /** Records by what became of their webhooks. */
  get figures(): Readonly<Record<string, number>> {
    return this.#webhook?.figures ?? {};
  }

  /** What waits is still sent, for some seconds at most. */
  async close(): Promise<void> {
    await this.#webhook?.close();
  }
}
