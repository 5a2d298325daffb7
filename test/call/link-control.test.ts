// The control of the voice's bits on simulated links: packets pass a bottleneck with a queue, or are lost by
// chance, and the far end reports every 5 s. RED repeats frames as in a browser's call.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LinkControl, type LinkShare } from '../../src/call/link-control.js';
import { RedundancySwitch } from '../../signaling/peer-connection.js';
import { mosOf, ratingOf } from '../../src/media/quality.js';
import { randomFrom } from '../api/mutations.js';
import { Fates } from '../fakes/impaired-relay.js';

const OVERHEAD_BYTES = 54; // IP, UDP, RTP, SRTP, and the lengths of joined frames
const USUAL_BITS = 32_000;
const REPORT_MS = 5000;
const PATH_MS = 20; // one way, without the queue

interface Link {
  /** kbit/s; Infinity has no bottleneck. */
  readonly kbits: number;
  /** Milliseconds of the queue; later packets are lost. 0 polices: what is too much is lost at once. */
  readonly queueMs?: number;
  readonly loss?: number;
  /** Mean number of packets lost in a row (Gilbert's model); absent: each is lost independently. */
  readonly lossRun?: number;
  readonly pathMs?: number;
  /** Nothing is spoken; reports come all the same, and are not read. */
  readonly isSilent?: boolean;
}

interface Figures {
  /** Share of packets lost, mean time in the queue and mean opinion score of the last 10 s. */
  readonly loss: number;
  readonly queueMs: number;
  readonly mos: number;
  readonly share: LinkShare;
}

/** Speaks for `seconds`; `link` may change with time. Without a control the share stays as it was. */
function speak(link: (ms: number) => Link, seconds: number, control?: LinkControl, seed = 3): Figures {
  const fates = new Fates({}, randomFrom(seed));
  const redundancy = new RedundancySwitch();
  let share: LinkShare = control?.share ?? { bitsPerSecond: Infinity, packetMs: 20 };
  let [freeAtMs, reports, inReport, lostInReport, delayMs, reportAtMs] = [0, 0, 0, 0, 0, REPORT_MS];
  let [report, isSpeaking] = [{ reports, recentLoss: 0, rttMs: 2 * PATH_MS }, true];
  const last: { lost: boolean; queueMs: number }[] = [];
  for (let nowMs = 0; nowMs < 1000 * seconds; nowMs += share.packetMs) {
    const { kbits, queueMs: mostMs = 1000, loss = 0, lossRun, pathMs = PATH_MS, isSilent } = link(nowMs);
    if (isSilent !== true && !isSpeaking) {
      control?.begin(nowMs);
      share = control?.update(report, nowMs) ?? share;
    }
    isSpeaking = isSilent !== true;
    fates.impairment = { lossShare: loss, ...(lossRun === undefined ? {} : { lossRun }) };
    const repeated = share.packetMs > 20 || control === undefined ? 0 : redundancy.frames;
    const voiceBits = (Math.min(share.bitsPerSecond, USUAL_BITS) * share.packetMs) / 1000;
    const bits = voiceBits * (1 + repeated) + 8 * OVERHEAD_BYTES;
    const queueMs = Math.max(0, freeAtMs - nowMs);
    const lost = (isSpeaking && fates.next().length === 0) || queueMs > Math.max(mostMs, bits / kbits);
    if (!lost && isSpeaking) freeAtMs = nowMs + queueMs + bits / kbits;
    inReport++;
    if (lost) lostInReport++;
    else delayMs = queueMs;
    if (isSpeaking && nowMs > 1000 * seconds - 10_000) last.push({ lost, queueMs });
    if (nowMs < reportAtMs) continue;
    reportAtMs += REPORT_MS;
    report = { reports: ++reports, recentLoss: lostInReport / inReport, rttMs: 2 * pathMs + delayMs };
    if (isSpeaking) share = control?.update(report, nowMs) ?? share;
    redundancy.reported(report.reports, report.recentLoss);
    [inReport, lostInReport] = [0, 0];
  }
  const loss = last.filter(({ lost }) => lost).length / last.length;
  const queueMs = last.reduce((sum, one) => sum + one.queueMs, 0) / last.length;
  const rttMs = 2 * (PATH_MS + queueMs); // queue of one way only: twice, because the model halves it
  const mos = mosOf(ratingOf({ codec: 'opus', frameMs: share.packetMs, rttMs, jitterMs: 0, loss }));
  return { loss, queueMs, mos, share };
}

function told({ loss, queueMs, mos }: Figures): string {
  return `${(100 * loss).toFixed(0)} % lost, ${queueMs.toFixed(0)} ms, MOS ${mos.toFixed(1)}`;
}

const always = (link: Link) => () => link;

for (const [kbits, before, after, rung] of [
  [48, 3.1, 4.2, 24_000],
  [32, 1.6, 4.1, 16_000],
  [24, 1.6, 4.1, 16_000],
] as const) {
  for (const queueMs of kbits === 24 ? [0, 200] : [0, 200, 1000, 4000]) {
    test(`a link of ${kbits} kbit/s with a queue of ${queueMs} ms: within 30 s the voice fits`, (t) => {
      const link = always({ kbits, queueMs });
      const usual = speak(link, 30);
      const adapted = speak(link, 30, new LinkControl());
      t.diagnostic(`${told(usual)} → ${told(adapted)}`);
      assert.ok(usual.mos < before, `before: ${JSON.stringify(usual)}`);
      assert.ok(adapted.mos > after && adapted.loss === 0 && adapted.queueMs < 50, JSON.stringify(adapted));
      assert.ok(adapted.share.bitsPerSecond <= rung);
    });
  }
}

test('on a wide link, near or far, the sound stays as it is', () => {
  for (const pathMs of [1, 20, 60, 120, 150]) {
    const { share, loss } = speak(always({ kbits: 1000, pathMs }), 120, new LinkControl());
    assert.deepEqual([share.bitsPerSecond, share.packetMs, loss], [Infinity, 20, 0]);
  }
});

test('a path by satellite is told apart from a queue after some reports', () => {
  const { share } = speak(always({ kbits: 1000, pathMs: 300 }), 120, new LinkControl());
  assert.equal(share.bitsPerSecond, Infinity);
});

test('loss by chance leaves the bit rate as it is, even much of it', () => {
  for (const loss of [0.01, 0.05, 0.1, 0.15, 0.3, 0.5]) {
    for (const pathMs of [20, 130]) {
      const { share } = speak(always({ kbits: 1000, loss, pathMs }), 60, new LinkControl());
      assert.equal(share.bitsPerSecond, Infinity, `${loss} ${pathMs}`);
    }
  }
});

test('loss in bursts on a wide link takes no bits for long', () => {
  for (const [loss, lossRun] of [
    [0.03, 2],
    [0.05, 3],
    [0.1, 3],
    [0.15, 5],
  ] as const) {
    const { share } = speak(always({ kbits: 1000, loss, lossRun }), 180, new LinkControl());
    assert.equal(share.bitsPerSecond, Infinity, `${loss} ${lossRun}`);
  }
});

test('the full queue of a thin link is not taken for a long path that loses packets', () => {
  const control = new LinkControl();
  for (let reports = 1; reports < 12; reports++)
    control.update({ reports, recentLoss: reports < 3 ? 0.15 : 0.7, rttMs: 360 }, 5000 * reports);
  assert.deepEqual(control.share, { bitsPerSecond: 12_000, packetMs: 80 });
});

test('a step up that fails is taken back with the next report', () => {
  const control = new LinkControl();
  const report = (reports: number, rttMs: number) =>
    control.update({ reports, recentLoss: 0, rttMs }, 5000 * reports).packetMs;
  assert.deepEqual([report(1, 60), report(2, 400), report(3, 60)], [20, 40, 40]);
  for (let reports = 4; reports < 16; reports++) assert.equal(report(reports, 60), 40);
  assert.deepEqual([report(16, 60), report(17, 300)], [20, 40]);
});

test('heavy loss leads at once to the bits that have passed', () => {
  for (const [loss, bits, ms] of [
    [0.4, 16_000, 60],
    [0.6, 12_000, 60],
    [0.7, 12_000, 80],
    [1, 12_000, 80],
  ] as const) {
    const share = new LinkControl().update({ reports: 1, recentLoss: loss, rttMs: null }, 5000);
    assert.deepEqual([share.bitsPerSecond, share.packetMs], [bits, ms], `${loss}`);
  }
});

test('a link that becomes wide gets its sound back, one step after the other', () => {
  const control = new LinkControl();
  const link = (ms: number) => ({ kbits: ms < 60_000 ? 32 : 1000 });
  assert.equal(speak(link, 60, control).share.bitsPerSecond, 16_000);
  assert.equal(speak(link, 260, new LinkControl()).share.bitsPerSecond, Infinity);
});

/** Notes when it steps up, in milliseconds. */
class NotedControl extends LinkControl {
  readonly stepsMs: number[] = [];

  override update(...[report, nowMs]: Parameters<LinkControl['update']>): LinkShare {
    const before = this.share.bitsPerSecond;
    const share = super.update(report, nowMs);
    if (share.bitsPerSecond > before) this.stepsMs.push(nowMs);
    return share;
  }
}

test('a thin link is probed ever more rarely, and the voice is heard well most of the time', () => {
  const control = new NotedControl();
  speak(always({ kbits: 32 }), 600, control);
  const steps = control.stepsMs.length;
  assert.ok(steps >= 1 && steps <= 3, `${steps} steps up in ten minutes`);
});

test('short answers with long pauses probe a thin link as rarely, counted in spoken time', (t) => {
  const control = new NotedControl();
  const link = (ms: number) => ({ kbits: 32, isSilent: ms % 29_000 >= 4000 });
  speak(link, 4 * 3600, control);
  const minutes = control.stepsMs.map((ms) => Math.round(ms / 60_000));
  t.diagnostic(`steps up in minutes ${minutes.join(', ')}`);
  assert.ok(minutes.filter((minute) => minute <= 60).length === 1, minutes.join());
  const [first = NaN, second = NaN, third = NaN] = minutes;
  assert.ok(third - second > 1.5 * (second - first), minutes.join());
});

test('two reports of heavy loss are not in a row if one without loss, which is not judged, is between them', () => {
  const control = new LinkControl();
  const report = (reports: number, recentLoss: number, rttMs: number) =>
    control.update({ reports, recentLoss, rttMs }, 5000 * reports).packetMs;
  assert.deepEqual([report(1, 0, 60), report(2, 0.3, 200)], [20, 40]);
  assert.deepEqual([report(3, 0, 60), report(4, 0.3, 60)], [40, 40]);
  assert.equal(report(5, 0.3, 60), 60);
});

test('a heavy loss that was wrongly taken for the path is tried again, ever more rarely', () => {
  const control = new LinkControl();
  control.begin(0);
  const packets: number[] = [];
  // Each report after a step down comes late, and tells of the time before.
  for (let n = 1; n <= 17; n++) {
    const { packetMs } = control.update({ reports: n, recentLoss: 0.7, rttMs: 60 }, 5000 * n);
    packets.push(packetMs);
  }
  // Down at 5 s, back at 15 s; down 10 s later; back; and then 20 s later.
  assert.deepEqual(packets, [80, 80, 20, 20, 80, 80, 20, 20, 20, 20, 80, 80, 20, 20, 20, 20, 20]);
});

test('a report that was read before, or none, changes nothing; without a round trip only heavy loss counts', () => {
  const control = new LinkControl();
  assert.equal(control.update(undefined, 0).packetMs, 20);
  assert.equal(control.update({ reports: 1, recentLoss: 0.1, rttMs: null }, 5000).packetMs, 20);
  assert.equal(control.update({ reports: 1, recentLoss: 0.9, rttMs: null }, 6000).packetMs, 20);
  assert.equal(control.update({ reports: 2, recentLoss: 0.9, rttMs: null }, 10_000).packetMs, 80);
});
