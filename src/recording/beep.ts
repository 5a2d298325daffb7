// The tone that announces a recording.
const TONE_HZ = 1000;
const TONE_MS = 400;
const RAMP_MS = 10; // an edge of this length makes no click
const LEVEL = 0.25; // of full scale: -12 dBFS

/** 400 ms of 1 kHz, mono. */
export function beep(sampleRate: number): Float32Array {
  const samples = Math.round((sampleRate * TONE_MS) / 1000);
  const ramp = Math.round((sampleRate * RAMP_MS) / 1000);
  return Float32Array.from({ length: samples }, (_, at) => {
    const fromEdge = Math.min(at, samples - 1 - at) / ramp;
    const gain = fromEdge >= 1 ? 1 : (1 - Math.cos(Math.PI * fromEdge)) / 2;
    return LEVEL * gain * Math.sin((2 * Math.PI * TONE_HZ * at) / sampleRate);
  });
}
