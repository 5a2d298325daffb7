// Decides from the far end's receiver reports how many bits the voice and its packets may take.
//
//   rung      bit/s of Opus   packets     with IP, UDP, RTP and SRTP (54 bytes)
//   0         as configured   20 ms       54 kbit/s at 32 kbit/s; RED only here
//   1         24,000          40 ms       35 kbit/s
//   2         16,000          60 ms       24 kbit/s
//   3         12,000          60 ms       20 kbit/s
//   4         12,000          80 ms       17 kbit/s
//
//   queue ≥ 100 ms, or ≥ 70 ms with loss ≥ 1 %, or heavy loss ──▶ down; by two from 400 ms or heavy loss on,
//                                                and to what such a loss leaves of the bits
//   neither for 60 s ──▶ up by one; twice as long after each time that this fails, up to 10 minutes
//
// Only time in which something is spoken counts: reports tell nothing of the link in the pauses.
//
// A step up that fails fills the queue. The far end's jitter buffer then stays long for half a minute, so
// that such steps are rare. The lowest rung leaves room for the data channel on a link of 24 kbit/s.
//
// The queue is the round trip above its least value. Loss without a queue is taken as random, and leaves
// the rung: error correction is for it. Heavy loss (25 % in two reports, or 40 % in one) may also come from
// a link that polices, and the first round trip may be that of a full queue. Both are tried: if they do not
// fall where less is sent, they are the path's, and the voice returns to where it was. A late report may tell
// of the time before: a loss that stays heavy is tried again after 10 s, and twice as long after each time.
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
  { bitsPerSecond: 12_000, packetMs: 80 },
];
/** kbit/s of each rung with headers. */
const WIRE_KBITS = [54, 35, 24, 20, 17];
const QUEUE_MS = { some: 70, clear: 50, much: 100, severe: 400 };
const QUEUED_LOSS = 0.01;
const HEAVY_LOSS = 0.25;
/** Bursts alone seldom lose so much of one report. */
const SEVERE_LOSS = 0.4;
/** Share of a heavy loss that remains if the loss does not come from our rate. */
const RANDOM_SHARE = 0.5;
/** The least round trip, until a lower one or a steady one is reported. */
const ASSUMED_RTT_MS = 100;
/** A queue above the assumed round trip, without loss: paths across oceans have less. */
const ASSUMED_QUEUE_MS = 210;
/** Longer round trips are queues, whatever they do. */
const MOST_PATH_RTT_MS = 1000;
/** A queue drains or overflows meanwhile: a round trip that stays as long is the path's. */
const STEADY_REPORTS = 3;
const PROBE_MS = { least: 60_000, most: 600_000 };
/** From the finding that a heavy loss is the path's until it is tried again. The first one may be wrong. */
const RETRIAL_MS = { least: 10_000, most: 600_000 };
/** Congestion so soon after a step up means that the step was one too many. */
const PROVED_MS = 15_000;

interface Trial extends Pick<RemoteReception, 'rttMs'> {
  readonly loss: number;
  readonly rung: number;
  readonly isHeavy: boolean;
}

type Report = Pick<RemoteReception, 'reports' | 'recentLoss' | 'rttMs'>;

export class LinkControl {
  #rung = 0;
  #reports = 0;
  #leastRttMs = ASSUMED_RTT_MS;
  #lastRttMs: number | undefined;
  #steady = 0;
  /** Reports of heavy loss in a row. */
  #heavyReports = 0;
  /** The next report still tells of the time before the last step down. */
  #waits = false;
  #updatedMs: number | undefined;
  /** The clock of the times below: it stands still while nothing is spoken. */
  #spokenMs = 0;
  #calmSinceMs: number | undefined;
  #probeMs = PROBE_MS.least;
  #probedAtMs = -Infinity;
  /** The reason of a step down that may be the path's, and the rung before. */
  #tried: Trial | undefined;
  #isLossRandom = false;
  #retrialMs = RETRIAL_MS.least;
  /** A heavy loss counts again, although it was found to be the path's. */
  #retrialAtMs = Infinity;

  get share(): LinkShare {
    return RUNGS[this.#rung] as LinkShare;
  }

  /** Speech begins after a pause. */
  begin(nowMs: number): void {
    this.#updatedMs = nowMs;
  }

  /** Takes the latest report, a new one or the one before. */
  update(report: Report | undefined, nowMs: number): LinkShare {
    this.#spokenMs += nowMs - (this.#updatedMs ?? nowMs);
    this.#updatedMs = nowMs;
    if (report === undefined || report.reports === this.#reports) return this.share;
    this.#reports = report.reports;
    const { recentLoss: loss } = report;
    const { queueMs, isFalling } = this.#measureQueue(report);
    this.#heavyReports = loss >= HEAVY_LOSS ? this.#heavyReports + 1 : 0;
    if (this.#waits) {
      this.#waits = false;
      return this.share;
    }
    if (this.#endTrial(report)) return this.share;
    if (loss < HEAVY_LOSS / 4 || this.#spokenMs >= this.#retrialAtMs) this.#isLossRandom = false;
    const isHeavy = !this.#isLossRandom && this.#isHeavy(loss);
    const muchMs = this.#leastRttMs === ASSUMED_RTT_MS ? ASSUMED_QUEUE_MS : QUEUE_MS.much;
    const isQueued = queueMs >= muchMs || (queueMs >= QUEUE_MS.some && loss >= QUEUED_LOSS);
    if (isHeavy || (isQueued && !isFalling)) this.#stepDown(report, queueMs, isHeavy);
    else if (queueMs < QUEUE_MS.clear) this.#stepUp();
    else this.#calmSinceMs = undefined;
    return this.share;
  }

  #isHeavy(loss: number): boolean {
    return loss >= SEVERE_LOSS || this.#heavyReports > 1;
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

  /**
   * True if loss or round trip has turned out to be the path's: the voice is back on its rung. A full queue
   * of limited length has a steady round trip and heavy loss, which are never taken for the path's together.
   */
  #endTrial({ recentLoss, rttMs }: Report): boolean {
    const tried = this.#tried;
    this.#tried = undefined;
    if (tried === undefined) return false;
    const isLong = rttMs !== null && rttMs >= this.#leastRttMs + ASSUMED_QUEUE_MS;
    const isSame = rttMs !== null && tried.rttMs !== null && Math.abs(rttMs - tried.rttMs) < tried.rttMs / 10;
    if (tried.isHeavy ? isLong || recentLoss < tried.loss * RANDOM_SHARE : !isSame) return false;
    if (isLong && (recentLoss >= QUEUED_LOSS || rttMs > MOST_PATH_RTT_MS)) return false;
    if (isSame) this.#leastRttMs = rttMs;
    this.#isLossRandom = recentLoss >= QUEUED_LOSS;
    this.#retrialAtMs = this.#spokenMs + this.#retrialMs;
    this.#retrialMs = Math.min(2 * this.#retrialMs, RETRIAL_MS.most);
    this.#rung = tried.rung;
    return true;
  }

  #stepDown({ recentLoss, rttMs }: Report, queueMs: number, isHeavy: boolean): void {
    this.#calmSinceMs = undefined;
    const hasProbed = this.#spokenMs - this.#probedAtMs < PROVED_MS;
    if (hasProbed) this.#probeMs = Math.min(2 * this.#probeMs, PROBE_MS.most);
    else if (isHeavy || this.#leastRttMs === ASSUMED_RTT_MS)
      this.#tried = { loss: recentLoss, rttMs, rung: this.#rung, isHeavy };
    const steps = !hasProbed && (isHeavy || queueMs >= QUEUE_MS.severe) ? 2 : 1;
    const fitting = recentLoss >= HEAVY_LOSS && !hasProbed ? this.#fitting(recentLoss) : 0;
    const rung = Math.min(Math.max(this.#rung + steps, fitting), RUNGS.length - 1);
    this.#waits = rung !== this.#rung;
    this.#rung = rung;
  }

  /** The first rung whose packets fit into what was not lost. */
  #fitting(loss: number): number {
    const passedKbits = (WIRE_KBITS[this.#rung] ?? 0) * (1 - loss);
    const fitting = WIRE_KBITS.findIndex((kbits) => kbits <= passedKbits);
    return fitting < 0 ? RUNGS.length - 1 : fitting;
  }

  /** The next report counts: a queue in it tells that the step failed, whatever came before. */
  #stepUp(): void {
    this.#calmSinceMs ??= this.#spokenMs;
    if (this.#rung === 0 || this.#spokenMs - this.#calmSinceMs < this.#probeMs) return;
    this.#rung--;
    this.#calmSinceMs = undefined;
    this.#probedAtMs = this.#spokenMs;
  }
}
