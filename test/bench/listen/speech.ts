// Speech for the benches of hearing, by the embedded voice.
import { PcmRing } from '../../../src/audio/pcm-ring.js';
import { Resampler } from '../../../src/audio/resampler.js';
import { CODECS, type CodecName } from '../../../src/codecs/codec.js';
import { frameEncoder } from '../../../src/codecs/frame-encoder.js';
import { OPUS_SPEECH } from '../../../src/codecs/opus.js';
import type { SpeechEngine } from '../../../src/engines/engine.js';

const LONGEST_S = 30;

export interface Speech {
  readonly samples: readonly number[];
  readonly sampleRate: number;
}

/** One text, spoken by a voice of the engine. */
export async function speechOf(engine: SpeechEngine, voice: string, text: string): Promise<Speech> {
  const sampleRate = engine.sampleRate(voice);
  const ring = PcmRing.open(sampleRate, sampleRate * LONGEST_S);
  await engine.synthesize({ text, voice, language: 'en' }, ring, new AbortController().signal);
  const samples = new Float32Array(sampleRate * LONGEST_S);
  const count = ring.read(samples);
  ring.close();
  return { samples: [...samples.subarray(0, count)], sampleRate };
}

/** The speech as payloads of 20 ms. */
export function payloadsOf({ samples, sampleRate }: Speech, codec: CodecName): Uint8Array[] {
  const frameMs = 20;
  const { sampleRate: rate } = CODECS[codec];
  const source = Float32Array.from(samples);
  const resampler = new Resampler(sampleRate, rate, source.length);
  const sound = new Float32Array(resampler.maxOutput(source.length) + resampler.maxFlush);
  const count = resampler.process(source, source.length, sound);
  const encoder = frameEncoder(CODECS[codec], frameMs, OPUS_SPEECH);
  const size = (rate * frameMs) / 1000;
  const payloads: Uint8Array[] = [];
  for (let at = 0; at + size <= count; at += size) {
    payloads.push(encoder.encode(sound.subarray(at, at + size)).slice());
  }
  return payloads;
}
