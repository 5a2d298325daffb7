// Decides from the far end's receiver reports how many bits the voice and its packets may take.
//
//   rung      bit/s of Opus   packets     with IP, UDP, RTP and SRTP (54 bytes)
//   0         as configured   20 ms       54 kbit/s at 32 kbit/s; RED only here
//   1         24,000          40 ms       35 kbit/s
//   2         16,000          60 ms       24 kbit/s
//   3         12,000          60 ms       20 kbit/s
//
//   queue ≥ 100 ms, or ≥ 30 ms with loss ≥ 2 %, or loss ≥ 25 %  ──▶ down; by two from 400 ms or 25 % on
//   neither for 20 s ──▶ up by one; twice as long after each time that this fails, up to 160 s
//
// The queue is the round trip above its least value. Loss without a queue is taken as random, and leaves the
// rung: error correction is for it. Heavy loss may also come from a link that polices, and the first round
// trip may be that of a full queue. Both are tried: if neither loss nor round trip falls where less is sent,
// they are the path's, and the voice returns to where it was.
import type { RemoteReception } from '../media/quality.js';

/** Limits of a rung. */
export interface LinkShare {
  /** Bit/s of Opus; Infinity leaves them as they are. */
  readonly bitsPerSecond: number;
  /** Milliseconds of sound in a packet. */
  readonly packetMs: number;
}

const RUNGS: readonly LinkShare[] = [
  { bitsPerSecond: Infinity, packetMs: 20 },
  { bitsPerSecond: 24_000, packetMs: 40 },
  { bitsPerSecond: 16_000, packetMs: 60 },
  { bitsPerSecond: 12_000, packetMs: 60 },
];
const QUEUE_MS = { some: 30, clear: 50, much: 100, severe: 400 };
const QUEUED_LOSS = 0.02;
const HEAVY_LOSS = 0.25;
/** Share of a heavy loss that remains if the loss does not come from our rate. */
const RANDOM_SHARE = 0.7;
/** The least round trip, until a lower one or a steady one is reported. */
const ASSUMED_RTT_MS = 100;
/** A queue above the assumed round trip, without loss: paths across oceans have less. */
const ASSUMED_QUEUE_MS = 250;
/** Longer round trips are queues, whatever they do. */
const MOST_PATH_RTT_MS = 1000;
/** A queue drains or overflows meanwhile: a round trip that stays as long is the path's. */
const STEADY_REPORTS = 3;
const PROBE_MS = { least: 20_000, most: 160_000 };
/** Congestion so soon after a step up means that the step was one too many. */
const PROVED_MS = 15_000;

type Report = Pick<RemoteReception, 'reports' | 'recentLoss' | 'rttMs'>;

export class LinkControl {
  #rung = 0;
  #reports = 0;
  #leastRttMs = ASSUMED_RTT_MS;
  #lastRttMs: number | undefined;
  #steady = 0;
  /** The next report still tells of the time before the last change. */
  #waits = false;
  #calmSinceMs: number | undefined;
  #probeMs = PROBE_MS.least;
  #probedAtMs = -Infinity;
  /** The reason of a step down that may be the path's, and the rung before. */
  #tried: { readonly loss: number; readonly rttMs: number | null; readonly rung: number } | undefined;
  #isLossRandom = false;

  get share(): LinkShare {
    return RUNGS[this.#rung] as LinkShare;
  }

  /** Takes the latest report, a new one or the one before. */
  update(report: Report | undefined, nowMs: number): LinkShare {
    if (report === undefined || report.reports === this.#reports) return this.share;
    this.#reports = report.reports;
    const { recentLoss: loss } = report;
    const { queueMs, isFalling } = this.#measureQueue(report);
    if (this.#waits) {
      this.#waits = false;
      return this.share;
    }
    if (this.#endTrial(report)) return this.share;
    if (loss < HEAVY_LOSS / 4) this.#isLossRandom = false;
    const isHeavy = loss >= HEAVY_LOSS && !this.#isLossRandom;
    const muchMs = this.#leastRttMs === ASSUMED_RTT_MS ? ASSUMED_QUEUE_MS : QUEUE_MS.much;
    const isQueued = queueMs >= muchMs || (queueMs >= QUEUE_MS.some && loss >= QUEUED_LOSS);
    if (isHeavy || (isQueued && !isFalling)) this.#stepDown(report, queueMs, isHeavy, nowMs);
    else if (queueMs < QUEUE_MS.clear) this.#stepUp(nowMs);
    else this.#calmSinceMs = undefined;
    return this.share;
  }

  #measureQueue({ rttMs, recentLoss }: Report): { queueMs: number; isFalling: boolean } {
    if (rttMs === null) return { queueMs: 0, isFalling: false };
    const last = this.#lastRttMs ?? rttMs;
    this.#lastRttMs = rttMs;
    this.#leastRttMs = Math.min(this.#leastRttMs, rttMs);
    const isSteady = Math.abs(rttMs - last) < last / 10 && recentLoss < QUEUED_LOSS;
    this.#steady = isSteady ? this.#steady + 1 : 0;
    if (this.#steady >= STEADY_REPORTS && rttMs < MOST_PATH_RTT_MS) this.#leastRttMs = rttMs;
    return { queueMs: rttMs - this.#leastRttMs, isFalling: rttMs < last * 0.9 };
  }

  /** True if loss and round trip have turned out to be the path's: the voice is back on its rung. */
  #endTrial({ recentLoss, rttMs }: Report): boolean {
    const tried = this.#tried;
    this.#tried = undefined;
    if (tried === undefined || recentLoss < tried.loss * RANDOM_SHARE) return false;
    if (rttMs !== null && tried.rttMs !== null) {
      const isSame = Math.abs(rttMs - tried.rttMs) < tried.rttMs / 10;
      if (!isSame || rttMs > MOST_PATH_RTT_MS) return false;
      this.#leastRttMs = rttMs;
    }
    this.#isLossRandom = true;
    this.#rung = tried.rung;
    return true;
  }

  #stepDown({ recentLoss, rttMs }: Report, queueMs: number, isHeavy: boolean, nowMs: number): void {
    this.#calmSinceMs = undefined;
    const hasProbed = nowMs - this.#probedAtMs < PROVED_MS;
    if (hasProbed) this.#probeMs = Math.min(2 * this.#probeMs, PROBE_MS.most);
    else if (isHeavy || this.#leastRttMs === ASSUMED_RTT_MS)
      this.#tried = { loss: recentLoss, rttMs, rung: this.#rung };
    const steps = !hasProbed && (isHeavy || queueMs >= QUEUE_MS.severe) ? 2 : 1;
    const rung = Math.min(this.#rung + steps, RUNGS.length - 1);
    this.#waits = rung !== this.#rung;
    this.#rung = rung;
  }

  #stepUp(nowMs: number): void {
    this.#calmSinceMs ??= nowMs;
    if (this.#rung === 0 || nowMs - this.#calmSinceMs < this.#probeMs) return;
    this.#rung--;
    this.#waits = true;
    this.#calmSinceMs = undefined;
    this.#probedAtMs = nowMs;
  }
}
