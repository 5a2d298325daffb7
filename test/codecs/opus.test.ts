import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { OPUS_SPEECH, OpusFrameEncoder, type OpusSettings } from '../../src/codecs/opus.js';
import { fitTone, noise, tone, voiceLike } from '../audio/tones.js';

// Straight from the package: the tests also need its decoder, which the product does not.
const { OpusEncoder: Package } = createRequire(import.meta.url)('@discordjs/opus') as {
  OpusEncoder: new (
    rate: number,
    channels: number,
  ) => {
    decode(payload: Buffer): Buffer;
    encode(samples: Buffer): Buffer;
    applyEncoderCTL(request: number, value: number): void;
    setBitrate(bitsPerSecond: number): void;
  };
};

const FRAMES_MS = [2.5, 5, 10, 20, 40, 60];
const FRAME = 960;

function voice(samples: number): Float32Array {
  return voiceLike(48_000, samples / 48_000);
}

function encodeAll(encoder: OpusFrameEncoder, sound: Float32Array): Buffer[] {
  const payloads: Buffer[] = [];
  for (let at = 0; at + encoder.frameSamples <= sound.length; at += encoder.frameSamples) {
    payloads.push(Buffer.from(encoder.encode(sound.slice(at, at + encoder.frameSamples))));
  }
  return payloads;
}

function encoded(settings: Partial<OpusSettings>, sound = voice(50 * FRAME)): Buffer[] {
  return encodeAll(new OpusFrameEncoder(20, { ...OPUS_SPEECH, ...settings }), sound);
}

function bytesOf(payloads: readonly Buffer[]): number {
  return payloads.reduce((sum, payload) => sum + payload.length, 0);
}

test('a frame of any wrong length is refused and the process lives', () => {
  for (const frameMs of FRAMES_MS) {
    const encoder = new OpusFrameEncoder(frameMs);
    for (let length = 0; length <= 6000; length++) {
      if (length === encoder.frameSamples) continue;
      assert.throws(() => encoder.encode(new Float32Array(length)), { code: 'WRONG_STATE' });
    }
    assert.ok(encoder.encode(new Float32Array(encoder.frameSamples)).length > 0);
  }
});

test('input other than a Float32Array is refused, even with the right length', () => {
  const encoder = new OpusFrameEncoder(20);
  const wrong: unknown[] = [
    new Int16Array(FRAME),
    Buffer.alloc(FRAME),
    { length: FRAME },
    Array.from({ length: FRAME }, () => 0),
    undefined,
    null,
    structuredClone(new Float32Array(FRAME).buffer),
  ];
  for (const frame of wrong) {
    assert.throws(() => encoder.encode(frame as Float32Array), { code: 'WRONG_STATE' });
  }
});

test('a frame whose memory was given away is refused', () => {
  const encoder = new OpusFrameEncoder(20);
  const frame = new Float32Array(FRAME);
  structuredClone(frame.buffer, { transfer: [frame.buffer] });
  assert.throws(() => encoder.encode(frame), { code: 'WRONG_STATE' });
});

test('samples that are no numbers, or far too loud, are encoded as something', () => {
  const encoder = new OpusFrameEncoder(20);
  for (const value of [NaN, Infinity, -Infinity, 1e30]) {
    assert.ok(encoder.encode(new Float32Array(FRAME).fill(value)).length > 0);
  }
});

test('frame lengths and settings outside the allowed ones are refused by name', () => {
  for (const frameMs of [0, 1, 3, 15, 30, 80, 100, 120, 20.5, -20, NaN, Infinity]) {
    assert.throws(() => new OpusFrameEncoder(frameMs), { code: 'INVALID_FIELD', field: 'frameMs' });
  }
  const wrong: Partial<OpusSettings>[] = [
    { complexity: 11 },
    { complexity: -1 },
    { complexity: 5.5 },
    { bitsPerSecond: 500 },
    { bitsPerSecond: 1e6 },
    { expectedLossPercent: 101 },
  ];
  for (const settings of wrong) {
    const field = Object.keys(settings)[0];
    assert.throws(() => new OpusFrameEncoder(20, { ...OPUS_SPEECH, ...settings }), {
      code: 'INVALID_FIELD',
      field,
    });
  }
});

test('the length a payload states is the length chosen', () => {
  // Durations of the 32 configurations, in ms (RFC 6716, table 2), times the frames the code bits say.
  const CONFIG_MS = [
    ...Array.from({ length: 12 }, (_, n) => [10, 20, 40, 60][n % 4] as number),
    ...Array.from({ length: 4 }, (_, n) => [10, 20][n % 2] as number),
    ...Array.from({ length: 16 }, (_, n) => [2.5, 5, 10, 20][n % 4] as number),
  ];
  for (const frameMs of FRAMES_MS) {
    const encoder = new OpusFrameEncoder(frameMs);
    for (const payload of encodeAll(encoder, voice(encoder.frameSamples * 10))) {
      const toc = payload[0] as number;
      const frames = [1, 2, 2, (payload[1] as number) & 0x3f][toc & 3] as number;
      assert.equal((CONFIG_MS[toc >> 3] as number) * frames, frameMs);
    }
  }
});

test('a reset encoder gives the bytes of a new one', () => {
  const sound = voice(50 * FRAME);
  for (const frameMs of FRAMES_MS) {
    for (const settings of [
      OPUS_SPEECH,
      { ...OPUS_SPEECH, complexity: 9, inBandFec: true, expectedLossPercent: 10 },
    ]) {
      const fresh = encodeAll(new OpusFrameEncoder(frameMs, settings), sound);
      const used = new OpusFrameEncoder(frameMs, settings);
      encodeAll(used, noise(33 * FRAME));
      used.reset();
      assert.deepEqual(encodeAll(used, sound), fresh, `${frameMs} ms`);
    }
  }
});

test('without a reset the former sound is in the bytes', () => {
  const sound = voice(10 * FRAME);
  const used = new OpusFrameEncoder(20);
  encodeAll(used, noise(33 * FRAME));
  assert.notDeepEqual(encodeAll(used, sound), encodeAll(new OpusFrameEncoder(20), sound));
});

test('the encoder is the one of its application, with prediction off for the first frame alone', () => {
  const sound = voice(20 * FRAME);
  const byHand = (application: number, unpredicted: (frame: number) => boolean) => {
    const encoder = new Package(48_000, 1);
    encoder.applyEncoderCTL(4000, application);
    encoder.applyEncoderCTL(4010, 5);
    encoder.setBitrate(32_000);
    return Array.from({ length: 20 }, (_, frame) => {
      encoder.applyEncoderCTL(4042, unpredicted(frame) ? 1 : 0);
      const pcm = Int16Array.from(sound.subarray(frame * FRAME, (frame + 1) * FRAME), (x) => {
        const scaled = x * 32_768;
        return scaled < 0 ? Math.ceil(scaled - 0.5) : Math.floor(scaled + 0.5);
      });
      return encoder.encode(Buffer.from(pcm.buffer));
    });
  };
  const VOIP = 2048;
  const AUDIO = 2049;
  const firstOnly = (frame: number) => frame === 0;
  const always = () => true;
  const [voip, audio] = [encoded({ application: 'voip' }, sound), encoded({ application: 'audio' }, sound)];
  assert.deepEqual(voip, byHand(VOIP, firstOnly));
  assert.deepEqual(audio, byHand(AUDIO, firstOnly));
  assert.notDeepEqual(voip, audio);
  assert.notDeepEqual(voip, byHand(VOIP, always));
  assert.notDeepEqual(audio, byHand(AUDIO, always));
});

test('the first frame is coded without prediction where that shows: in CELT', () => {
  const sound = voice(3 * FRAME);
  const first = (reset: boolean) => {
    const encoder = new OpusFrameEncoder(5, { ...OPUS_SPEECH, bitsPerSecond: 96_000 });
    encodeAll(encoder, sound);
    if (reset) encoder.reset();
    return encoder.encode(sound.slice(1000, 1240));
  };
  assert.notDeepEqual(Buffer.from(first(true)), Buffer.from(first(false)));
});

test('complexity, bitrate and error correction each change what is sent', () => {
  const plain = encoded({});
  assert.notDeepEqual(encoded({ complexity: 10 }), plain);
  assert.ok(bytesOf(encoded({ bitsPerSecond: 64_000 })) > 1.5 * bytesOf(plain));
  assert.ok(bytesOf(encoded({ bitsPerSecond: 16_000 })) < 0.7 * bytesOf(plain));
  assert.notDeepEqual(encoded({ inBandFec: true, expectedLossPercent: 20 }), plain);
  assert.deepEqual(
    encoded({ inBandFec: true }),
    plain,
    'error correction is not used where no loss is expected',
  );
});

test('the average rate is the one asked for', () => {
  for (const bitsPerSecond of [16_000, 32_000, 64_000]) {
    const measured = bytesOf(encoded({ bitsPerSecond }, voice(250 * FRAME))) * 8 * (50 / 250);
    assert.ok(
      measured > 0.6 * bitsPerSecond && measured < 1.25 * bitsPerSecond,
      `${bitsPerSecond}: ${measured}`,
    );
  }
});

test('with error correction, packets carry the frame before: the flag of RFC 6716 4.2.3 is set', () => {
  const flagged = (settings: Partial<OpusSettings>) =>
    encoded(settings, voice(100 * FRAME)).filter((payload) => {
      const silkOrHybrid = (payload[0] as number) >> 3 < 16;
      // VAD bit, then the LBRR bit of one 20 ms frame.
      return silkOrHybrid && ((payload[1] as number) & 0x40) !== 0;
    }).length;
  assert.equal(flagged({}), 0);
  assert.ok(flagged({ inBandFec: true, expectedLossPercent: 20 }) > 50);
});

test('digital silence is small, and decodes to at most two steps of 16 bits', () => {
  const payloads = encoded({}, new Float32Array(50 * FRAME));
  const decoder = new Package(48_000, 1);
  for (const payload of payloads) {
    const pcm = decoder.decode(payload);
    assert.equal(pcm.length, FRAME * 2);
    assert.ok(payload.length <= 36, `${payload.length} bytes`);
    for (let at = 0; at < pcm.length; at += 2) assert.ok(Math.abs(pcm.readInt16LE(at)) <= 2);
  }
});

test('a tone comes back as that tone', () => {
  const payloads = encoded({ bitsPerSecond: 64_000 }, tone(440, 48_000, 50 * FRAME));
  const decoder = new Package(48_000, 1);
  const pcm = Buffer.concat(payloads.map((payload) => decoder.decode(payload)));
  const samples = Float32Array.from(
    { length: 20 * FRAME },
    (_, n) => pcm.readInt16LE(2 * (n + 20 * FRAME)) / 32_768,
  );
  const { amplitude, snrDb } = fitTone(samples, 440, 48_000);
  assert.ok(Math.abs(amplitude - 0.5) < 0.03, `amplitude ${amplitude}`);
  assert.ok(snrDb > 20, `${snrDb} dB`);
});

test('the payload of one call is not changed by the next', () => {
  const encoder = new OpusFrameEncoder(20);
  const sound = voice(2 * FRAME);
  const first = encoder.encode(sound.slice(0, FRAME));
  const copy = Buffer.from(first);
  encoder.encode(sound.slice(FRAME));
  assert.deepEqual(Buffer.from(first), copy);
});

test('an encoder that is tuned and reset gives the bytes of a new one with those settings', () => {
  const sound = voice(30 * FRAME);
  const settings: OpusSettings[] = [
    OPUS_SPEECH,
    { ...OPUS_SPEECH, complexity: 1 },
    { ...OPUS_SPEECH, inBandFec: true, expectedLossPercent: 6 },
    { ...OPUS_SPEECH, inBandFec: true, expectedLossPercent: 15, complexity: 3 },
  ];
  for (const frameMs of [10, 20, 40, 60]) {
    for (const from of settings) {
      for (const to of settings) {
        const used = new OpusFrameEncoder(frameMs, from);
        encodeAll(used, sound.subarray(0, 10 * FRAME));
        used.tune(to);
        used.reset();
        const fresh = encodeAll(new OpusFrameEncoder(frameMs, to), sound);
        assert.deepEqual(encodeAll(used, sound), fresh, `${frameMs} ms`);
      }
    }
  }
});

/** True for a packet with a copy of the frame before it: SILK or hybrid with the LBRR flag, in mono. */
function hasCopy(payload: Buffer): boolean {
  return (payload[0] as number) >> 3 < 16 && ((payload[1] as number) & 0x40) !== 0;
}

const CORRECTING = { complexity: 5, inBandFec: true, expectedLossPercent: 6 };

test('error correction begins and ends between two frames, in the application of speech', () => {
  const encoder = new OpusFrameEncoder(20);
  const sound = voice(150 * FRAME);
  const part = (from: number, to: number) => encodeAll(encoder, sound.subarray(from * FRAME, to * FRAME));
  assert.ok(!part(0, 50).some(hasCopy));
  encoder.tune(CORRECTING);
  const corrected = part(50, 100);
  encoder.tune(OPUS_SPEECH);
  const [last, ...after] = part(100, 150) as [Buffer, ...Buffer[]];
  assert.ok(corrected.filter(hasCopy).length > 20, `${corrected.filter(hasCopy).length} of 50`);
  assert.ok((last[0] as number) >> 3 < 16, 'the mode changes behind one more frame of the old one');
  assert.ok(after.every((payload) => (payload[0] as number) >> 3 >= 16));
});

test('1 to 5 % of expected loss bring no copies at 32 kb/s, 6 % do', () => {
  const copies = (expectedLossPercent: number) =>
    encoded({ inBandFec: true, expectedLossPercent }, voice(100 * FRAME)).filter(hasCopy).length;
  assert.deepEqual([1, 5].map(copies), [0, 0]);
  assert.ok(copies(6) > 40, `${copies(6)}`);
});

test('no step is heard where error correction begins or ends', () => {
  const encoder = new OpusFrameEncoder(20, { ...OPUS_SPEECH, bitsPerSecond: 64_000 });
  const sound = tone(440, 48_000, 100 * FRAME);
  const payloads: Buffer[] = [];
  for (let frame = 0; frame < 100; frame++) {
    if (frame === 40) encoder.tune(CORRECTING);
    if (frame === 70) encoder.tune(OPUS_SPEECH);
    payloads.push(Buffer.from(encoder.encode(sound.slice(frame * FRAME, (frame + 1) * FRAME))));
  }
  const decoder = new Package(48_000, 1);
  const pcm = Buffer.concat(payloads.map((payload) => decoder.decode(payload)));
  const at = (n: number) => pcm.readInt16LE(2 * n) / 32_768;
  // The curvature of a 440 Hz tone is at most amplitude * (2 pi f / rate)^2; a step would exceed it by far.
  const steady = 0.5 * (2 * Math.PI * (440 / 48_000)) ** 2;
  for (const joint of [40, 70]) {
    for (let n = (joint - 2) * FRAME; n < (joint + 4) * FRAME; n++) {
      const curvature = Math.abs(at(n + 1) - 2 * at(n) + at(n - 1));
      assert.ok(curvature < 6 * steady, `${curvature} at frame ${n / FRAME}`);
    }
    const loud = (frame: number) => {
      let sum = 0;
      for (let n = frame * FRAME; n < (frame + 1) * FRAME; n++) sum += at(n) ** 2;
      return 10 * Math.log10(sum / FRAME);
    };
    for (let frame = joint - 1; frame < joint + 3; frame++) {
      assert.ok(Math.abs(loud(frame) - loud(20)) < 1.5, `${loud(frame)} dB in frame ${frame}`);
    }
  }
});

test('the highest playback rate bounds the bandwidth of the frames', () => {
  const SUPER_WIDE = 24_000;
  const bandwidths = (maxPlaybackRate: number) =>
    new Set(encoded({ maxPlaybackRate }).map((payload) => bandwidthOf((payload[0] as number) >> 3)));
  for (const [maxPlaybackRate, most] of [
    [8000, 8000],
    [16_000, 16_000],
    [SUPER_WIDE, SUPER_WIDE],
    [44_100, 48_000],
  ] as const) {
    assert.ok(Math.max(...bandwidths(maxPlaybackRate)) <= most, `${maxPlaybackRate}`);
  }
});

/** Hz of a configuration's sampling rate (RFC 6716, table 2). */
function bandwidthOf(config: number): number {
  if (config < 12) return [8000, 12_000, 16_000][Math.floor(config / 4)] as number;
  if (config < 16) return config < 14 ? 24_000 : 48_000;
  return [8000, 16_000, 24_000, 48_000][Math.floor((config - 16) / 4)] as number;
}

test('a constant bit rate makes frames of one length', () => {
  const lengths = new Set(encoded({ constantBitrate: true }).map(({ length }) => length));
  assert.deepEqual([...lengths], [80]);
});

test('an encoder of two channels at 16 kHz takes interleaved frames, and marks its packets as stereo', () => {
  const encoder = new OpusFrameEncoder(20, OPUS_SPEECH, { sampleRate: 16_000, channels: 2 });
  assert.equal(encoder.frameSamples, 640);
  const frame = Float32Array.from({ length: 640 }, (_, n) => (n % 2 === 0 ? Math.sin(n / 5) / 2 : 0));
  const decoder = new Package(48_000, 2);
  let [left, right] = [0, 0];
  for (let n = 0; n < 10; n++) {
    const payload = Buffer.from(encoder.encode(frame));
    assert.equal((payload[0] as number) & 4, 4, 'the stereo bit of the TOC byte');
    const pcm = decoder.decode(payload);
    assert.equal(pcm.length, 4 * FRAME);
    for (let at = 0; at < pcm.length; at += 4) {
      left += Math.abs(pcm.readInt16LE(at));
      right += Math.abs(pcm.readInt16LE(at + 2));
    }
  }
  assert.ok(left > 50 * right, `${left} on the left, ${right} on the right`);
  assert.throws(() => encoder.encode(new Float32Array(320)), { code: 'WRONG_STATE' });
});
