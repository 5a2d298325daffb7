import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../fakes/properties.js';
import {
  CUE_RULES,
  type Cue,
  cuesOf,
  type CueRules,
  inOrder,
  replacedCue,
} from '../../src/transcribing/cues.js';
import { columnsOf } from '../../src/transcribing/line-breaks.js';
import { shareTime, type TimedText } from '../../src/transcribing/timed-text.js';

/** Each word takes as long as stated, from 0 on. */
function spoken(words: readonly (readonly [word: string, seconds: number, pause?: number])[]): TimedText {
  const text = words.map(([word]) => word).join(' ');
  let start = 0;
  let beginSeconds = 0;
  const timed = words.map(([word, seconds, pause = 0]) => {
    const one = { start, end: start + word.length, beginSeconds, endSeconds: beginSeconds + seconds };
    start += word.length + 1;
    beginSeconds += seconds + pause;
    return one;
  });
  return { text, words: timed, beginSeconds: 0, endSeconds: beginSeconds };
}

function shared(text: string, endSeconds: number, beginSeconds = 0): TimedText {
  return { text, words: shareTime(text, beginSeconds, endSeconds), beginSeconds, endSeconds };
}

function shown(cues: readonly Cue[]): string[] {
  return cues.map(({ beginMs, endMs, lines }) => `${beginMs}-${endMs} ${lines.join(' | ')}`);
}

for (const [what, timed, cues] of [
  ['a short text is one cue, of a second at least', spoken([['Yes.', 0.3, 2]]), ['0-1000 Yes.']],
  ['a cue is not shown longer than its sound lasts', spoken([['Yes.', 0.3, 0.1]]), ['0-400 Yes.']],
  [
    'each sentence is a cue',
    spoken([
      ['This', 0.5],
      ['is', 0.5],
      ['one.', 0.5, 0.5],
      ['This', 0.5],
      ['is', 0.5],
      ['another.', 0.5],
    ]),
    ['0-1500 This is one.', '2000-3500 This is another.'],
  ],
  [
    'very short sentences share a cue',
    spoken([
      ['No.', 0.2, 0.1],
      ['No.', 0.2, 0.1],
      ['Wait', 0.3],
      ['for', 0.2],
      ['me!', 0.4, 0.3],
    ]),
    ['0-1500 No. No. Wait for me!'],
  ],
  [
    'a sentence of two lines is broken where the lines are about equal',
    shared('The quick brown fox jumps over the lazy dog near the river bank.', 5),
    ['0-5000 The quick brown fox jumps over | the lazy dog near the river bank.'],
  ],
  [
    'a line rather breaks after a mark',
    shared('When the rain had stopped at last, we went out to the garden.', 5),
    ['0-5000 When the rain had stopped at last, | we went out to the garden.'],
  ],
  [
    'a long sentence is cut after a clause',
    shared(
      'When the rain had stopped and the sun came out at last, we went out to the garden, where the children were playing with the dog.',
      9,
    ),
    [
      '0-3651 When the rain had stopped | and the sun came out at last,',
      '3906-9000 we went out to the garden, where the | children were playing with the dog.',
    ],
  ],
  [
    'a pause parts cues',
    spoken([
      ['One', 0.5],
      ['two', 0.5],
      ['three', 0.5, 2],
      ['four', 0.5],
      ['five', 0.5],
      ['six', 0.5],
    ]),
    ['0-1500 One two three', '3500-5000 four five six'],
  ],
  [
    'Chinese characters fill two columns, and no line begins with a mark',
    shared('今天的天气非常好，我们打算下午一起去公园散步，然后在湖边的餐厅吃晚饭。', 8),
    ['0-5176 今天的天气非常好， | 我们打算下午一起去公园散步，', '5412-8000 然后在湖边的餐厅吃晚饭。'],
  ],
  ['nothing said, no cue', shared('', 3), []],
] as const) {
  test(`cues: ${what}`, () => {
    assert.deepEqual(shown(inOrder(cuesOf(timed, CUE_RULES))), cues);
  });
}

test('a cue begins and ends with its words, whatever stands before', () => {
  const timed = shared('One sentence here. Another one there.', 104, 100);
  const [first, second, ...more] = cuesOf(timed, CUE_RULES);
  assert.equal(more.length, 0);
  assert.equal(first?.beginMs, 100_000);
  assert((second?.beginMs ?? 0) > (first?.endMs ?? Infinity));
  assert.equal(second?.endMs, 104_000);
});

test('a word that is wider than a line is cut between characters', () => {
  const [cue, ...more] = cuesOf(shared('Donaudampfschifffahrtsgesellschaft', 2), {
    ...CUE_RULES,
    maxLineColumns: 20,
  });
  assert.deepEqual(cue?.lines, ['Donaudampfschifffahr', 'tsgesellschaft']);
  assert.equal(more.length, 0);
});

test('words at one instant still become cues one after the other', () => {
  const text = 'First sentence. Second sentence. Third sentence.';
  const words = shareTime(text, 0, 1).map((word) => ({ ...word, beginSeconds: 0, endSeconds: 0 }));
  const cues = inOrder(cuesOf({ text, words, beginSeconds: 0, endSeconds: 0 }, CUE_RULES));
  for (const [n, { beginMs, endMs }] of cues.entries()) {
    assert(endMs > beginMs);
    assert(beginMs >= (cues[n - 1]?.endMs ?? 0));
  }
});

const WORDS: Readonly<Record<string, readonly string[]>> = {
  en: [
    'a',
    'the',
    'extraordinary',
    "don't",
    'Dr.',
    '3.5',
    'house,',
    'river;',
    'stop.',
    '“Really?”',
    'e-mail',
  ],
  de: ['ja', 'Straßenbahnhaltestelle', 'für', 'z.B.', 'Übung,', 'fertig.', '„Nein!“', '(nicht)'],
  fr: ["l'homme", 'déjà,', 'où ?', '« oui »', 'aujourd’hui', 'fini.'],
  es: ['¿Cómo', 'estás?', '¡Hola!', 'mañana,', 'y', 'fin.'],
  ru: ['в', 'достопримечательность', 'да,', 'нет.', '«так»'],
  ar: ['في', 'المدينة،', 'هل', 'السلام؟', 'نعم.'],
  hi: ['में', 'नमस्ते,', 'विश्वविद्यालय', 'है।'],
  ko: ['나는', '학교에서', '공부했습니다.', '그리고,'],
  zh: ['今天', '天气', '非常好，', '我们', '吃饭。', '“是吗？”', 'GPT'],
  ja: ['今日は', 'とても', 'コンピューター、', 'です。', '「はい」', 'っと'],
  th: ['สวัสดี', 'ประเทศไทย', 'มหาวิทยาลัย', 'ครับ'],
};

const timedTexts = fc
  .constantFrom(...Object.keys(WORDS))
  .chain((language) => {
    const word = fc.tuple(
      fc.constantFrom(...(WORDS[language] ?? [])),
      fc.integer({ min: 0, max: 1500 }),
      fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: 3000 })),
    );
    return fc.tuple(fc.constant(language), fc.array(word, { minLength: 1, maxLength: 60 }));
  })
  .map(([language, drawn]) => {
    const gap = ['zh', 'ja', 'th'].includes(language) ? '' : ' ';
    let text = '';
    let ms = 0;
    const words = drawn.map(([word, duration, pause]) => {
      const start = text.length;
      text += word + gap;
      const one = {
        start,
        end: start + word.length,
        beginSeconds: ms / 1000,
        endSeconds: (ms + duration) / 1000,
      };
      ms += duration + pause;
      return one;
    });
    return { language, timed: { text, words, beginSeconds: 0, endSeconds: ms / 1000 } };
  });

const rules = fc.record<CueRules>({
  maxLineColumns: fc.integer({ min: 10, max: 60 }),
  minSeconds: fc.constantFrom(0.5, 1),
  maxSeconds: fc.constantFrom(3, 7),
  columnsPerSecond: fc.constantFrom(12, 20),
});

function withoutSpace(text: string): string {
  return text.replace(/\s/gu, '');
}

test('cues show the whole text, in lines that fit', () => {
  fc.assert(
    fc.property(timedTexts, rules, ({ language, timed }, rule) => {
      const cues = cuesOf(timed, rule, language);
      assert.equal(withoutSpace(cues.flatMap(({ lines }) => lines).join('')), withoutSpace(timed.text));
      for (const { lines } of cues) {
        assert(lines.length === 1 || lines.length === 2);
        for (const line of lines) {
          assert(columnsOf(line) <= rule.maxLineColumns, line);
          assert.equal(line, line.trim());
          assert.doesNotMatch(line, /^(?:$|[。，？！」”、])/u);
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('cues never overlap, and are shown as long as there is time', () => {
  fc.assert(
    fc.property(timedTexts, rules, ({ language, timed }, rule) => {
      const chosen = cuesOf(timed, rule, language);
      const cues = inOrder(chosen);
      for (const [n, { beginMs, endMs, lines }] of cues.entries()) {
        const limit = cues[n + 1]?.beginMs ?? Math.max(timed.endSeconds * 1000, endMs);
        assert(beginMs < endMs && endMs <= limit);
        if (beginMs !== chosen[n]?.beginMs) continue; // moved, since words were said at one instant
        assert(endMs - beginMs <= Math.max(rule.maxSeconds * 1000, 1) + 1);
        const columns = columnsOf(lines.join(' '));
        const needed = Math.max(rule.minSeconds, (columns - 1) / rule.columnsPerSecond) * 1000;
        assert(endMs - beginMs >= Math.min(needed, limit - beginMs, rule.maxSeconds * 1000) - 2);
      }
    }),
    { numRuns: 300 },
  );
});

test('an hour of text without a stop is cut in time', () => {
  const text = 'word '.repeat(10_000).trim();
  const began = process.cpuUsage().user;
  const cues = cuesOf(shared(text, 3600), CUE_RULES, 'en');
  assert(process.cpuUsage().user - began < 3_000_000);
  assert(cues.every(({ beginMs, endMs }) => endMs > beginMs && endMs - beginMs <= 7000));
});

test('ten thousand words a minute are shown without overlap', () => {
  const cues = inOrder(cuesOf(shared('Too fast to read. '.repeat(2500).trim(), 60), CUE_RULES, 'en'));
  cues.reduce((before, { beginMs, endMs }) => {
    assert(beginMs >= before && endMs > beginMs);
    return endMs;
  }, 0);
  assert((cues.at(-1)?.endMs ?? Infinity) <= 60_000);
});

const NARROW: CueRules = { ...CUE_RULES, maxLineColumns: 20 };
const PLACE = { beginMs: 1000, endMs: 5000 };

test('other words that two lines hold keep the time of their cue', () => {
  assert.deepEqual(shown(replacedCue('Le renard brun saute par-dessus.', PLACE, NARROW, 'fr')), [
    '1000-5000 Le renard brun | saute par-dessus.',
  ]);
});

test('other words that two lines do not hold share the time of their cue', () => {
  const text = 'Le renard brun et rapide saute par-dessus le chien. Il est très paresseux, dit-on ici.';
  const cues = replacedCue(text, PLACE, NARROW, 'fr');
  assert.deepEqual(
    cues.map(({ lines }) => lines),
    [
      ['Le renard brun', 'et rapide saute'],
      ['par-dessus le chien.', 'Il est très'],
      ['paresseux,', 'dit-on ici.'],
    ],
  );
  assert.equal(cues[0]?.beginMs, 1000);
  assert.equal(cues.at(-1)?.endMs, 5000);
  for (const [n, { endMs }] of cues.entries()) assert.equal(endMs, cues[n + 1]?.beginMs ?? 5000);
});

test('words that share the end of the time are shown within it', () => {
  const place = { beginMs: 500, endMs: 600 };
  const rules = { ...CUE_RULES, maxLineColumns: 10 };
  const cues = replacedCue('Donaudampfschifffahrtsgesellschaft ja, … …', place, rules);
  assert.equal(cues.at(-1)?.endMs, 600);
  for (const [n, { beginMs, endMs }] of cues.entries()) {
    assert.ok(beginMs < endMs);
    assert.equal(beginMs, n === 0 ? 500 : cues[n - 1]?.endMs);
  }
});

test('whatever the other words are, no line is too long, none is lost, and the time is kept', () => {
  const words = fc.array(
    fc.constantFrom('a', 'Donaudampfschifffahrtsgesellschaft', 'ja,', 'so.', '学校に行く', '…'),
    {
      minLength: 1,
      maxLength: 60,
    },
  );
  fc.assert(
    fc.property(
      words,
      fc.integer({ min: 10, max: 60 }),
      fc.integer({ min: 100, max: 7000 }),
      (all, most, ms) => {
        const text = all.join(' ');
        const cues = replacedCue(
          text,
          { beginMs: 500, endMs: 500 + ms },
          { ...CUE_RULES, maxLineColumns: most },
        );
        const lines = cues.flatMap((cue) => cue.lines);
        assert.equal(lines.join('').replaceAll(/\s/gu, ''), text.replaceAll(/\s/gu, ''));
        for (const line of lines) assert.ok(columnsOf(line) <= most, `"${line}" is wider than ${most}`);
        for (const [n, cue] of cues.entries()) {
          assert.ok(cue.lines.length <= 2 && cue.beginMs < cue.endMs);
          assert.equal(cue.beginMs, n === 0 ? 500 : cues[n - 1]?.endMs);
        }
        assert.equal(cues.at(-1)?.endMs, 500 + ms);
      },
    ),
  );
});
