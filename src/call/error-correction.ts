// Decides from the far end's receiver reports whether its sound carries forward error correction.
//
//   smoothed loss ≥ 1 % ──▶ on           off ◀── below 0.5 % for 20 s
//
// With error correction each packet carries a rough copy of the frame before it, so a lost frame is decoded
// from the next packet. It costs quality, because the copies take bits, and two to three times the processor
// time. So it is off on good networks.
//
// The expected loss has few values, because each one has its own entries in the frame cache. libopus 1.3.1
// makes copies at 32 kb/s from 6 % on. From 13 % on a higher value changes little.
import type { RemoteReception } from '../media/quality.js';

/** Expected loss in percent, and the smoothed loss in percent from which on it is expected. */
const LEVELS = [
  { expected: 0, from: 0 },
  { expected: 6, from: 1 },
  { expected: 10, from: 6 },
  { expected: 15, from: 10 },
] as const;
/** Loss to expect before the first report: the least that makes copies. */
export const FIRST_LOSS_PERCENT = 6;
const OFF_BELOW_PERCENT = 0.5;
const CALM_MS = 20_000;
/** Time constant of the smoothing, and the length that the interval of the first report is taken to have. */
const SMOOTHING_MS = 5000; // the mean interval of reports (RFC 3550 section 6.2)

export class ErrorCorrection {
  #level = 0;
  #smoothedPercent = 0;
  #reports = 0;
  #reportedMs: number | undefined;
  #calmSinceMs: number | undefined;

  /**
   * Takes the latest report, a new one or the one before, and returns the loss to expect in percent: 0, 6, 10
   * or 15. 0 switches error correction off.
   */
  update(remote: Pick<RemoteReception, 'reports' | 'recentLoss'> | undefined, nowMs: number): number {
    if (remote !== undefined && remote.reports !== this.#reports) this.#smooth(remote, nowMs);
    const wanted = this.#wanted();
    if (wanted >= this.#level) {
      this.#level = wanted;
      this.#calmSinceMs = undefined;
    } else {
      this.#calmSinceMs ??= nowMs;
      if (nowMs - this.#calmSinceMs >= CALM_MS) {
        this.#level = wanted;
        this.#calmSinceMs = undefined;
      }
    }
    return LEVELS[this.#level]?.expected ?? 0;
  }

  #smooth({ reports, recentLoss }: Pick<RemoteReception, 'reports' | 'recentLoss'>, nowMs: number): void {
    const intervalMs = this.#reportedMs === undefined ? SMOOTHING_MS : nowMs - this.#reportedMs;
    const weight = 1 - Math.exp(-intervalMs / SMOOTHING_MS);
    this.#smoothedPercent += weight * (100 * recentLoss - this.#smoothedPercent);
    this.#reports = reports;
    this.#reportedMs = nowMs;
  }

  #wanted(): number {
    const level = LEVELS.findLastIndex(({ from }) => this.#smoothedPercent >= from);
    return level === 0 && this.#level > 0 && this.#smoothedPercent >= OFF_BELOW_PERCENT ? 1 : level;
  }
}
