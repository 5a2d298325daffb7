// Speech in which no key and no tone may be found: minutes of it in a usual run, an hour in a long one.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { Resampler } from '../../src/audio/resampler.js';
import { FLITE_VOICES } from '../../src/engines/flite/flite-program.js';
import { fliteEngine } from '../../src/engines/flite/flite.js';
import { findTones } from '../../src/media/tone-events.js';
import { readAll } from '../engines/read-ring.js';
import { isLong } from '../fakes/long-run.js';

const MINUTES = isLong ? 60 : 3;
const MOST_KEYS = 1; // in an hour: ITU-T Q.24 leaves it to each network
const RATE = 8000;
const GUIDE = join(import.meta.dirname, '..', '..', '..', 'public', 'docs');
const NEVER = new AbortController().signal;

/** Sentences of the guide, without the characters of its markup. */
function sentences(): string[] {
  const pages = readdirSync(GUIDE).filter((name) => name.endsWith('.md'));
  const text = pages.map((name) => readFileSync(join(GUIDE, name), 'utf8')).join('\n');
  const plain = text.replaceAll(/[`*|#_[\]()<>{}/\\]/g, ' ').split(/[.\n]/);
  return plain.map((sentence) => sentence.trim()).filter(({ length }) => length > 25 && length < 250);
}

function atRate(samples: Float32Array, rate: number, level: number): Float32Array {
  const resampler = rate === RATE ? undefined : new Resampler(rate, RATE);
  const output = new Float32Array(resampler?.maxOutput(samples.length) ?? samples.length);
  const count = resampler?.process(samples, samples.length, output) ?? samples.length;
  if (resampler === undefined) output.set(samples);
  return output.subarray(0, count).map((sample) => Math.max(-1, Math.min(1, level * sample)));
}

test(`${MINUTES} minutes of speech hold no key and no tone`, async (t) => {
  const engine = fliteEngine({ maxWaiting: 4, renderTimeoutMs: 60_000 });
  t.after(() => engine.close());
  await engine.load();
  const texts = sentences();
  let seconds = 0;
  const found: string[] = [];
  for (let n = 0; seconds < MINUTES * 60; n++) {
    const voice = FLITE_VOICES[n % FLITE_VOICES.length]?.name ?? '';
    const text = texts[(n * 37) % texts.length] ?? '';
    const rate = engine.sampleRate(voice);
    const ring = PcmRing.open(rate, rate / 4);
    const end = engine.synthesize({ text, voice, language: 'en' }, ring, NEVER);
    const { samples } = await readAll(ring).finally(() => ring.close());
    await end;
    const { keys, tones } = findTones(atRate(samples, rate, 0.5 + (n % 7) / 2), RATE, 'US');
    for (const { event } of keys) found.push(`key ${event} by ${voice} in "${text}"`);
    for (const { kind, hz } of tones) found.push(`${kind} of ${Math.round(hz)} Hz by ${voice} in "${text}"`);
    seconds += samples.length / rate;
  }
  t.diagnostic(`${Math.round(seconds)} s of speech, ${found.length} found`);
  assert.ok(found.length <= (isLong ? MOST_KEYS : 0), found.join('\n'));
});
