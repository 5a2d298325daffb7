// Every container, made by an encoder session, read by ffmpeg.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { AAC_RATES_HZ } from '../../src/codecs/aac.js';
import { BytesSink } from '../../src/encoding/frame-sink.js';
import type { Container, ContainerName } from '../../src/codecs/container.js';
import { MP3_RATES_HZ } from '../../src/codecs/mp3.js';
import { tone, voiceLike } from '../audio/tones.js';
import { decoded, decodedFromDisk, probed, type Probed } from '../fakes/ffmpeg.js';
import {
  bytesSession,
  containerOf,
  loud,
  MemoryRing,
  RecordingBytes,
  TestSession,
} from '../encoding/encoder-fakes.js';

const ENGINE_HZ = 16_000;
const RATES_HZ = [8000, 16_000, 24_000, 48_000];
const SPEEDS = [0.5, 1, 2];
const NO_TRIM = { thresholdDb: -200 };

interface Kind {
  readonly name: ContainerName;
  readonly rates: readonly number[];
  /** ffmpeg arguments that describe raw bytes. */
  readonly raw?: (rate: number) => readonly string[];
  readonly probe?: Omit<Probed, 'rate' | 'channels'>;
  /** Sample rate of the decoded sound in Hz, if it differs from the requested rate. */
  readonly decodedHz?: number;
  /** Milliseconds that a decoder may give beyond the sound; 0 where the format says exactly where it ends. */
  readonly beyondMs: number;
}

const rawFormat = (format: string) => (rate: number) => ['-f', format, '-ar', String(rate), '-ac', '1'];

const KINDS: readonly Kind[] = [
  { name: 'pcm', rates: RATES_HZ, raw: rawFormat('s16le'), beyondMs: 0 },
  { name: 'ulaw', rates: [8000], raw: rawFormat('mulaw'), beyondMs: 0 },
  { name: 'alaw', rates: [8000], raw: rawFormat('alaw'), beyondMs: 0 },
  { name: 'wav', rates: RATES_HZ, probe: { format: 'wav', codec: 'pcm_s16le' }, beyondMs: 0 },
  {
    name: 'flac',
    rates: [...RATES_HZ, 11_025, 37_775],
    probe: { format: 'flac', codec: 'flac' },
    beyondMs: 0,
  },
  // LAME's delay before the sound, the decoder's, and the last frame filled up.
  {
    name: 'mp3',
    rates: [...RATES_HZ, 22_050, 44_100],
    probe: { format: 'mp3', codec: 'mp3' },
    beyondMs: 380,
  },
  // A frame before the sound, and the last one filled up.
  {
    name: 'aac',
    rates: AAC_RATES_HZ,
    probe: { format: 'aac', codec: 'aac' },
    beyondMs: 256,
  },
  { name: 'ogg', rates: RATES_HZ, probe: { format: 'ogg', codec: 'opus' }, decodedHz: 48_000, beyondMs: 0 },
];

/** The file that a session makes of the segments, read `room` bytes at a time. */
function fileOf(name: ContainerName, rate: number, segments: readonly Float32Array[], speed = 1): Uint8Array {
  return bytesOf(containerOf(name, rate), segments, speed);
}

/** The same as a whole file, whose header is known at the end. */
function wholeFileOf(name: ContainerName, rate: number, segments: readonly Float32Array[]): Uint8Array {
  const container = containerOf(name, rate);
  const stream = bytesOf(container, segments);
  const { replaced, bytes } = container.fileHeader() ?? { replaced: 0, bytes: new Uint8Array(0) };
  return Buffer.concat([bytes, stream.subarray(replaced)]);
}

function bytesOf(container: Container, segments: readonly Float32Array[], speed = 1): Uint8Array {
  const ring = new RecordingBytes(0);
  const session = new TestSession(new BytesSink(ring, container), NO_TRIM, speed);
  for (const segment of segments) session.segment(MemoryRing.of(segment), ENGINE_HZ);
  session.pipeline.end();
  while (session.run() === 'waiting') ring.give(1000);
  assert.equal(ring.ended, '');
  assert.equal(session.reports.at(-1), 'ended');
  return Uint8Array.from(ring.bytes);
}

/** Hz, by the rises through zero in the middle of the sound. */
function pitch(sound: Float32Array, rate: number): number {
  const middle = sound.subarray(Math.floor(sound.length / 4), Math.floor((3 * sound.length) / 4));
  let rises = 0;
  for (let i = 1; i < middle.length; i++) {
    if ((middle[i - 1] as number) < 0 && (middle[i] as number) >= 0) rises++;
  }
  return (rises * rate) / middle.length;
}

for (const { name, rates, raw, probe, decodedHz, beyondMs } of KINDS) {
  test(`${name} decodes to the sound, as long as it should be, at every rate and speed`, () => {
    for (const rate of rates) {
      for (const speed of SPEEDS) {
        const file = fileOf(name, rate, [tone(440, ENGINE_HZ, ENGINE_HZ)], speed);
        const heardHz = decodedHz ?? rate;
        if (probe !== undefined) assert.deepEqual(probed(file), { ...probe, rate: heardHz, channels: 1 });
        const sound = decoded(file, raw?.(rate));
        const where = `${name} at ${rate} Hz, speed ${speed}`;
        const beyond = sound.length - Math.round(heardHz / speed);
        assert.ok(
          beyond >= 0 && beyond <= (beyondMs * heardHz) / 1000,
          `${beyond} samples too many: ${where}`,
        );
        const hz = pitch(sound, heardHz);
        assert.ok(Math.abs(hz / 440 - 1) < 0.02, `${hz} Hz: ${where}`);
      }
    }
  });
}

test('FLAC is the PCM to the last bit, tone or noise or neither, and smaller where it can be', () => {
  const sounds: [string, Float32Array, number][] = [
    ['tone', tone(440, ENGINE_HZ, 20_000), 0.6],
    ['noise', loud(20_001), 1.02],
    ['full scale', loud(5000).map((value) => Math.sign(value) * 2), 1.02],
    ['one value', new Float32Array(16_000).fill(-0.5), 0.6],
    ['one sample', Float32Array.of(0.25), 40],
  ];
  for (const [what, sound, most] of sounds) {
    for (const rate of [ENGINE_HZ, 44_100]) {
      const pcm = fileOf('pcm', rate, [sound]);
      const flac = fileOf('flac', rate, [sound]);
      const heard = decoded(flac);
      const samples = new DataView(pcm.buffer);
      assert.equal(heard.length, pcm.length / 2);
      heard.forEach((value, n) => assert.equal(value * 32_768, samples.getInt16(2 * n, true)));
      assert.ok(flac.length < most * pcm.length + 60, `${flac.length} of ${pcm.length} bytes: ${what}`);
    }
  }
});

test('a whole FLAC states samples, frame sizes and checksum; a stream leaves them unknown', () => {
  for (const [rate, count] of [
    [8000, 1],
    [24_000, 12_345],
    [48_000, 16_000],
  ] as const) {
    const sound = [voiceLike(ENGINE_HZ, count / ENGINE_HZ)];
    const pcm = fileOf('pcm', rate, sound);
    const stream = Buffer.from(fileOf('flac', rate, sound));
    const whole = Buffer.from(wholeFileOf('flac', rate, sound));
    assert.ok(
      stream.subarray(12, 18).every((byte) => byte === 0) &&
        stream.subarray(22, 42).every((byte) => byte === 0),
    );
    assert.deepEqual(whole.subarray(42), stream.subarray(42));
    const sizes = flacFrameBytes(rate, sound);
    assert.deepEqual(
      [whole.readUIntBE(12, 3), whole.readUIntBE(15, 3)],
      [Math.min(...sizes), Math.max(...sizes)],
    );
    assert.equal(whole.readUIntBE(21, 5) % 2 ** 36, pcm.length / 2);
    assert.equal(whole.subarray(26, 42).toString('hex'), createHash('md5').update(pcm).digest('hex'));
    assert.deepEqual(decoded(whole), decoded(stream));
  }
});

/** Bytes of each frame that the encoder makes. */
function flacFrameBytes(rate: number, segments: readonly Float32Array[]): number[] {
  const container = containerOf('flac', rate);
  const encode = container.encode.bind(container);
  const sizes: number[] = [];
  container.encode = (frame, count) => {
    const bytes = encode(frame, count);
    sizes.push(bytes.length);
    return bytes;
  };
  bytesOf(container, segments);
  return sizes;
}

test('a whole file of every format but AAC decodes to exactly the sound, from its first sample to its last', () => {
  for (const { name, rates, raw, decodedHz } of KINDS) {
    if (name === 'aac') continue;
    for (const rate of name === 'mp3' ? MP3_RATES_HZ : rates) {
      for (const count of [5000, 23_456]) {
        const sound = [voiceLike(ENGINE_HZ, count / ENGINE_HZ)];
        const heard = decodedFromDisk(wholeFileOf(name, rate, sound), raw?.(rate));
        const samples = decoded(
          fileOf('pcm', decodedHz ?? rate, sound),
          rawFormat('s16le')(decodedHz ?? rate),
        );
        assert.equal(heard.length, samples.length, `${name} at ${rate} Hz`);
        if (count > 20_000) assert.equal(lagOf(heard, samples), 0, `${name} at ${rate} Hz`);
      }
    }
  }
});

/** Delay of `heard` against `samples`, in samples: the shift with the highest correlation. */
function lagOf(heard: Float32Array, samples: Float32Array): number {
  const from = Math.floor(samples.length / 4);
  let best = [0, -Infinity];
  for (let lag = -100; lag <= 100; lag++) {
    let sum = 0;
    for (let i = from; i < 3 * from; i++) sum += (samples[i] as number) * (heard[i + lag] ?? 0);
    if (sum > (best[1] as number)) best = [lag, sum];
  }
  return best[0] as number;
}

test('an Info frame states frames, bytes and both checksums', () => {
  for (const rate of MP3_RATES_HZ) {
    const sound = [voiceLike(ENGINE_HZ, 1.3)];
    const stream = Buffer.from(fileOf('mp3', rate, sound));
    const whole = Buffer.from(wholeFileOf('mp3', rate, sound));
    const info = whole.subarray(0, whole.length - stream.length);
    const at = info.indexOf('Info');
    assert.equal(at, rate >= 32_000 ? 21 : 13);
    assert.equal(info.readUInt32BE(at + 8), mp3Frames(stream, info).length, `${rate} Hz`);
    assert.equal(info.readUInt32BE(at + 12), whole.length);
    const lame = info.indexOf('LAME3.100');
    assert.equal(lame, at + 120);
    assert.equal(info.readUInt32BE(lame + 28), whole.length);
    assert.equal(info.readUInt16BE(lame + 32), crcOf(stream));
    assert.equal(info.readUInt16BE(lame + 34), crcOf(info.subarray(0, lame + 34)));
  }
});

/** Offset of each frame, found by the header, which differs only in the padding bit. */
function mp3Frames(stream: Buffer, info: Buffer): number[] {
  const places: number[] = [];
  for (let at = 0; at < stream.length;) {
    assert.equal(stream.readUInt16BE(at), info.readUInt16BE(0));
    places.push(at);
    at += info.length + (((stream[at + 2] as number) >> 1) & 1);
  }
  return places;
}

/** CRC-16 with 0x8005, the lowest bit first. */
function crcOf(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ 0xa001;
  }
  return crc;
}

test('AAC has a unit before the sound and none after the one that ends it', () => {
  for (const count of [10_240, 10_241, 20_000]) {
    const heard = decoded(wholeFileOf('aac', ENGINE_HZ, [voiceLike(ENGINE_HZ, count / ENGINE_HZ)]));
    assert.equal(heard.length, 1024 * (1 + Math.ceil(count / 1024)));
  }
});

test('a long FLAC stream numbers its frames beyond one byte', () => {
  const sound = tone(300, ENGINE_HZ, 110 * ENGINE_HZ); // 2200 blocks: three bytes of number
  assert.equal(decoded(fileOf('flac', 8000, [sound])).length, 880_000);
});

test('every container of nothing is one that opens', () => {
  for (const { name, raw } of KINDS) {
    const file = fileOf(name, 8000, []);
    if (name === 'wav' || name === 'flac' || raw !== undefined) {
      assert.deepEqual(file, containerOf(name, 8000).header);
    } else if (name === 'ogg') {
      assert.equal(decoded(file).length, 0);
    } else {
      assert.ok(file.length < 1000); // frames of silence
    }
  }
});

test('segments join without a seam in every container', () => {
  const parts = [
    tone(440, ENGINE_HZ, 8000),
    tone(440, ENGINE_HZ, 8000, 0.5, (8000 * 2 * Math.PI * 440) / ENGINE_HZ),
  ];
  for (const name of ['pcm', 'flac', 'mp3', 'aac', 'ogg'] as const) {
    assert.deepEqual(fileOf(name, 24_000, parts), fileOf(name, 24_000, [tone(440, ENGINE_HZ, 16_000)]), name);
  }
});

test('a session that is stopped, or whose reader leaves, says so to the ring in every container', () => {
  for (const { name } of KINDS) {
    const ring = new RecordingBytes();
    const session = bytesSession(ring, name, 8000);
    session.segment(MemoryRing.of(loud(16_000)), ENGINE_HZ);
    session.run();
    session.pipeline.stop();
    assert.equal(ring.ended, 'ABORTED');
  }
});

test('the header comes with the first sound, and that before the segment is over', () => {
  for (const { name } of KINDS) {
    const ring = new RecordingBytes();
    const session = bytesSession(ring, name, /law/.test(name) ? 8000 : 24_000, NO_TRIM);
    const source = new MemoryRing();
    session.segment(source, ENGINE_HZ);
    session.run();
    assert.equal(ring.bytes.length, 0, name);
    source.write(tone(440, ENGINE_HZ, ENGINE_HZ / 4));
    session.run();
    assert.ok(ring.bytes.length > 100, name); // more than 100 bytes for 250 ms
  }
});
