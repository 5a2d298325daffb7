import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ErrorCorrection } from '../../src/call/error-correction.js';
import type { MediaPort } from '../../src/call/call-route.js';
import { OPUS } from '../../src/codecs/codec.js';
import { opusLimits, readOpusParameters } from '../../src/codecs/opus-format.js';
import type { RemoteReception } from '../../src/media/quality.js';
import { FrameCache } from '../../src/speaking/frame-cache.js';
import { type CallUnderTest, openCalls } from '../fakes/call-under-test.js';
import { buzz, ScriptedEngine } from '../fakes/engines.js';
import { until } from '../fakes/until.js';

/** Returns the expected loss after each report; one comes every 5 s. */
function expectedAfter(correction: ErrorCorrection, losses: readonly number[], fromReport = 0): number[] {
  return losses.map((recentLoss, n) => {
    const reports = fromReport + n + 1;
    return correction.update({ reports, recentLoss }, 5000 * reports);
  });
}

test('a far end that loses 1 % or more gets error correction, with the loss rounded up to a level', () => {
  for (const [loss, expected] of [
    [0, 0],
    [0.009, 0],
    [0.011, 6],
    [0.05, 6],
    [0.08, 10],
    [0.12, 15],
    [1, 15],
  ] as const) {
    const steady = Array.from({ length: 10 }, () => loss);
    assert.equal(expectedAfter(new ErrorCorrection(), steady).at(-1), expected, `${loss}`);
  }
});

test('5 % in the first report is enough, one lost packet among 250 is not', () => {
  assert.deepEqual(expectedAfter(new ErrorCorrection(), [0.05]), [6]);
  assert.deepEqual(expectedAfter(new ErrorCorrection(), [0.004, 0, 0.004]), [0, 0, 0]);
  assert.equal(new ErrorCorrection().update(undefined, 0), 0);
});

test('error correction ends after 20 s below 0.5 %, and 0.5 to 1 % keep it', () => {
  const correction = new ErrorCorrection();
  expectedAfter(correction, [0.03, 0.03]);
  assert.deepEqual(
    new Set(
      expectedAfter(
        correction,
        Array.from({ length: 20 }, () => 0.007),
        2,
      ),
    ),
    new Set([6]),
  );
  const after = expectedAfter(correction, [0, 0, 0, 0, 0, 0, 0, 0], 22);
  // The smoothed loss is below 0.5 % from the first report on.
  assert.deepEqual(after, [6, 6, 6, 6, 0, 0, 0, 0]);
});

test('a report that was read before changes nothing, but time passes', () => {
  const correction = new ErrorCorrection();
  correction.update({ reports: 1, recentLoss: 0.05 }, 5000);
  const later = [6000, 7000, 60_000].map((atMs) => correction.update({ reports: 1, recentLoss: 0.05 }, atMs));
  assert.deepEqual(later, [6, 6, 6]);
});

const calls = openCalls();

function reception(reports: number, recentLoss: number): RemoteReception {
  return { reports, recentLoss, loss: recentLoss, jitterMs: 3, rttMs: 20, mos: 4 };
}

/** An Opus call whose far end states these format parameters; `port.remote` is set by the test. */
function openOpus(fmtp: string, frames?: FrameCache, engine = new ScriptedEngine()) {
  const under = calls.open(frames, { codec: OPUS, engine });
  const port = under.port as { -readonly [Key in keyof MediaPort]: MediaPort[Key] };
  port.encoding = opusLimits(readOpusParameters(fmtp));
  return { ...under, port };
}

function engineSaying(...sentences: readonly string[]): ScriptedEngine {
  const engine = new ScriptedEngine();
  for (const sentence of sentences) engine.sounds.set(sentence, buzz(400, 0.5));
  return engine;
}

/** The payloads that leave for a text, from its first packet to its last. */
async function payloadsOf({ call, pass, sent }: CallUnderTest, text: string): Promise<Uint8Array[]> {
  sent();
  const utterance = call.speak(text);
  await utterance.pushed;
  pass(2000);
  await utterance.ended;
  return sent()
    .map(({ payload }) => payload)
    .filter(({ length }) => length > 3); // without frames of silence
}

function isSilk(payload: Uint8Array): boolean {
  return (payload[0] ?? 0xff) >> 3 < 16;
}

test('a call begins error correction with the first report of loss, and says so in the log', async () => {
  const under = openOpus('minptime=10;useinbandfec=1', undefined, engineSaying('One.', 'Two.'));
  assert.ok(!(await payloadsOf(under, 'One.')).some(isSilk));
  under.port.remote = () => reception(1, 0.05);
  const corrected = await payloadsOf(under, 'Two.');
  assert.ok(corrected.length > 15 && corrected.every(isSilk));
  assert.ok(under.log.includes('error correction changed {"call":"call-1","expectedLossPercent":6}'));
  assert.equal(under.time.waiting, 0, 'no report is read while nothing is spoken');
});

test('a far end that does not use error correction gets none', async () => {
  const under = openOpus('minptime=10', undefined, engineSaying('One.'));
  under.port.remote = () => reception(1, 0.2);
  assert.ok(!(await payloadsOf(under, 'One.')).some(isSilk));
});

test('error correction begins within a sentence that is being encoded', async () => {
  const engine = new ScriptedEngine();
  engine.sounds.set('A long one.', buzz(6000, 0.5));
  const under = openOpus('useinbandfec=1', undefined, engine);
  const { call, pass, sent, port } = under;
  const utterance = call.speak('A long one.');
  await until(() => port.playout.stats().queuedMs >= 1400); // full: the rest waits in the encoder
  port.remote = () => reception(1, 0.05);
  let [pushed, over] = [false, false];
  void utterance.pushed.then(() => (pushed = true));
  void utterance.ended.then(() => (over = true));
  await until(() => {
    if (pushed || port.playout.stats().queuedMs > 300) pass(20);
    return over;
  });
  const voiced = sent()
    .map(({ payload }) => payload)
    .filter(({ length }) => length > 3);
  const begins = voiced.findIndex(isSilk);
  assert.ok(begins > 50 && begins < 200, `${begins} of ${voiced.length}`);
  assert.ok(voiced.slice(begins).every(isSilk));
});

test('a cached sentence is encoded again with error correction, without the engine, and kept as such', async () => {
  const frames = new FrameCache(1_000_000, calls.encoders.settings);
  const plain = openOpus('useinbandfec=1', frames, engineSaying('Hello.'));
  const before = await payloadsOf(plain, 'Hello.');
  await until(() => frames.figures.entries === 1);
  const lossy = () => {
    const under = openOpus('useinbandfec=1', frames);
    under.port.remote = () => reception(1, 0.05);
    return under;
  };
  const first = lossy();
  const corrected = await payloadsOf(first, 'Hello.');
  assert.deepEqual(first.engine.begun, []);
  assert.ok(corrected.length >= before.length - 1 && corrected.every(isSilk));
  await until(() => frames.figures.entries === 2);
  assert.deepEqual(await payloadsOf(lossy(), 'Hello.'), corrected);
  assert.deepEqual(await payloadsOf(openOpus('useinbandfec=1', frames), 'Hello.'), before);
});

test('the usual offer of a browser shares cached frames; other limits never get them', async () => {
  const frames = new FrameCache(1_000_000, calls.encoders.settings);
  await payloadsOf(openOpus('', frames, engineSaying('Hello.')), 'Hello.');
  await until(() => frames.figures.entries === 1);
  const browser = openOpus('minptime=10;useinbandfec=1', frames);
  await payloadsOf(browser, 'Hello.');
  assert.deepEqual(browser.engine.begun, []);
  for (const fmtp of ['maxaveragebitrate=16000', 'maxplaybackrate=16000', 'cbr=1']) {
    const limited = openOpus(fmtp, frames, engineSaying('Hello.'));
    await payloadsOf(limited, 'Hello.');
    assert.deepEqual(limited.engine.begun, ['Hello.'], fmtp);
  }
  await until(() => frames.figures.entries === 4);
});

test('a call states how the far end receives it, in its figures and in the log', async () => {
  const { call, port, log } = openOpus('useinbandfec=1');
  assert.equal('remote' in call.stats(), false);
  port.remote = () => ({ ...reception(3, 0.05), loss: 0.012_34, jitterMs: 3.21, mos: 4.056 });
  assert.equal(call.stats().remote?.loss, 0.012_34);
  await call.close('hang-up');
  const line = log.find((text) => text.startsWith('call closed'));
  assert.match(line ?? '', /"remoteLoss":0.0123,"remoteJitterMs":3.2,"rttMs":20,"remoteMos":4.06/);
});

test('before the first report a call has error correction, with RED too, and none after one without loss', async () => {
  for (const repeatsFrames of [false, true]) {
    const under = openOpus('useinbandfec=1', undefined, engineSaying('One.', 'Two.'));
    const reports: RemoteReception[] = [];
    Object.assign(under.port, { repeatsFrames });
    under.port.remote = () => reports[0];
    assert.ok((await payloadsOf(under, 'One.')).every(isSilk));
    reports.push(reception(1, 0));
    assert.ok(!(await payloadsOf(under, 'Two.')).some(isSilk));
  }
});

test('a sentence kept before the first report is encoded again for more loss or fewer bits, without the engine', async () => {
  const frames = new FrameCache(1_000_000, calls.encoders.settings);
  const first = openOpus('useinbandfec=1', frames, engineSaying('Hello.'));
  first.port.remote = () => undefined;
  await payloadsOf(first, 'Hello.');
  await until(() => frames.figures.entries === 1);
  for (const report of [reception(1, 0.12), { ...reception(1, 0.1), rttMs: 1200 }]) {
    const later = openOpus('useinbandfec=1', frames);
    later.port.remote = () => report;
    await payloadsOf(later, 'Hello.');
    assert.deepEqual(later.engine.begun, []);
  }
});

test('with RED and losses on a wide link, frames are repeated and not corrected', async () => {
  const under = openOpus('useinbandfec=1', undefined, engineSaying('One.'));
  Object.assign(under.port, { repeatsFrames: true });
  under.port.remote = () => reception(1, 0.05);
  assert.ok(!(await payloadsOf(under, 'One.')).some(isSilk));
});

test('a thin link gets fewer bits and longer packets, from the cache too', async () => {
  const frames = new FrameCache(1_000_000, calls.encoders.settings);
  const usual = await payloadsOf(openOpus('useinbandfec=1', frames, engineSaying('Hello.')), 'Hello.');
  await until(() => frames.figures.entries === 1);
  const thin = openOpus('useinbandfec=1', frames, engineSaying('Goodbye.'));
  const packetsMs: number[] = [];
  thin.port.packetMs = (ms) => void packetsMs.push(ms);
  thin.port.remote = () => ({ ...reception(1, 0.1), rttMs: 1200 });
  const bytes = (payloads: readonly Uint8Array[]) => payloads.reduce((sum, { length }) => sum + length, 0);
  const cached = await payloadsOf(thin, 'Hello.');
  assert.deepEqual([packetsMs, thin.engine.begun], [[60], []]);
  const spoken = await payloadsOf(thin, 'Goodbye.');
  for (const payloads of [cached, spoken]) {
    assert.ok(bytes(payloads) < 0.75 * bytes(usual), `${bytes(payloads)} of ${bytes(usual)} bytes`);
  }
  assert.ok(
    thin.log.some((line) => /share of the link changed.*"bitsPerSecond":16000,"packetMs":60/.test(line)),
  );
  thin.call.moveTo(thin.openPort(OPUS, 20));
  const told = thin.log.filter((line) => line.startsWith('share of the link changed'));
  assert.equal(told.at(-1), 'share of the link changed {"call":"call-1","packetMs":20}');
});
