// Echoes of our own voice as telephones return them: filtered by a small loudspeaker and a room, late, with a
// clock that drifts, and coded again. Also what a caller says over them, and a babble of voices.
import { OpusFrameDecoder, OpusFrameEncoder } from '../../src/codecs/opus.js';
import { SAMPLE_RATE } from '../../src/hearing/ear-source.js';
import {
  amplified,
  atLevel,
  companded,
  delayed,
  filtered,
  inRoom,
  joined,
  mixed,
  noise,
  overdriven,
  random,
  silence,
  speech,
  stretched,
} from './sounds.js';

const VOICES = ['slt', 'awb', 'rms'] as const;
const NOISE_DB = -65;

const SENTENCES = [
  'Thank you for calling. Your order was sent on Monday, and it will arrive by Friday.',
  'The train to the airport leaves at ten minutes past eight from platform four.',
  'Your balance is two hundred and forty six dollars and eighty cents.',
  'Is there anything else that I can help you with today?',
  'I can offer you a table by the window at half past seven, or one on the terrace at eight.',
  'Please have your customer number ready. You find it at the top of each invoice.',
  'We have repaired the line in your street. It may take an hour until everything works again.',
  'Yes.',
  'Which of the two addresses shall I use for the delivery?',
  'The weather stays dry until the evening, with some wind from the north west.',
] as const;
const GAPS_MS = [300, 900, 120, 1800, 700] as const;

/** No constant of the guard was chosen with these sentences. */
const OTHER_SENTENCES = [
  'Good morning, this is the office of Doctor Miller. How may I help you?',
  'Your appointment was moved to Thursday, the ninth of March, at a quarter past three.',
  'Okay.',
  'Let me look that up. One moment, it takes only a few seconds.',
  'The cheapest of the three rooms costs eighty nine euros a night, and breakfast is included.',
  'To hear this again, say repeat, or press the star key.',
  'I see two open invoices, one from July and one from August.',
  'All our colleagues speak with other callers. Your place in the queue is five.',
  'Shall I send the password to the phone that ends with seven four?',
] as const;

const REPLIES = [
  'Excuse me, I would like to change the address of my order.',
  'Stop, I have a question.',
  'Wait a moment, please.',
  'Hello, are you there?',
] as const;

/** Our own voice for so many seconds: three voices take turns, with pauses. */
export async function ourVoice(
  seconds: number,
  sentences: readonly string[] = SENTENCES,
): Promise<Float32Array> {
  const parts: Float32Array[] = [];
  const spoken = new Map<string, Float32Array>();
  let samples = 0;
  for (let n = 0; samples < seconds * SAMPLE_RATE; n++) {
    const [text = '', voice = 'slt'] = [sentences[n % sentences.length], VOICES[n % VOICES.length]];
    const sound = spoken.get(voice + text) ?? (await speech(text, voice));
    spoken.set(voice + text, sound);
    const part = joined(sound, silence(GAPS_MS[n % GAPS_MS.length] ?? 0));
    parts.push(part);
    samples += part.length;
  }
  return joined(...parts).subarray(0, seconds * SAMPLE_RATE);
}

/** Our own voice with other sentences. */
export const ourOtherVoice = (seconds: number): Promise<Float32Array> => ourVoice(seconds, OTHER_SENTENCES);

/** What callers say into our voice. */
export function replies(): Promise<Float32Array[]> {
  return Promise.all(VOICES.flatMap((voice) => REPLIES.map((text) => speech(text, voice))));
}

/** So many voices at once without a pause, at a level. */
export async function babble(voices: number, seconds: number, db: number): Promise<Float32Array> {
  const one = await ourVoice(60);
  const parts = Array.from({ length: voices }, (_, n) => {
    const from = Math.round((n * one.length) / voices);
    const turned = joined(one.subarray(from), one.subarray(0, from));
    return joined(...Array.from({ length: Math.ceil(seconds / 60) }, () => turned));
  });
  return atLevel(mixed(...parts).subarray(0, seconds * SAMPLE_RATE), db);
}

/** The sound after Opus with the settings of browsers, at a bitrate. */
export function opusCoded(sound: Float32Array, bitsPerSecond: number): Float32Array {
  const settings = {
    application: 'voip',
    complexity: 5,
    bitsPerSecond,
    inBandFec: false,
    expectedLossPercent: 0,
  } as const;
  const encoder = new OpusFrameEncoder(20, settings, { sampleRate: SAMPLE_RATE, channels: 1 });
  const decoder = new OpusFrameDecoder();
  const all = new Float32Array(sound.length);
  const frame = new Float32Array(encoder.frameSamples);
  for (let at = 0; at < sound.length; at += frame.length) {
    frame.fill(0);
    frame.set(sound.subarray(at, at + frame.length));
    const decoded = decoder.decode(encoder.encode(frame));
    for (let n = 0; n < frame.length && at + n < all.length; n++) {
      all[at + n] = (decoded[3 * n] as number) / 32_768; // nothing in it is above 8 kHz
    }
  }
  return all;
}

export interface Echo {
  readonly name: string;
  /** Our voice as the caller's microphone takes it up. */
  readonly returned: (ours: Float32Array) => Float32Array;
  /** What the line makes of all that the microphone takes up. */
  readonly coded: (sound: Float32Array) => Float32Array;
}

interface Path {
  readonly lossDb: number;
  readonly delayMs: number;
  readonly lowHz: number;
  readonly highHz: number;
  /** Gain at a frequency inside the band, 0 dB by default. */
  readonly gainDb?: (hz: number) => number;
  readonly roomMs?: number;
  readonly roomSeed?: number;
  readonly driftPpm?: number;
  readonly drive?: number;
}

const OUTSIDE_DB = -60;

function returnedBy({ lossDb, delayMs, lowHz, highHz, ...more }: Path): Echo['returned'] {
  return (ours) => {
    const { gainDb = () => 0, roomMs = 0, roomSeed, driftPpm = 0, drive = 0 } = more;
    const played = filtered(drive > 0 ? overdriven(ours, drive) : ours, (hz) =>
      hz < lowHz || hz > highHz ? OUTSIDE_DB : gainDb(hz),
    );
    const level = atLevel(roomMs > 0 ? inRoom(played, roomMs, roomSeed) : played, -21);
    return amplified(delayed(driftPpm === 0 ? level : stretched(level, driftPpm), delayMs), lossDb);
  };
}

/** A curve with peaks and dips of 8 dB, as a small box has them. */
const uneven = (hz: number): number => 8 * Math.sin((2 * Math.PI * hz) / 1400);

const opusAt =
  (bitsPerSecond: number, noiseDb = NOISE_DB) =>
  (sound: Float32Array) =>
    opusCoded(mixed(sound, noise(sound.length / 16, noiseDb)), bitsPerSecond);
const g711 = (sound: Float32Array, noiseDb = NOISE_DB) =>
  companded(mixed(sound, noise(sound.length / 16, noiseDb)));

const TELEPHONE = { lowHz: 300, highHz: 3400 } as const;

export const ECHOES: readonly Echo[] = [
  {
    name: '180 ms, -12 dB, 300 to 3400 Hz, Opus 24 kbit/s',
    returned: returnedBy({ ...TELEPHONE, lossDb: -12, delayMs: 180 }),
    coded: opusAt(24_000),
  },
  {
    name: '40 ms, -10 dB, 300 to 3400 Hz, G.711',
    returned: returnedBy({ ...TELEPHONE, lossDb: -10, delayMs: 40 }),
    coded: g711,
  },
  {
    name: '120 ms, -14 dB, peaks and dips of 8 dB, Opus 16 kbit/s',
    returned: returnedBy({ ...TELEPHONE, lossDb: -14, delayMs: 120, gainDb: uneven }),
    coded: opusAt(16_000),
  },
  {
    name: '250 ms, -12 dB, from a room of 300 ms, Opus 24 kbit/s',
    returned: returnedBy({ ...TELEPHONE, lossDb: -12, delayMs: 250, roomMs: 300 }),
    coded: opusAt(24_000),
  },
  {
    name: '350 ms, -10 dB, 500 to 2500 Hz, Opus 12 kbit/s',
    returned: returnedBy({ lowHz: 500, highHz: 2500, lossDb: -10, delayMs: 350 }),
    coded: opusAt(12_000),
  },
  {
    name: '500 ms, -15 dB, 300 to 3400 Hz, G.711',
    returned: returnedBy({ ...TELEPHONE, lossDb: -15, delayMs: 500 }),
    coded: g711,
  },
  {
    name: '180 ms and 6 ms more each minute, -12 dB, Opus 24 kbit/s',
    returned: returnedBy({ ...TELEPHONE, lossDb: -12, delayMs: 180, driftPpm: 100 }),
    coded: opusAt(24_000),
  },
  {
    name: '120 ms, -12 dB, overdriven loudspeaker, Opus 24 kbit/s',
    returned: returnedBy({ lowHz: 400, highHz: 3400, lossDb: -12, delayMs: 120, drive: 4 }),
    coded: opusAt(24_000),
  },
];

/** Echoes of paths that a seed draws: each property of the path, the codec and the noise of the line. */
export function drawnEchoes(seed: number, count: number): Echo[] {
  const next = random(seed);
  const between = (least: number, most: number) => Math.round(least + (most - least) * next());
  for (let n = 0; n < 9; n++) next(); // the first numbers of near seeds resemble each other
  return Array.from({ length: count }, (_, n) => {
    const [period, phase, depth] = [between(700, 2600), 6.28 * next(), between(0, 9)];
    const path = {
      lossDb: -between(8, 20),
      delayMs: between(20, 500),
      lowHz: between(200, 600),
      highHz: between(2400, 3800),
      gainDb: (hz: number) => depth * Math.sin((6.28 * hz) / period + phase),
      roomMs: next() < 0.4 ? between(100, 400) : 0,
      roomSeed: between(10, 9999),
      driftPpm: next() < 0.4 ? between(-150, 150) : 0,
      drive: next() < 0.3 ? between(2, 6) : 0,
    };
    const noiseDb = -between(52, 70);
    const bitsPerSecond = 1000 * (ODD_BITRATES[between(0, ODD_BITRATES.length - 1)] ?? 0);
    const coded =
      bitsPerSecond === 0 ? (sound: Float32Array) => g711(sound, noiseDb) : opusAt(bitsPerSecond, noiseDb);
    const more = [
      ...(path.roomMs > 0 ? [`room of ${path.roomMs} ms`] : []),
      ...(path.driftPpm === 0 ? [] : [`drift of ${path.driftPpm} ppm`]),
      ...(path.drive > 0 ? ['overdriven'] : []),
      bitsPerSecond === 0 ? 'G.711' : `Opus ${bitsPerSecond / 1000} kbit/s`,
    ];
    const { delayMs, lossDb, lowHz, highHz } = path;
    const name = `drawn ${seed}.${n + 1}: ${delayMs} ms, ${lossDb} dB, ${lowHz} to ${highHz} Hz`;
    return { name: [name, ...more].join(', '), returned: returnedBy(path), coded };
  });
}

/** Opus in kbit/s; 0 is G.711. */
const ODD_BITRATES = [0, 0, 12, 14, 20, 32] as const;
