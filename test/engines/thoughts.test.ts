// Thoughts in the text of a chat model, however it is cut into pieces.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentText, ThoughtFilter, withoutThoughts } from '../../src/engines/openai/thoughts.js';
import fc from '../fakes/properties.js';

/** What is said in the end of a text in these pieces. */
function saidOf(pieces: readonly string[], options?: { isHolding: boolean }): string {
  const filter = new ThoughtFilter(options);
  let said = '';
  for (const piece of pieces) {
    const { text, endsThought } = filter.push(piece);
    said = endsThought ? text : said + text;
  }
  return said + filter.end();
}

const TEXTS = [
  ['a thought', '<think>She asks for tea.</think>Good morning.', 'Good morning.'],
  ['another tag', '<thinking>Hm.</thinking> Good morning.', 'Good morning.'],
  ['a thought in the words of Gemini', '<thought>Hm.</thought>Good morning.', 'Good morning.'],
  ['tags in capitals', '<THINK>Hm.</Think>Good morning.', 'Good morning.'],
  ['an empty thought', '<think>\n\n</think>\n\nGood morning.', 'Good morning.'],
  ['a thought that is never closed', '<think>She asks for tea. Good morning.', ''],
  ['only a closing tag', 'She asks for tea.\n</think>\n\nGood morning.', 'Good morning.'],
  ['only a closing tag in capitals', 'Hm.</THINKING>Good morning.', 'Good morning.'],
  ['two thoughts', '<think>a</think>Good <think>b</think>morning.', 'Good  morning.'],
  ['a thought between words', 'Good<think>b</think>morning.', 'Good morning.'],
  ['a thought in a thought', '<think>a<think>b</think>c</think>Good morning.', 'Good morning.'],
  ['a thought at the end', 'Good morning.<think>That was it.</think>', 'Good morning.'],
  ['other tags', '<b>1 < 2</b> and <thinker>', '<b>1 < 2</b> and <thinker>'],
  ['the beginning of a tag at its end', 'Is it <thi', 'Is it <thi'],
  ['a lone mark at its end', 'a <', 'a <'],
  ['no thought', 'Good morning.', 'Good morning.'],
] as const;

for (const [what, text, said] of TEXTS) {
  test(`a text with ${what} is said without it, wherever it is cut`, () => {
    assert.equal(withoutThoughts(text), said);
    for (const options of [{ isHolding: false }, { isHolding: true }]) {
      assert.equal(saidOf([text], options), said);
      assert.equal(saidOf(text.split(''), options), said);
      for (let at = 1; at < text.length; at++)
        assert.equal(saidOf([text.slice(0, at), text.slice(at)], options), said);
    }
  });
}

test('each piece without a mark is passed on at once, whole', () => {
  const pieces = fc.array(fc.string().map((piece) => piece.replaceAll('<', '')));
  fc.assert(
    fc.property(pieces, (given) => {
      const filter = new ThoughtFilter();
      for (const piece of given) assert.deepEqual(filter.push(piece), { text: piece, endsThought: false });
      assert.equal(filter.end(), '');
    }),
  );
});

test('of any text, no more than the beginning of a tag is held back', () => {
  const marked = fc.array(fc.constantFrom('<', '/', 't', 'think', 'ing', '>', 'a', ' '));
  fc.assert(
    fc.property(marked, (given) => {
      const filter = new ThoughtFilter();
      let rest = '';
      for (const piece of given) {
        rest += piece;
        if (/<\/?think(?:ing)?>/i.test(rest)) return;
        rest = rest.slice(filter.push(piece).text.length);
        assert.match(rest, /^(?:<\/?[a-z]*)?$/);
      }
    }),
  );
});

test('a text that is held back is let go by its end, by an opening tag, and by another sign', () => {
  const ended = new ThoughtFilter({ isHolding: true });
  assert.equal(ended.push('Good morning. ').text, '');
  assert.equal(ended.push('Tea?').text, '');
  assert.equal(ended.end(), 'Good morning. Tea?');
  const opened = new ThoughtFilter({ isHolding: true });
  assert.equal(opened.push('Good morning. <think>Hm.').text, 'Good morning. ');
  const released = new ThoughtFilter({ isHolding: true });
  released.push('Good ');
  assert.equal(released.release(), 'Good ');
  assert.equal(released.push('morning.').text, 'morning.');
  assert.deepEqual(
    [ended, opened, released].map(({ isUnopened }) => isUnopened),
    [false, false, false],
  );
});

test('a thought without an opening tag is known as such, if it has words', () => {
  for (const [text, isUnopened] of [
    ['She asks for tea.</think>Good morning.', true],
    ['\n\n</think>\n\nGood morning.', false],
    ['<think>Hm.</think>Good morning.', false],
  ] as const) {
    for (const isHolding of [true, false]) {
      const filter = new ThoughtFilter({ isHolding });
      for (const character of text) filter.push(character);
      assert.equal(filter.isUnopened, isUnopened, text);
    }
  }
});

test('a content of several parts has the text of those that are no thoughts', () => {
  const parts = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'She asks for tea.' }] },
    { type: 'text', text: 'Good ' },
    null,
    { type: 'text', text: 'morning.' },
  ];
  assert.equal(contentText(parts), 'Good morning.');
  assert.equal(contentText('Good morning.'), 'Good morning.');
  assert.deepEqual([contentText(null), contentText(undefined), contentText(7)], Array(3).fill(undefined));
});
