// Keys that we press, comfort noise that we send, and a stream that goes on in
// the place of another: as the far end sees them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CM_KEYS, contents, GCM_KEYS, holdPlane, parseRtp, START_MS, TELEPHONE, type RtpPacket } from './plane-under-test.js'; // prettier-ignore
import { SrtpReader } from './srtp-reader.js';

const KEY = { event: 5, payloadType: 101, clockRate: 8000, durationMs: 100, pauseMs: 40, volume: 10 };

interface Seen {
  readonly event: number;
  readonly end: boolean;
  readonly volume: number;
  readonly duration: number;
}

function seen({ payload }: RtpPacket): Seen {
  const [event = 0, flags = 0, high = 0, low = 0] = payload;
  return { event, end: flags >= 0x80, volume: flags & 0x3f, duration: high * 256 + low };
}

test('a key is one timestamp with a growing duration and three ends, and the voice goes on behind it', () => {
  const { plane, playout, push, pass } = holdPlane();
  push(1, 1, 4);
  pass(21); // frames 1 and 2
  assert.ok(playout.pressDigit(KEY));
  assert.equal(playout.stats().digitsWaiting, 1);
  const packets = pass(240);
  const keys = packets.filter(({ payloadType }) => payloadType === 101);
  assert.deepEqual(keys.map(seen), [
    { event: 5, end: false, volume: 10, duration: 160 },
    { event: 5, end: false, volume: 10, duration: 320 },
    { event: 5, end: false, volume: 10, duration: 480 },
    { event: 5, end: false, volume: 10, duration: 640 },
    { event: 5, end: true, volume: 10, duration: 800 },
    { event: 5, end: true, volume: 10, duration: 800 },
    { event: 5, end: true, volume: 10, duration: 800 },
  ]);
  assert.deepEqual([...new Set(keys.map(({ timestamp }) => timestamp))], [50_000 + 320]);
  assert.deepEqual(
    keys.map(({ marker }) => marker),
    [true, false, false, false, false, false, false],
  );
  assert.deepEqual(
    packets.map(({ sequence }) => sequence),
    packets.map((_, n) => 1002 + n),
  );
  // Two ticks of pause, then the voice, at the time it would have had.
  const after = packets.slice(keys.length);
  assert.deepEqual(contents(after).slice(0, 4), ['silence', 'silence', 3, 4]);
  assert.deepEqual([after[2]?.marker, after[2]?.timestamp], [true, 50_000 + (2 + 7 + 2) * 160]);
  const { digitsWaiting, underruns } = playout.stats();
  assert.deepEqual({ digitsWaiting, underruns }, { digitsWaiting: 0, underruns: 1 }); // the track never ended
  plane.close();
});

test('keys wait for one another, and no more than 64 of them', () => {
  const { plane, playout, pass } = holdPlane();
  for (let event = 0; event < 64; event++) assert.ok(playout.pressDigit({ ...KEY, event: event % 16 }));
  assert.equal(playout.pressDigit(KEY), false);
  const starts = pass(64 * 180 + 1).filter(({ marker }) => marker);
  assert.deepEqual(
    starts.map((packet) => seen(packet).event),
    Array.from({ length: 64 }, (_, n) => n % 16),
  );
  assert.deepEqual(
    starts.map(({ atMs }) => atMs - START_MS),
    starts.map((_, n) => n * 180), // 5 ticks, 2 more ends, 2 of pause
  );
  plane.close();
});

test('a key without a way out is not begun again, and those behind it wait', () => {
  const { plane, playout, pass } = holdPlane();
  playout.pressDigit(KEY);
  playout.pressDigit({ ...KEY, event: 7 });
  assert.equal(pass(41).length, 3);
  playout.target(null);
  assert.equal(pass(200).length, 0);
  assert.equal(playout.stats().digitsWaiting, 1);
  playout.target({ capture: true });
  assert.deepEqual(
    [
      ...new Set(
        pass(200)
          .filter(({ payloadType }) => payloadType === 101)
          .map((packet) => seen(packet).event),
      ),
    ],
    [7],
  );
  plane.close();
});

test('the duration is told in the clock of the events, and a length that it cannot tell is refused', () => {
  const { plane, playout, pass } = holdPlane();
  playout.pressDigit({ ...KEY, clockRate: 48_000 });
  assert.deepEqual(
    pass(121).map((packet) => seen(packet).duration),
    [960, 1920, 2880, 3840, 4800, 4800, 4800],
  );
  assert.throws(
    () => playout.pressDigit({ ...KEY, clockRate: 48_000, durationMs: 1400 }),
    /durationMs must be from 10 to 1365/,
  );
  assert.throws(() => playout.pressDigit({ ...KEY, durationMs: 9000 }), /durationMs must be from 10 to 8000/);
  assert.throws(() => playout.pressDigit({ ...KEY, event: -1 }), /event must be from 0 to 255/);
  playout.close();
  assert.equal(playout.pressDigit(KEY), false);
  plane.close();
});

test('comfort noise comes once at the start of a pause and then now and then', () => {
  const { plane, push, pass } = holdPlane({ comfortNoise: { payloadType: 13, level: 60, intervalMs: 200 } });
  push(1, 1, 2);
  const packets = pass(501);
  assert.deepEqual(
    packets.map(({ atMs, payloadType, payload }) => [atMs - START_MS, payloadType, payload.length]),
    [
      [0, 0, 160],
      [20, 0, 160],
      [40, 13, 1],
      [240, 13, 1],
      [440, 13, 1],
    ],
  );
  assert.equal(packets[2]?.payload[0], 60);
  assert.deepEqual(
    packets.map(({ sequence }) => sequence),
    [1000, 1001, 1002, 1003, 1004],
  );
  push(1, 3, 1);
  const [voice, noise] = pass(40);
  assert.deepEqual([voice?.marker, voice?.timestamp, noise?.payloadType], [true, 50_000 + 26 * 160, 13]);
  plane.close();
});

for (const keys of [undefined, CM_KEYS, GCM_KEYS]) {
  test(`a stream takes the place of another one without a seam, ${keys?.profile ?? 'in the clear'}`, () => {
    const options = keys === undefined ? {} : { srtp: keys };
    const { plane, playout, push, passRaw } = holdPlane({ ...options, sequence: 65_534 });
    const reader = keys === undefined ? undefined : new SrtpReader(keys);
    const open = (packets: ReturnType<typeof passRaw>, counter: number) =>
      packets.map(({ atMs, data }) => parseRtp({ atMs, data: reader?.rtp(data, counter) ?? data }));
    push(1, 1, 3);
    const raw = passRaw(61);
    const before = [...open(raw.slice(0, 2), 0), ...open(raw.slice(2), 1)];
    const wideband = { payloadType: 9, ticksPerFrame: 240, frameMs: 30, silence: new Uint8Array(240) };
    const next = plane.openStream({ ...TELEPHONE, ...options, ...wideband }, playout);
    assert.equal(playout.push(playout.generation, 1, new Uint8Array(160)), -1);
    next.target({ capture: true });
    const after = open(passRaw(90), 1);
    assert.deepEqual([before.at(-1)?.sequence, before.at(-1)?.timestamp], [1, 50_000 + 3 * 160]);
    assert.deepEqual(
      after
        .slice(0, 2)
        .map(({ sequence, timestamp, payloadType, ssrc }) => [sequence, timestamp, payloadType, ssrc]),
      [
        [2, 50_000 + 4 * 160, 9, TELEPHONE.ssrc],
        [3, 50_000 + 4 * 160 + 240, 9, TELEPHONE.ssrc],
      ],
    );
    assert.equal(next.stats().packets, before.length + after.length);
    assert.throws(() => plane.openStream({ ...TELEPHONE, ssrc: 1 }, next), /ssrc must be that of the stream/);
    plane.close();
  });
}
