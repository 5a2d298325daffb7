import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AAC_FRAME_SAMPLES, AacEncoder, aacProgram, adtsFrame, loadAac } from '../../src/codecs/aac.js';
import { voiceLike } from '../audio/tones.js';

const RATE_HZ = 24_000;

function taken(encoder: AacEncoder): Buffer[] {
  const units: Buffer[] = [];
  for (let unit = encoder.take(); unit !== undefined; unit = encoder.take()) units.push(Buffer.from(unit));
  return units;
}

/** The units that each frame of the sound completes, and those of the end. */
function encoded(encoder: AacEncoder, sound: Float32Array): Buffer[][] {
  const units: Buffer[][] = [];
  for (let at = 0; at < sound.length; at += AAC_FRAME_SAMPLES) {
    const frame = sound.subarray(at, at + AAC_FRAME_SAMPLES);
    encoder.put(frame, frame.length);
    units.push(taken(encoder));
  }
  encoder.end();
  return [...units, taken(encoder)];
}

test('every frame but the first completes a unit, and the end completes two: the last frame overlaps with nothing after it', () => {
  const encoder = new AacEncoder(RATE_HZ);
  const units = encoded(encoder, voiceLike(RATE_HZ, 1));
  encoder.close();
  assert.deepEqual(
    units.map((some) => some.length),
    [0, ...Array.from({ length: 23 }, () => 1), 2],
  );
});

test('the rest of the last frame is silence, whatever the frame held', () => {
  const sound = voiceLike(RATE_HZ, AAC_FRAME_SAMPLES / RATE_HZ);
  const silent = Float32Array.from(sound, (value, n) => (n < 500 ? value : 0));
  const [short, padded] = (
    [
      [sound, 500],
      [silent, AAC_FRAME_SAMPLES],
    ] as const
  ).map(([frame, count]) => {
    const encoder = new AacEncoder(RATE_HZ);
    encoder.put(frame, count);
    encoder.end();
    const units = taken(encoder);
    encoder.close();
    return units;
  });
  assert.equal(short?.length, 2);
  assert.deepEqual(short, padded);
});

test('encoders that run at once do not hear each other', () => {
  const sounds = [voiceLike(RATE_HZ, 1), voiceLike(RATE_HZ, 1).map((value) => -value / 2)];
  const alone = sounds.map((sound) => {
    const encoder = new AacEncoder(RATE_HZ);
    const units = encoded(encoder, sound);
    encoder.close();
    return units;
  });
  const encoders = sounds.map(() => new AacEncoder(RATE_HZ));
  const parts: Buffer[][][] = [[], []];
  for (let at = 0; at < RATE_HZ; at += AAC_FRAME_SAMPLES) {
    encoders.forEach((encoder, n) => {
      const frame = (sounds[n] as Float32Array).subarray(at, at + AAC_FRAME_SAMPLES);
      encoder.put(frame, frame.length);
      parts[n]?.push(taken(encoder));
    });
  }
  encoders.forEach((encoder, n) => {
    encoder.end();
    parts[n]?.push(taken(encoder));
    encoder.close();
  });
  assert.deepEqual(parts, alone);
});

test('a rate that AAC has not is refused with those that it has', () => {
  assert.throws(() => new AacEncoder(10_000), { code: 'INVALID_FIELD', message: /8000, .*48000/ });
  assert.throws(() => new AacEncoder(96_000), { code: 'INVALID_FIELD' });
});

test('samples that are no numbers are an error, not a sound', () => {
  const encoder = new AacEncoder(RATE_HZ);
  const put = () => {
    encoder.put(new Float32Array(AAC_FRAME_SAMPLES).fill(NaN), AAC_FRAME_SAMPLES);
    encoder.take();
  };
  assert.throws(
    () => {
      for (let frame = 0; frame < 3; frame++) put();
    },
    { code: 'ENCODER_FAILED' },
  );
  encoder.close();
});

test('a closed encoder is closed for good, and its memory is used again', () => {
  const sound = voiceLike(RATE_HZ, 0.1);
  encoded(new AacEncoder(RATE_HZ), sound); // left open: what follows lies behind it
  const before = aacProgram().memory.buffer.byteLength;
  for (let round = 0; round < 300; round++) {
    const encoder = new AacEncoder(RATE_HZ);
    encoded(encoder, sound);
    encoder.close();
    encoder.close();
    assert.throws(() => encoder.put(sound, 1), { code: 'WRONG_STATE' });
    assert.throws(() => encoder.take(), { code: 'WRONG_STATE' });
  }
  assert.equal(aacProgram().memory.buffer.byteLength, before);
});

test('more encoders than its first memory holds are there at once, and go on', () => {
  const before = aacProgram().memory.buffer.byteLength;
  const encoders = Array.from({ length: 64 }, () => new AacEncoder(RATE_HZ));
  assert.ok(aacProgram().memory.buffer.byteLength > before);
  const [first] = encoders as [AacEncoder];
  assert.ok(Buffer.concat(encoded(first, voiceLike(RATE_HZ, 0.2)).flat()).length > 500);
  for (const encoder of encoders) encoder.close();
});

test('a package that is laid out in another way is refused, not guessed at', () => {
  for (const glue of ['', "binaryDecode('", "wasmImports = { a: _b } binaryDecode('\\q')"]) {
    assert.throws(() => loadAac(glue), { code: 'ENCODER_FAILED', message: /@mediabunny\/aac-encoder/ });
  }
});

test('a frame says that it is mono AAC-LC, at which rate, and how long it is', () => {
  const bits = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const frame = adtsFrame(Uint8Array.of(1, 2, 3), 24_000);
  assert.equal(
    bits(frame.subarray(0, 7)),
    ['111111111111', '0', '00', '1', '01', '0110', '0', '001', '0000'].join('') +
      ['0000000001010', '11111111111', '00'].join(''),
  );
  assert.deepEqual([...frame.subarray(7)], [1, 2, 3]);
  const long = adtsFrame(new Uint8Array(1529), 8000);
  assert.equal(bits(long.subarray(2, 3)).slice(2, 6), '1011');
  assert.equal(parseInt(bits(long).slice(30, 43), 2), 1536);
});

test('parameters that no header can state are refused', () => {
  assert.equal(adtsFrame(new Uint8Array(8184), 48_000).length, 8191);
  assert.throws(() => adtsFrame(new Uint8Array(8185), 48_000), { code: 'ENCODER_FAILED' });
  assert.throws(() => adtsFrame(new Uint8Array(1), 10_000), { code: 'ENCODER_FAILED', message: /10000 Hz/ });
});
