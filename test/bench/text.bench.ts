// Cost of text processing before synthesis: microseconds a sentence, by language; and whether long texts stay
// linear.
//
//   npm run bench -- text [seconds a figure]
import { identifyLanguage } from '../../src/text/language.js';
import type { Language } from '../../src/text/normalize/language.js';
import { languageOf } from '../../src/text/normalize/languages.js';
import { normalize } from '../../src/text/normalize/normalize.js';
import { SentenceStream } from '../../src/text/sentences.js';
import { behavioursOf, languagesWithCases } from '../text/normalize/case-files.js';
import { machine, table } from './table.js';

const SECONDS = Number(process.argv[2] ?? '1');
const LENGTHS = [1000, 10_000, 100_000]; // units
const MICROSECONDS = 1000;

/**
 * Median and 95th percentile over the sentences; of each the best of its rounds, since others use this
 * machine.
 */
function measure(
  sentences: readonly string[],
  work: (sentence: string) => void,
): { median: number; p95: number } {
  const best = sentences.map(() => Number.POSITIVE_INFINITY);
  const until = performance.now() + SECONDS * 1000;
  for (let round = 0; round < 5 || performance.now() < until; round++) {
    for (const [index, sentence] of sentences.entries()) {
      const startedAt = performance.now();
      work(sentence);
      best[index] = Math.min(best[index] ?? 0, performance.now() - startedAt);
    }
  }
  const sorted = best.toSorted((a, b) => a - b);
  const at = (share: number): number => (sorted[Math.floor(sorted.length * share)] ?? 0) * MICROSECONDS;
  return { median: at(0.5), p95: at(0.95) };
}

/**
 * Microseconds of processor time, the best of a few rounds: a long text is interrupted by others in any
 * round.
 */
function processorTime(work: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 4; round++) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, user + system);
  }
  return best;
}

function segment(text: string): string[] {
  const stream = new SentenceStream();
  return [...stream.push(text), ...stream.end()].map((sentence) => sentence.text);
}

function speak(text: string, language: Language): void {
  for (const sentence of segment(text)) normalize(sentence, language);
}

function byLanguage(): void {
  const rows = languagesWithCases().flatMap((tag) => {
    const language = languageOf(tag);
    if (language === undefined) return [];
    const sentences = behavioursOf(tag).flatMap(({ cases }) => cases.map(({ written }) => written));
    for (let round = 0; round < 5; round++) sentences.forEach((sentence) => speak(sentence, language));
    const both = measure(sentences, (sentence) => speak(sentence, language));
    // A space more each time, since known sentences are not looked at again.
    let asked = 0;
    const named = measure(sentences, (sentence) => void identifyLanguage(`${sentence} ${asked++}`));
    return {
      language: tag,
      sentences: sentences.length,
      'segment µs': measure(sentences, (sentence) => void segment(sentence)).median,
      'normalize µs': measure(sentences, (sentence) => void normalize(sentence, language)).median,
      'both µs': both.median,
      'both p95 µs': both.p95,
      'identify µs': named.median,
    };
  });
  console.log(table(rows));
}

/** Microseconds a unit: a column that grows downwards is not linear. */
function byLength(): void {
  const rows = languagesWithCases().flatMap((tag) => {
    const language = languageOf(tag);
    if (language === undefined) return [];
    const all = behavioursOf(tag)
      .flatMap(({ cases }) => cases.map(({ written }) => written))
      .join(' ');
    return LENGTHS.map((length) => {
      const text = all.repeat(Math.ceil(length / all.length)).slice(0, length);
      const times = Math.max(1, 10_000 / length); // short texts are quicker than the clock
      const repeated = (work: () => void) => (): void => {
        for (let time = 0; time < times; time++) work();
      };
      const took = processorTime(repeated(() => speak(text, language))) / times;
      const whole = processorTime(repeated(() => void normalize(text, language))) / times;
      return {
        language: tag,
        units: length,
        'both, ns a unit': (took * 1000) / length,
        'normalize, ns a unit': (whole * 1000) / length,
      };
    });
  });
  console.log(table(rows));
}

console.log(`${machine()}; every sentence of the case files, best of its rounds\n`);
byLanguage();
console.log('');
byLength();
