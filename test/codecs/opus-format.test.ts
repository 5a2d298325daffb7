import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../fakes/properties.js';
import { OPUS_SPEECH, OpusFrameEncoder } from '../../src/codecs/opus.js';
import {
  type OpusLimits,
  opusFrameMs,
  opusLimits,
  type OpusParameters,
  readOpusParameters,
  withinLimits,
  writeOpusParameters,
} from '../../src/codecs/opus-format.js';

const DEFAULTS: OpusParameters = {
  useInbandFec: false,
  useDtx: false,
  stereo: false,
  constantBitrate: false,
  maxPlaybackRate: 48_000,
  maxAverageBitrate: undefined,
  spropMaxCaptureRate: 48_000,
  spropStereo: false,
};

const READ: readonly (readonly [string | undefined, Partial<OpusParameters>])[] = [
  [undefined, {}],
  ['', {}],
  ['minptime=10;useinbandfec=1', { useInbandFec: true }], // Chromium
  ['maxplaybackrate=48000;stereo=1;useinbandfec=1', { stereo: true, useInbandFec: true }], // Firefox
  [' MaxPlaybackRate = 16000 ; USEINBANDFEC=1;', { maxPlaybackRate: 16_000, useInbandFec: true }],
  [
    'maxaveragebitrate=20000;usedtx=1;cbr=1',
    { maxAverageBitrate: 20_000, useDtx: true, constantBitrate: true },
  ],
  ['sprop-maxcapturerate=8000;sprop-stereo=1', { spropMaxCaptureRate: 8000, spropStereo: true }],
  ['maxaveragebitrate=6000', { maxAverageBitrate: 6000 }],
  ['maxaveragebitrate=510000', { maxAverageBitrate: 510_000 }],
  // Out of range, malformed or unknown: as if absent.
  ['maxaveragebitrate=5999;maxplaybackrate=7999', {}],
  ['maxaveragebitrate=510001;maxplaybackrate=48001;sprop-maxcapturerate=96000', {}],
  ['maxaveragebitrate=-1;maxplaybackrate=1e4;stereo=true;cbr=yes;usedtx=2;useinbandfec=01', {}],
  ['maxaveragebitrate;stereo;=1;;; ;useinbandfec==1;x-unknown=1', {}],
  ['useinbandfec=1;useinbandfec=0', { useInbandFec: true }], // the first counts
  [`${'a=1;'.repeat(64)}usedtx=1`, {}], // beyond the 64 that are read
];

for (const [text, expected] of READ) {
  test(`parameters are read from ${JSON.stringify(text?.slice(0, 80))}`, () => {
    assert.deepEqual(readOpusParameters(text), { ...DEFAULTS, ...expected });
  });
}

test('what is written is read as it was meant, and only what was stated is written', () => {
  assert.equal(writeOpusParameters({}), '');
  assert.equal(
    writeOpusParameters({ useInbandFec: true, stereo: false, maxAverageBitrate: 24_000 }),
    'maxaveragebitrate=24000;stereo=0;useinbandfec=1',
  );
  const all = fc.record({
    useInbandFec: fc.boolean(),
    useDtx: fc.boolean(),
    stereo: fc.boolean(),
    constantBitrate: fc.boolean(),
    maxPlaybackRate: fc.integer({ min: 8000, max: 48_000 }),
    maxAverageBitrate: fc.option(fc.integer({ min: 6000, max: 510_000 }), { nil: undefined }),
    spropMaxCaptureRate: fc.integer({ min: 8000, max: 48_000 }),
    spropStereo: fc.boolean(),
  });
  fc.assert(
    fc.property(all, (ours) => assert.deepEqual(readOpusParameters(writeOpusParameters(ours)), { ...ours })),
  );
});

test('no text makes the reader fail, and every result makes an encoder', () => {
  const piece = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.constantFrom('useinbandfec', 'usedtx', 'cbr', 'maxplaybackrate', 'maxaveragebitrate', '=', ';', ' '),
    fc.integer({ min: -1, max: 600_000 }).map(String),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 0, max: 100 }), (pieces, loss) => {
      const limits = opusLimits(readOpusParameters(pieces.join('')));
      const settings = withinLimits(OPUS_SPEECH, limits, loss);
      assert.ok(settings.bitsPerSecond >= 6000 && settings.bitsPerSecond <= OPUS_SPEECH.bitsPerSecond);
      assert.ok(new OpusFrameEncoder(20, settings).encode(new Float32Array(960)).length > 0);
    }),
    { numRuns: 200 },
  );
});

test('a text of megabytes is read as fast as its first parameters', () => {
  const began = process.hrtime.bigint();
  assert.deepEqual(readOpusParameters(`usedtx=1;${'x=1;'.repeat(1_000_000)}`), { ...DEFAULTS, useDtx: true });
  assert.ok(Number(process.hrtime.bigint() - began) < 100e6);
});

test('the usual offer of a browser changes no setting, so that its calls share the usual cached frames', () => {
  const limits = opusLimits(readOpusParameters('minptime=10;useinbandfec=1'));
  assert.deepEqual(withinLimits(OPUS_SPEECH, limits), OPUS_SPEECH);
  assert.deepEqual(withinLimits(OPUS_SPEECH, undefined, 10), OPUS_SPEECH);
});

const LIMITED: readonly (readonly [string, number, Partial<typeof OPUS_SPEECH>])[] = [
  ['maxaveragebitrate=16000', 0, { bitsPerSecond: 16_000 }],
  ['maxaveragebitrate=64000', 0, {}],
  ['maxplaybackrate=8000', 0, { bitsPerSecond: 12_000, maxPlaybackRate: 8000 }],
  ['maxplaybackrate=16000', 0, { bitsPerSecond: 20_000, maxPlaybackRate: 16_000 }],
  ['maxplaybackrate=16000;maxaveragebitrate=30000', 0, { bitsPerSecond: 30_000, maxPlaybackRate: 16_000 }],
  ['maxplaybackrate=24000', 0, { bitsPerSecond: 28_000, maxPlaybackRate: 24_000 }],
  ['cbr=1', 0, { constantBitrate: true }],
  ['usedtx=1', 0, {}], // the pauses of the stream, not the frames of speech
  ['useinbandfec=1', 6, { inBandFec: true, expectedLossPercent: 6 }],
  ['useinbandfec=0', 6, {}],
  ['useinbandfec=1;maxaveragebitrate=16000', 6, { bitsPerSecond: 16_000 }], // too few bits for copies
];

for (const [fmtp, loss, changes] of LIMITED) {
  test(`with ${fmtp} and ${loss} % of loss, the encoder has ${JSON.stringify(changes)}`, () => {
    const limits: OpusLimits = opusLimits(readOpusParameters(fmtp));
    assert.deepEqual(withinLimits(OPUS_SPEECH, limits, loss), { ...OPUS_SPEECH, ...changes });
    assert.equal(limits.dtx, fmtp === 'usedtx=1');
  });
}

test('the frame length is the longest within both packet times, and 20 ms by default', () => {
  for (const [ptime, maxptime, ms] of [
    [undefined, undefined, 20],
    ['20', undefined, 20],
    ['20.0', '120', 20],
    ['10', undefined, 10],
    ['30', undefined, 20],
    ['40', '60', 40],
    ['60', undefined, 60],
    ['120', undefined, 60],
    ['60', '50', 40],
    [undefined, '10', 10],
    [undefined, '60', 20],
    ['3', undefined, 10],
    ['0', '0', 20],
    ['-20', 'x', 20],
    ['99999', undefined, 20],
  ] as const) {
    assert.equal(opusFrameMs(ptime, maxptime), ms, `${ptime} ${maxptime}`);
  }
});
