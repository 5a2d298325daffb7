// Writes down what happens in one call, in the log and in the metrics.
import type { PlayoutStats } from '../media/media-addon.js';
import type { RemoteReception } from '../media/quality.js';
import type { LinkShare } from './link-control.js';
import type { MediaPort } from './call-route.js';
import type { CallerMetrics } from './caller-speech.js';
import type { CallEvent } from './call-events.js';
import type { ParleyError } from '../errors.js';
import type { Log } from '../log.js';

export interface CallMetrics extends CallerMetrics {
  callOpened(protocol: string): void;
  /** `remote` says how the far end received the call; undefined without reports. */
  callClosed(protocol: string, reason: string, remote?: RemoteReception): void;
  utteranceEnded(end: 'spoken' | 'interrupted' | 'failed'): void;
  /** Milliseconds from the arrival of a text to its first packet, if nothing else was being spoken. */
  firstAudio(ms: number, protocol: string): void;
}

export interface JournalParts {
  readonly log: Log;
  readonly metrics: CallMetrics;
}

export interface CallStats extends PlayoutStats {
  /** Our sound as the far end reports it; absent until its first report. */
  readonly remote?: RemoteReception;
}

export class CallJournal {
  readonly #call: string;
  readonly #protocol: string;
  readonly #log: Log;
  readonly #metrics: CallMetrics;

  constructor(call: string, protocol: string, { log, metrics }: JournalParts) {
    this.#call = call;
    this.#protocol = protocol;
    this.#log = log;
    this.#metrics = metrics;
  }

  opened({ codec, path }: MediaPort): void {
    this.#log.info({ call: this.#call, protocol: this.#protocol, codec: codec.name, path }, 'call opened');
  }

  moved(from: string, { path, codec, frameMs }: MediaPort): void {
    this.#log.info({ call: this.#call, from, codec: codec.name, frameMs, path }, 'call moved');
  }

  expectsLoss(expectedLossPercent: number): void {
    this.#log.info({ call: this.#call, expectedLossPercent }, 'error correction changed');
  }

  sharesLink({ bitsPerSecond, packetMs }: LinkShare): void {
    const bits = Number.isFinite(bitsPerSecond) ? { bitsPerSecond } : {};
    this.#log.info({ call: this.#call, ...bits, packetMs }, 'share of the link changed');
  }

  /** `isFirst`: nothing else was being spoken when its text came. `failure` is why it failed. */
  event(event: CallEvent, isFirst: boolean, failure?: ParleyError): void {
    const call = this.#call;
    if (event.type === 'utterance.started') {
      if (isFirst) this.#metrics.firstAudio(event.firstPacketMs, this.#protocol);
      const { utterance, firstPacketMs, queuedMs } = event;
      this.#log.info({ call, utterance, firstPacketMs, queuedMs }, 'first packet');
    } else if (event.type === 'utterance.failed') {
      const { utterance, text, error } = event;
      const detail = failure?.message;
      this.#log.warn({ call, utterance, code: error.code, detail, text }, 'utterance failed');
    } else if (event.type === 'utterance.interrupted') {
      this.#log.info({ call, utterance: event.utterance, text: event.text }, 'utterance interrupted');
    }
  }

  interrupted(reason: string, utterances: number): void {
    if (utterances > 0) this.#log.info({ call: this.#call, reason, utterances }, 'interrupted');
  }

  notClosed(error: unknown): void {
    this.#log.warn({ call: this.#call, err: error }, 'port not closed cleanly');
  }

  closed(reason: string, { packets, silencePackets, underruns, lateTicks, remote }: CallStats): void {
    this.#metrics.callClosed(this.#protocol, reason, remote);
    const sent = { packets, silencePackets, underruns, lateTicks };
    this.#log.info({ call: this.#call, reason, ...sent, ...receptionFields(remote) }, 'call closed');
  }
}

/** Fields of the log, rounded for readers; undefined ones are left out. */
function receptionFields(remote: RemoteReception | undefined): Record<string, number | undefined> {
  if (remote === undefined) return {};
  const rounded = (value: number, parts: number) => Math.round(value * parts) / parts;
  const { loss, jitterMs, rttMs, mos } = remote;
  return {
    remoteLoss: rounded(loss, 10_000),
    remoteJitterMs: rounded(jitterMs, 10),
    rttMs: rttMs === null ? undefined : rounded(rttMs, 10),
    remoteMos: rounded(mos, 100),
  };
}
