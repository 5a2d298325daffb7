// How far the text that a call reports as heard is from what was sent, in words. The truth are the captured
// packets: their sound is found again in the sound of the sentence, whose words flite times.
//
//   npm run bench -- heard
//
//   sentence ─▶ flite: sound, word times ─▶ call ─▶ packets ─▶ interrupted ─▶ heard
//                        └──────── place of the last packet: words sent ──┘
//
// Without word times, as of engines that have none, the call estimates them from the sound. The plain
// sentences have few pauses. The hard ones have many, with numbers, abbreviations, and words of very
// different lengths. Their sound begins and ends with silence.
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { MU_LAW_VALUES } from '../../src/codecs/g711.js';
import { EncoderPool } from '../../src/encoding/encoder-pool.js';
import type { SpeechEnd, SynthesisRequest, WordTime } from '../../src/engines/engine.js';
import { fliteEngine } from '../../src/engines/flite/flite.js';
import { type CallUnderTest, FRAME_MS, openCall, type SentPacket } from '../fakes/call-under-test.js';
import { ENGINE_RATE, ScriptedEngine } from '../fakes/engines.js';
import { languageOf } from '../../src/text/normalize/languages.js';
import { normalize } from '../../src/text/normalize/normalize.js';
import { placedWord, writtenTimes } from '../../src/speaking/spoken-text.js';
import { readAll } from '../engines/read-ring.js';
import { machine, type Row, table } from './table.js';

const PLAIN = [
  'The train to Hamburg leaves at nine in the morning from platform two.',
  'Your order has shipped, and it should be with you by the end of the week.',
  'I am sorry, but that appointment is taken; would the afternoon suit you instead?',
  'Please have your customer number ready, because we will ask for it in a moment.',
  'Well, the weather in the mountains changes quickly, so take something warm.',
  'We sell green tea, black tea, and a small number of very old teas from the south.',
  'Unfortunately, extraordinarily complicated administrative procedures sometimes require patience.',
  'If it is up to me, we go at ten, or so, and be back by six at the latest.',
];
const HARD = [
  'Dr. Smith lives at 221 Baker St., which is approx. 3.5 km from here.',
  'Your balance is $1,284.50, due on 12/24/2026, and your reference is 4471-A.',
  'No, no, no: I said Tuesday, not Thursday, and at 5:30 p.m., not 3:15.',
  'Yes, of course, I can do that; thoroughly straightforward arrangements, though, take time.',
  'Call +1 (555) 010-4477, e.g. between 9 a.m. and 5 p.m., or write to us.',
  'I see, so, as a matter of fact, internationalization notwithstanding, we go on as is.',
  'In 1999 we sold 12,500 units; in 2024, however, only 980, i.e. 92% less.',
  'Strengths, weaknesses, and knowledge: through thought, we brought enough.',
];
const LEAD_MS = 150; // silence around the sound of the hard sentences
const TAIL_MS = 700;
const VOICE = 'kal';
const CUTS = 25; // of each text, at even distances
const PROBE = 160; // samples of one packet
const AHEAD_MS = 300; // of sound in the queue
const LAST_MS = 30; // without more: the sound is at its end

/** Tells the times of the words before their sound is read, as flite does. */
class TimedEngine extends ScriptedEngine {
  override readonly capabilities = { ...new ScriptedEngine().capabilities, wordTimes: true };

  override synthesize(request: SynthesisRequest, out: PcmRing, signal: AbortSignal): Promise<SpeechEnd> {
    const { text, onRendered } = request;
    onRendered?.({ samples: this.sounds.get(text)?.length ?? 0, words: this.words.get(text) ?? [] });
    return super.synthesize(request, out, signal);
  }
}

interface Spoken {
  readonly text: string;
  /** The words for the engine. */
  readonly spoken: string;
  readonly sound: Float32Array;
  readonly words: readonly WordTime[];
  /** Words of the text as it was written. */
  readonly written: readonly WordTime[];
}

/** A voice at the rate of the call: its packets hold the very samples of the sound. */
async function spokenTexts(texts: readonly string[], leadMs: number, tailMs: number): Promise<Spoken[]> {
  const engine = fliteEngine({ maxWaiting: 8, renderTimeoutMs: 20_000 });
  await engine.load();
  const english = languageOf('en');
  if (english === undefined) throw new Error('English has no rules');
  const found: Spoken[] = [];
  for (const text of texts) {
    const normalized = normalize(text, english);
    const request = { text: normalized.text, voice: VOICE, language: 'en' };
    const ring = PcmRing.open(ENGINE_RATE, ENGINE_RATE);
    const end = engine.synthesize(request, ring, new AbortController().signal);
    const { samples } = await readAll(ring);
    ring.close();
    const [lead, tail] = [leadMs, tailMs].map((ms) => (ms * ENGINE_RATE) / 1000) as [number, number];
    const sound = new Float32Array(lead + samples.length + tail);
    sound.set(samples, lead);
    const words = (await end).words.map((word) => placedWord(word, (ms) => ms + leadMs));
    const written = writtenTimes(words, text, normalized);
    found.push({ text, spoken: normalized.text, sound, words, written });
  }
  await engine.close();
  return found;
}

const samplesOf = ({ payload }: SentPacket) =>
  Float32Array.from(payload, (code) => (MU_LAW_VALUES[code] ?? 0) / 32_768);

/** The place of a packet in the sound, in milliseconds; undefined for one that is not in it. */
function placeOf(packet: SentPacket, sound: Float32Array): number | undefined {
  const probe = samplesOf(packet);
  const loudness = probe.reduce((sum, sample) => sum + sample * sample, 0);
  if (loudness / PROBE < 1e-4) return undefined; // silence is everywhere
  let [best, least] = [0, Infinity];
  for (let at = 0; at + PROBE <= sound.length; at++) {
    let distance = 0;
    for (let n = 0; n < PROBE && distance < least; n++)
      distance += ((sound[at + n] ?? 0) - (probe[n] ?? 0)) ** 2;
    if (distance < least) [best, least] = [at, distance];
  }
  return least < loudness / 20 ? (best / ENGINE_RATE) * 1000 : undefined;
}

/** The number of words of which at least half was sent. */
function wordsBy(ms: number, { text, written, sound }: Spoken): number {
  const totalMs = (sound.length / ENGINE_RATE) * 1000;
  const sent = written.filter(({ startMs, endMs }, index) => {
    const untilMs = endMs ?? written[index + 1]?.startMs ?? totalMs;
    return ms >= (startMs + untilMs) / 2;
  });
  const last = sent.at(-1);
  return last === undefined ? 0 : countOf(text.slice(0, last.textOffset + last.word.length));
}

/** Words with spaces between them: "$1,284.50" is one. */
const countOf = (heard: string) => heard.match(/[\p{L}\p{N}]\S*/gu)?.length ?? 0;

/**
 * The test's time passes only where the encoder is ahead of it: more is queued, or nothing comes any more.
 */
async function queued({ call }: CallUnderTest): Promise<void> {
  for (let waited = 0; call.stats().queuedMs < AHEAD_MS && waited < LAST_MS; waited++)
    await new Promise((resolve) => setTimeout(resolve, 1));
}

/**
 * The difference in words: positive if more was reported than was sent. Undefined if the truth is not known.
 */
async function interruptedAfter(
  encoders: EncoderPool,
  spoken: Spoken,
  { ms, hasTimes }: { readonly ms: number; readonly hasTimes: boolean },
): Promise<number | undefined> {
  const engine = hasTimes ? new TimedEngine() : new ScriptedEngine();
  engine.sounds.set(spoken.spoken, spoken.sound);
  if (hasTimes) engine.words.set(spoken.spoken, spoken.words);
  const under = openCall(encoders, undefined, { engine });
  const utterance = under.call.speak(spoken.text);
  const sent: SentPacket[] = [];
  for (let passed = 0; passed < ms; passed += FRAME_MS) {
    await queued(under);
    await new Promise((resolve) => setImmediate(resolve)); // what the encoder tells is read
    under.pass(FRAME_MS);
    sent.push(...under.sent());
  }
  under.call.interrupt('bench');
  const { text: heard } = await utterance.ended;
  await under.close();
  if (engine.begun.join() !== spoken.spoken)
    throw new Error(`the engine got "${engine.begun.join('|')}" instead of "${spoken.spoken}"`);
  // The last packet whose place is certain; those after it are silence within the sentence, and go on from
  // there.
  for (let back = 1; back <= sent.length; back++) {
    const packet = sent.at(-back);
    const place = packet === undefined ? undefined : placeOf(packet, spoken.sound);
    if (place !== undefined) return countOf(heard) - wordsBy(place + back * FRAME_MS, spoken);
  }
  return undefined;
}

function rowOf(engine: string, sentences: string, errors: readonly number[]): Row {
  const share = (most: number) =>
    Math.round((1000 * errors.filter((error) => Math.abs(error) <= most).length) / errors.length) / 10;
  return {
    engine,
    sentences,
    interruptions: errors.length,
    'exact %': share(0),
    '± 1 %': share(1),
    '± 2 %': share(2),
    'most ahead': Math.max(...errors),
    'most behind': -Math.min(...errors),
  };
}

async function main(): Promise<void> {
  console.log(`${new Date().toISOString().slice(0, 10)}, ${machine()}\n`);
  const encoders = new EncoderPool({ workers: 1 });
  await encoders.ready();
  const rows: Row[] = [];
  const sets = [
    { name: 'plain', texts: await spokenTexts(PLAIN, 0, 0), silenceMs: 0 },
    { name: 'hard', texts: await spokenTexts(HARD, LEAD_MS, TAIL_MS), silenceMs: LEAD_MS + TAIL_MS },
  ];
  for (const { name, texts, silenceMs } of sets) {
    for (const hasTimes of [true, false]) {
      const errors: number[] = [];
      for (const spoken of texts) {
        const wholeMs = (spoken.sound.length / ENGINE_RATE) * 1000 - silenceMs;
        for (let cut = 1; cut <= CUTS; cut++) {
          const ms = (wholeMs * cut) / (CUTS + 1);
          const error = await interruptedAfter(encoders, spoken, { ms, hasTimes });
          if (error !== undefined) errors.push(error);
        }
      }
      rows.push(rowOf(hasTimes ? 'with word times' : 'without word times', name, errors));
    }
  }
  await encoders.close();
  console.log(table(rows));
}

await main();
