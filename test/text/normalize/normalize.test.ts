import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../fakes/properties.js';
import type { Language } from '../../../src/text/normalize/language.js';
import { languageOf } from '../../../src/text/normalize/languages.js';
import { normalize } from '../../../src/text/normalize/normalize.js';
import { SentenceStream } from '../../../src/text/sentences.js';
import { behavioursOf, type Case, languagesWithCases } from './case-files.js';

const LANGUAGES = languagesWithCases().flatMap((tag) => languageOf(tag) ?? []);

function english(): Language {
  const language = languageOf('en');
  assert.ok(language !== undefined);
  return language;
}

test('a language is found by its tag, with or without a region, and none is invented', () => {
  assert.equal(languageOf('de-AT')?.tag, 'de');
  assert.equal(languageOf('EN_us')?.tag, 'en');
  assert.equal(languageOf('xx'), undefined);
  assert.equal(languageOf('constructor'), undefined);
});

test('every replacement says which rule fired, what was written and where', () => {
  const text = 'Pay $5 on 1/2/2024.';
  const { text: spoken, replacements } = normalize(text, english());
  assert.equal(spoken, 'Pay five dollars on January second, twenty twenty-four.');
  assert.deepEqual(
    replacements.map(({ rule, written }) => [rule, written]),
    [
      ['currency', '$5'],
      ['date', '1/2/2024'],
    ],
  );
  for (const { start, end, written, spokenStart, spokenEnd, spoken: words } of replacements) {
    assert.equal(text.slice(start, end), written);
    assert.equal(spoken.slice(spokenStart, spokenEnd), words);
  }
});

test('every part of the spoken text leads back to what it was written as', () => {
  const text = 'It  costs\u200B $5, Bob 😀 said.';
  const { text: spoken, sourceSpan } = normalize(text, english());
  assert.equal(spoken, 'It costs five dollars, Bob said.');
  const writtenAs = (words: string): string => {
    const at = spoken.indexOf(words);
    const { start, end } = sourceSpan(at, at + words.length);
    return text.slice(start, end);
  };
  assert.equal(writtenAs('costs'), 'costs');
  assert.equal(writtenAs('five'), '$5');
  assert.equal(writtenAs('dollars'), '$5');
  assert.equal(writtenAs('Bob'), 'Bob');
  assert.equal(writtenAs('said.'), 'said.');
});

test('what markup has claimed is left as written, and no token reaches into it', () => {
  const text = 'Call 555-1234 or 555-9876, in 3 days.';
  const start = text.indexOf('555-9876');
  const { text: spoken } = normalize(text, english(), { claimed: [{ start, end: start + 8 }] });
  assert.equal(spoken, 'Call five five five, one two three four or 555-9876, in three days.');
  const within = text.indexOf('-1234');
  const { text: cut } = normalize(text, english(), { claimed: [{ start: within, end: within + 5 }] });
  assert.ok(cut.includes('-1234'));
});

test('controls, zero-width and direction marks and broken surrogates are not spoken', () => {
  assert.equal(normalize('a\u0000b\u200B \u202Ec\uD800 d\uDC00 \uFEFF\u00ADe', english()).text, 'ab c d e');
});

test('full-width forms are read like narrow ones', () => {
  assert.equal(
    normalize('＄５．５０ ｉｓ ５０％', english()).text,
    normalize('$5.50 is 50%', english()).text,
  );
});

test('spoken text is left alone when it is normalised again', () => {
  for (const language of LANGUAGES) {
    for (const { cases } of behavioursOf(language.tag)) {
      // Text left as written may hold digits: v1e6, 0x1F.
      for (const { spoken } of cases.filter((known) => !/\d/.test(known.spoken))) {
        const again = normalize(spoken, language).text;
        assert.ok(!/\d/.test(again), again);
      }
    }
  }
});

// prettier-ignore
const PIECES = [
  '1', '12', '2024', '0', '3.14', '1,000', '.', ',', ':', '/', '-', '–', '+', '(', ')', '[', '](', '$', '€', '%', '#', '@', '*', '_', '`', '|', '<',
  'a', 'Dr', 'Jan', 'km', 'p.m.', 'XIV', 'USA', 'www.', '.com', 'h', 'Uhr', 'z. B.', '\n', ' ', ' ', ' ', '😀', '\uD83D', '½', '²', '\u200B', '１', '中', '年',
  '000', '0th', 'th', 'er', 'º', 'ª', '°', '^', '.º', 'mo', '-й', '0^0', '1,000th', '0.', ' kg', '×', '=', 'Q', 'hPa', '第', '번째', '¥',
];
const anyText = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => pieces.join('')),
  fc.string({ unit: 'binary', maxLength: 80 }),
);

test('any text is normalised without an exception, well-formed, with its replacements in order', () => {
  fc.assert(
    fc.property(anyText, fc.constantFrom(...LANGUAGES), (text, language) => {
      const { text: spoken, replacements, sourceSpan } = normalize(text, language);
      assert.ok(!/\p{Cs}/u.test(spoken), JSON.stringify(spoken));
      let end = 0;
      for (const replacement of replacements) {
        assert.ok(replacement.start >= end && replacement.end > replacement.start);
        assert.equal(text.slice(replacement.start, replacement.end), replacement.written);
        end = replacement.end;
      }
      for (let at = 0; at < spoken.length; at++) {
        const span = sourceSpan(at, at + 1);
        assert.ok(span.start <= span.end && span.end <= text.length);
      }
    }),
    { numRuns: 3000 },
  );
});

test('a sentence that is cut for its length is never cut inside a token', () => {
  for (const language of LANGUAGES) {
    const sentences = behavioursOf(language.tag).flatMap(({ cases }) => cases.map(({ written }) => written));
    for (const sentence of sentences.filter(
      (written) => /^[\p{L}\p{N}]/u.test(written) && !written.includes('\n'),
    )) {
      for (const fill of [265, 283]) expectWholeTokens('blah '.repeat(fill / 5), sentence, language);
    }
  }
});

function expectWholeTokens(filler: string, sentence: string, language: Language): void {
  const text = filler + sentence;
  const stream = new SentenceStream({ language: language.tag });
  const cuts = [...stream.push(text), ...stream.end()].map((piece) => piece.end);
  for (const { start, end, written } of normalize(text, language).replacements) {
    const cut = cuts.find((at) => at > start && at < end);
    assert.ok(cut === undefined, `“${written}” of ${language.tag} is cut: ${text.slice(200)}`);
  }
}

// prettier-ignore
const ADVERSARIES: readonly string[] = [
  '1', '1,', '1.', '1 ', '1-', '1/', '1:', '(1', '+1 ', '0', 'a.', 'a@', 'a-', 'A1', 'A.', 'www.', 'http://', '[', '](', '[a](', '**', '_a', '`', '|',
  '$', '$1', '1$', '€ 1', '#a', '@a', '<b', '<b ', '-', '- ', '½', '1½', '😀', '\u200D', '\uD83D', '😀\u200D', 'Jan. ', 'Jan 1 ', '1. ', 'z. B. ', 'XIV ', 'I',
  '%', '^1', '²', '1e', '.1', '=1', '< ', '1 1/2 ', '12:00-', '~', "'", '"', '\n', ' ', '\u00A0', 'ｉ', '１', '1年', '…', '!', '3.10.', 'v1.', 'A1-',
];

test('no text takes more than linear time', () => {
  for (const [index, unit] of ADVERSARIES.entries()) {
    for (const language of twoLanguages(index)) {
      const [short = '', long = ''] = [1000, 8000].map((length) =>
        unit.repeat(Math.ceil(length / unit.length)),
      );
      const [shortly, longly] = [short, long].map((text) => bestTimeOf(text, language));
      // Eight times as long: sixty-four times the time would be quadratic. Short times are noise.
      assert.ok(
        (longly ?? 0) < 150 || (longly ?? 0) < (shortly ?? 0) * 24,
        `${JSON.stringify(unit)} in ${language.tag}: ${longly} ms`,
      );
    }
  }
});

/** Each adversary meets two of the languages, each language many adversaries. */
function twoLanguages(index: number): Language[] {
  const count = LANGUAGES.length;
  const picked = new Set([index % count, (index + Math.ceil(count / 2)) % count]);
  return [...picked].flatMap((at) => LANGUAGES[at] ?? []);
}

/** CPU time in milliseconds; unlike wall time it excludes other processes. */
function timeOf(text: string, language: Language): number {
  const before = process.cpuUsage();
  normalize(text, language);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Best of up to four rounds; stops early below 20 ms. The first round includes compilation. */
function bestTimeOf(text: string, language: Language): number {
  let best = timeOf(text, language);
  for (let round = 0; round < 3 && best > 20; round++) best = Math.min(best, timeOf(text, language));
  return best;
}

function spokenIn(tag: string, text: string): string {
  const language = languageOf(tag);
  assert.ok(language !== undefined);
  return normalize(text, language).text;
}

// prettier-ignore
const CASES: readonly (readonly [written: string, portugal: string, brazil: string])[] = [
  ['São 16, 17 ou 19.', 'São dezasseis, dezassete ou dezanove.', 'São dezesseis, dezessete ou dezenove.'],
  ['Em 2016 e 1917.', 'Em dois mil e dezasseis e mil novecentos e dezassete.', 'Em dois mil e dezesseis e mil novecentos e dezessete.'],
  ['O comboio sai às 19h16.', 'O comboio sai às dezanove e dezasseis.', 'O comboio sai às dezenove e dezesseis.'],
  ['Faltam 16 km, ao km 17.', 'Faltam dezasseis quilómetros, ao quilómetro dezassete.', 'Faltam dezesseis quilômetros, ao quilômetro dezessete.'],
  ['Vai a 19 km/h.', 'Vai a dezanove quilómetros por hora.', 'Vai a dezenove quilômetros por hora.'],
  ['Custa 16,17 €.', 'Custa dezasseis euros e dezassete cêntimos.', 'Custa dezesseis euros e dezessete cêntimos.'],
  ['São 2.000.000.000 de euros.', 'São dois mil milhões de euros.', 'São dois bilhões de euros.'],
  ['São 1.000.000.000 de euros.', 'São mil milhões de euros.', 'São um bilhão de euros.'],
  ['São 2.500.000.000 de euros.', 'São dois mil e quinhentos milhões de euros.', 'São dois bilhões e quinhentos milhões de euros.'],
  ['A mensagem é de ana_19@sapo.pt.', 'A mensagem é de ana underscore dezanove arroba sapo ponto P T.', 'A mensagem é de ana underline dezenove arroba sapo ponto P T.'],
  ['No séc. XVI e no séc. XIX.', 'No século dezasseis e no século dezanove.', 'No século dezesseis e no século dezenove.'],
  ['TV de 17" e caps. XVI e XIX.', 'T V de dezassete polegadas e capítulos dezasseis e dezanove.', 'T V de dezessete polegadas e capítulos dezesseis e dezenove.'],
  ['A pressão é 16/9, 16x mais.', 'A pressão é dezasseis por nove, dezasseis vezes mais.', 'A pressão é dezesseis por nove, dezesseis vezes mais.'],
  ['No dia 16/12, das 9h às 17h.', 'No dia dezasseis de dezembro, das nove horas às dezassete horas.', 'No dia dezesseis de dezembro, das nove horas às dezessete horas.'],
  ['Rua Augusta, 16, 1100-048 Lisboa.', 'Rua Augusta, dezasseis, um um zero zero, zero quatro oito Lisboa.', 'Rua Augusta, dezesseis, um um zero zero, zero quatro oito Lisboa.'],
];

test('a Portuguese text is said with the words of the region that its tag names, else with those of Brazil', () => {
  for (const [written, portugal, brazil] of CASES) {
    assert.equal(spokenIn('pt-PT', written), portugal);
    assert.equal(spokenIn('pt_ao', written), portugal);
    assert.equal(spokenIn('pt-BR', written), brazil);
    assert.equal(spokenIn('pt', written), brazil);
  }
});

const FEWEST = 150; // cases of a language

/** As a call speaks it: each sentence as soon as its end is certain. */
function spokenByCharacter(text: string, language: Language): string {
  const stream = new SentenceStream();
  const sentences = [...Array.from(text, (character) => stream.push(character)).flat(), ...stream.end()];
  return sentences.reduce((all, { text: sentence, start }, index) => {
    const tight = start === sentences[index - 1]?.end; // 你好。世界。: no space was written
    return all + (index === 0 || tight ? '' : ' ') + normalize(sentence, language).text;
  }, '');
}

/** Every case that is not spoken as expected, as one readable list. */
function differences(cases: readonly Case[], speak: (written: string) => string): string[] {
  return cases.flatMap(({ line, written, spoken }) => {
    const heard = speak(written);
    return heard === spoken ? [] : [`line ${line}: ${written}\n   heard: ${heard}\nexpected: ${spoken}`];
  });
}

function report(found: readonly string[]): void {
  assert.ok(found.length === 0, `${found.length} differ\n\n${found.join('\n\n')}\n`);
}

for (const tag of languagesWithCases()) {
  const language = languageOf(tag);
  const behaviours = behavioursOf(tag);

  test(`${tag} has a language of its own, and at least ${FEWEST} cases`, () => {
    assert.ok(language !== undefined);
    const count = behaviours.reduce((sum, { cases }) => sum + cases.length, 0);
    assert.ok(count >= FEWEST, `${count} cases`);
  });

  if (language === undefined) continue;
  for (const { title, cases } of behaviours) {
    test(`${tag}: ${title}`, () => {
      report(differences(cases, (written) => normalize(written, language).text));
    });
  }

  test(`${tag}: every case is spoken the same when it arrives character by character`, () => {
    const all = behaviours.flatMap(({ cases }) => cases);
    report(differences(all, (written) => spokenByCharacter(written, language)));
  });
}
