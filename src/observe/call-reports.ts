// Reports each ended telephone call: one line in the log, the metrics, and the webhook if one is configured.
//
// The log line contains no words of callers, and only the last two digits of numbers, because more people
// read a log than may know who called whom.
import type { CallRecord } from '../call/phone-calls.js';
import type { Config } from '../config/config.js';
import type { Time } from '../time.js';
import type { Log } from '../log.js';
import type { Metrics } from './metrics.js';
import { Webhook } from './webhook.js';

interface CallReportsParts {
  readonly config: Pick<Config, 'log' | 'applications'>;
  readonly metrics: Pick<Metrics['sip'], 'callEnded'>;
  readonly time: Time;
  readonly log: Log;
}

export class CallReports {
  readonly #parts: CallReportsParts;
  readonly #webhook: Webhook | undefined;

  constructor(parts: CallReportsParts) {
    const { config, time, log } = parts;
    const { webhookUrl: url, webhookSecret: secret } = config.applications;
    this.#parts = parts;
    if (url === undefined || secret === undefined) return;
    this.#webhook = new Webhook({ url, secret, time, wallClock: Date.now, random: Math.random, log });
  }

  callEnded(record: CallRecord): void {
    const { config, metrics, log } = this.#parts;
    metrics.callEnded(record);
    log.info(callRecordLine(record, { numbers: config.log.logNumbers }), 'call ended');
    this.#webhook?.send(record);
  }

  /** Number of webhook records by outcome. */
  get figures(): Readonly<Record<string, number>> {
    return this.#webhook?.figures ?? {};
  }

  /** Sends waiting records for some seconds at most. */
  async close(): Promise<void> {
    await this.#webhook?.close();
  }
}

const SHOWN_DIGITS = 2;
const ADDRESS = /^([a-z][a-z0-9+.-]*:)?([^@;?]*)(@[^;?]*)?/i;

interface LineOptions {
  /** True writes telephone numbers in full. */
  readonly numbers: boolean;
}

/** Fields of the log line; pino omits undefined ones. */
export function callRecordLine(record: CallRecord, { numbers }: LineOptions): Record<string, unknown> {
  const {
    id: call,
    end,
    answer,
    startedAt: _startedAt,
    answeredAt: _answeredAt,
    endedAt: _endedAt,
    totalMs,
    connectedMs,
    sent,
    received,
    remote,
    setupMs,
    firstAudioMs,
    headers: _words,
    ...rest
  } = record;
  const shown = (address: string | undefined) =>
    address === undefined || numbers ? address : maskedAddress(address);
  return {
    call,
    ...rest,
    from: shown(rest.from),
    to: shown(rest.to),
    transferredTo: shown(rest.transferredTo),
    end: end.reason,
    status: end.status,
    cause: end.cause,
    detail: end.detail,
    answeredBy: answer?.by,
    ms: whole(totalMs),
    setupMs: whole(setupMs),
    firstAudioMs: whole(firstAudioMs),
    connectedMs: whole(connectedMs),
    packetsSent: sent?.packets,
    silencePackets: sent?.silencePackets,
    underruns: sent?.underruns,
    packetsReceived: received?.packets,
    loss: rounded(received?.loss, 10_000),
    jitterMs: tenths(received?.jitterMs),
    mos: rounded(received?.mos, 100),
    remoteLoss: rounded(remote?.loss, 10_000),
    remoteJitterMs: tenths(remote?.jitterMs),
    remoteMos: rounded(remote?.mos, 100),
    rttMs: tenths(remote?.rttMs ?? undefined),
  };
}

function whole(ms: number | undefined): number | undefined {
  return rounded(ms, 1);
}

function tenths(ms: number | undefined): number | undefined {
  return rounded(ms, 10);
}

/** Rounds to 1/parts, for readers. */
function rounded(value: number | undefined, parts: number): number | undefined {
  return value === undefined ? undefined : Math.round(value * parts) / parts;
}

/**
 * `sip:+491701234567@trunk.example;user=phone` → `sip:+**********67@trunk.example`: parameters go, the host
 * stays.
 */
export function maskedAddress(address: string): string {
  const [, scheme = '', user = '', host = ''] = ADDRESS.exec(address) ?? [];
  return `${scheme}${maskedUser(user)}${host}`;
}

/** Masks a number except its last digits, and a name entirely, with its length. */
function maskedUser(user: string): string {
  if (!/^\+?[\d().\- *#]+$/.test(user)) return user === '' ? '' : '***';
  const digits = user.replace(/\D/g, '');
  const hidden = Math.max(digits.length - SHOWN_DIGITS, Math.min(digits.length, SHOWN_DIGITS));
  return `${user.startsWith('+') ? '+' : ''}${'*'.repeat(hidden)}${digits.slice(hidden)}`;
}
