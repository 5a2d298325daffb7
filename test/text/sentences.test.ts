import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../fakes/properties.js';
import { SentenceStream, type Sentence } from '../../src/text/sentences.js';

function whole(text: string, maxLength = 300): Sentence[] {
  const stream = new SentenceStream({ maxLength });
  return [...stream.push(text), ...stream.end()];
}

function byToken(text: string, lengths: readonly number[], maxLength = 300): Sentence[] {
  const stream = new SentenceStream({ maxLength });
  const sentences: Sentence[] = [];
  let at = 0;
  for (let turn = 0; at < text.length; turn++) {
    const length = lengths[turn % lengths.length] ?? 1;
    sentences.push(...stream.push(text.slice(at, at + length)));
    at += length;
  }
  return [...sentences, ...stream.end()];
}

function texts(text: string, maxLength?: number): string[] {
  return whole(text, maxLength).map((sentence) => sentence.text);
}

/**
 * "a | b" stands for the text "a b" and its two sentences; every expectation is checked whole and by
 * character.
 */
function expectCut(written: string, joint = ' '): void {
  const expected = written.split(' | ');
  const text = expected.join(joint);
  assert.deepEqual(texts(text), expected);
  assert.deepEqual(byToken(text, [1]), whole(text));
}

test('a sentence is given out with the first character that makes its end certain', () => {
  const stream = new SentenceStream();
  assert.deepEqual(stream.push('Hello'), []);
  assert.deepEqual(stream.push(' there'), []);
  assert.deepEqual(stream.push('.'), []);
  assert.deepEqual(stream.push(' '), []);
  assert.deepEqual(stream.push('H'), [{ text: 'Hello there.', start: 0, end: 12 }]);
  assert.deepEqual(stream.push('ow are you?'), []);
  assert.deepEqual(stream.end(), [{ text: 'How are you?', start: 13, end: 25 }]);
  assert.deepEqual(stream.end(), []);
});

test('a closed block of code is in no sentence; its fences alone decide, however the text arrives', () => {
  const long = 'x'.repeat(60);
  for (const [text, expected] of [
    [
      'Here it is:\n\n```js\nconst a = 1; // Really.\n\nb();\n```\n\nThat is all.',
      ['Here it is:', 'That is all.'],
    ],
    [`See ${long}:\n~~~~ sh x\nls\n~~~\nrm\n~~~~~  \nDone.`, [`See ${long}:`, 'Done.']],
    ['```\ncode\n```', []],
    ['  ```\n  code\n  ```\nOne.\n```\ntwo\n```\nThree.', ['One.', 'Three.']],
    ['One.\n\n```js\n\nThat is all.', ['One.', '```js', 'That is all.']],
    ['Use ```a``` here.', ['Use ```a``` here.']],
    ['```a``` is a name.', ['```a``` is a name.']],
    ['`a` is. ~5 of it.', ['`a` is.', '~5 of it.']],
    ['```\none ``` two.\n```\nThree.', ['Three.']],
  ] as const) {
    assert.deepEqual(texts(text), expected, text);
    for (const lengths of [[1], [2, 5], [7]]) assert.deepEqual(byToken(text, lengths), whole(text), text);
  }
  const [, after] = whole('A.\n```\nb\n```\nC.');
  assert.deepEqual(after, { text: 'C.', start: 13, end: 15 });
  const stream = new SentenceStream();
  assert.deepEqual(stream.push('```\nconst a;\n'), []);
  assert.deepEqual(stream.push('```\nIt is done. '), []);
  assert.deepEqual(stream.push('N'), [{ text: 'It is done.', start: 17, end: 28 }]);
});

test('a block of code of any length is passed over, and what follows it is spoken', () => {
  const line = 'It is code. Really! `a` ~~~ b\n';
  const code = line.repeat(Math.ceil(100_000 / line.length));
  for (const [block, rest] of [
    [`\`\`\`ts\n${code}\`\`\`\n`, ''],
    [`~~~\n${code}~~~\n`, ''],
    [`~~~ ts title=\`a\`\n${code}~~~\n`, ''],
    [`\`\`\`\`md\n${code}\`\`\`ts\nInside.\n\`\`\`\n${code}  \`\`\`\`\`  \r\n`, ''],
    [`~~~\n\`\`\`\n${code}\`\`\`\nInside.\n~~~\n`, ''],
    [`\`\`\`\n${'x'.repeat(100_000)}\`\`\`\n\`\`\`\n`, ''],
    [`\`\`\`\n${' '.repeat(9000)}\`\`\`\n\n\n \n\`\`\`\n`, ''],
    [`\`\`\`\n${'`'.repeat(9000)}\n\`\`\`\n`, ''],
    [`\`\`\`ts\n${code}`, 'unclosed'],
    [`\`\`\`ts\n${code}\`\``, 'unclosed'],
  ] as const) {
    const text = `Here it is:\n\n${block}That is all. Good.`;
    const expected = rest === '' ? ['Here it is:', 'That is all.', 'Good.'] : ['Here it is:'];
    assert.deepEqual(texts(text), expected, text.slice(0, 40));
    for (const lengths of [[1], [2, 5], [4096], [7999, 3]])
      assert.deepEqual(byToken(text, lengths), whole(text), text.slice(0, 40));
  }
});

test('a block that is long at its end, without a line break behind it, is passed over', () => {
  const code = 'const a = 1;\n'.repeat(1000);
  assert.deepEqual(texts(`One.\n\`\`\`\n${code}\`\`\``), ['One.']);
  assert.deepEqual(byToken(`One.\n\`\`\`\n${code}\`\`\``, [3]), whole('One.'));
});

test('an endless block of code takes no memory', () => {
  const [pushes, units] = [1000, 65_536];
  for (const piece of [`const a = ${'1'.repeat(53)}\n`, 'x', ' ', '`']) {
    const token = piece.repeat(units / piece.length);
    const stream = new SentenceStream();
    stream.push('```\n');
    const before = process.memoryUsage().heapUsed;
    for (let n = 0; n < pushes; n++) assert.equal(stream.push(token).length, 0);
    const grown = process.memoryUsage().heapUsed - before;
    assert.ok(grown < (pushes * units) / 2, `${grown} bytes`);
    stream.push('\n```\nDone.');
    const end = '```\n'.length + pushes * units + '\n```\nDone.'.length;
    assert.deepEqual(stream.end(), [{ text: 'Done.', start: end - 'Done.'.length, end }]);
  }
});

test('a Chinese sentence is given out as soon as something follows its stop', () => {
  const stream = new SentenceStream();
  assert.deepEqual(stream.push('你好。'), []);
  assert.deepEqual(stream.push('今'), [{ text: '你好。', start: 0, end: 3 }]);
});

test('a paragraph is given out at its blank line, before the next one begins', () => {
  const stream = new SentenceStream();
  assert.deepEqual(stream.push('A title\n'), []);
  assert.deepEqual(stream.push('\n'), [{ text: 'A title', start: 0, end: 7 }]);
  assert.deepEqual(stream.push('It was Dr.\n'), []);
  assert.deepEqual(stream.push('\n'), [{ text: 'It was Dr.', start: 9, end: 19 }]);
});

test('abbreviations, numbers and initials do not end an English sentence', () => {
  for (const written of [
    'Dr. Smith called at 3 p.m. | He left.',
    'Dr. Smith called at 3 p.m.',
    'Pi is about 3.14. | It goes on.',
    'Pi is 3.14 and e is 2.718.',
    'J. R. R. Tolkien wrote it. | We read it.',
    'J.R.R. Tolkien wrote it.',
    'Bring fruit, e.g. apples. | Thanks!',
    'Bring fruit, i.e. Apples or Pears.',
    'It costs 5 U.S. dollars. | That is cheap.',
    'He lives in the U.S. | He likes it.',
    'The U.S. Army is large.',
    'Mr. and Mrs. O’Neill met Prof. Jones at St. Mary’s.',
    'We meet at 5 p.m. Eastern. | Bye.',
    'We meet at 5 p.m. Monday. | Bye.',
    'We met at 5 a.m. | John was tired.',
    'She works for Acme Inc. | John does too.',
    'Apples, pears, etc. | Everything is fresh.',
    'Apples, pears, etc. are fresh.',
    'See No. 5 and Fig. 2 on p. 12. | Then stop.',
    'I said no. | Then I left.',
    'On Jan. 5 it snowed. | It was cold.',
    'It happened in 1999. | The year after was better.',
    'That was plan B. | The next one is plan C.',
    'You like it and so do I. | Then we agree.',
    'Marshall B. Rosenberg spoke. | We listened.',
    'George W. Bush Jr. spoke.',
    'The Ph.D. took years.',
    'Smith et al. found it. | The rest is history.',
    'He moved to Washington D.C. | There he stayed.',
  ]) {
    expectCut(written);
  }
});

test('stops inside addresses, versions and file names end nothing', () => {
  for (const written of [
    'Visit https://example.com/a.b?c=d!e now. | Thanks.',
    'Visit example.com. | Then call us.',
    'Write to a.b@example.co.uk. | We answer.',
    'Use Node.js v20.19.1 or .NET here. | Both work.',
    'Open config.ts. | Then close it.',
    'The IP is 192.168.0.1. | Ping it.',
    'It is https://example.com/x. | Nothing else.',
  ]) {
    expectCut(written);
  }
});

test('quotes, brackets, ellipses and repeated marks stay with their sentence', () => {
  for (const written of [
    '“Stop!” he said. | Then he left.',
    'He said, "Stop." | Then he left.',
    'He said "I know." and left.',
    '(This is a note.) | This is not.',
    '“Really?!” | “Yes!!!” | Good.',
    'Well... | I think so.',
    'Well... maybe not.',
    'Wait… what? | Nothing.',
    'Oh . . . well.',
    'Wow! ! ! | Great.',
    'It was proven.[12] | Later it was not.',
    'That is **bold.** | This is not.',
    'He left. | (He was tired.) | He slept.',
    'He left. | "I am tired," he said.',
    'Great! | 😀 Next one.',
    'Yahoo! announced it. | Nobody cared.',
  ]) {
    expectCut(written);
  }
});

test('a writer who uses no capitals is understood', () => {
  expectCut('i like it. | it is good. | do you like it? | yes');
  expectCut('hello! | how are you? | i am fine');
  expectCut('It rained in approx. half of the towns.');
});

test('other languages are cut at their own sentence ends', () => {
  for (const written of [
    'Am 3. Oktober ist Feiertag. | Danach nicht.',
    'Das ist z. B. Obst, d. h. Äpfel usw. | Er mag es.',
    'Der 2. Weltkrieg endete 1945. | Dann kam Frieden.',
    'Hr. Müller wohnt in der Hauptstr. 5. | Er ist nett.',
    'Das kostet 5 Mio. Euro. | Ich weiß es. | Gut.',
    'M. Dupont est là. | Il attend.',
    'Bonjour ! | Comment ça va ? | Très bien.',
    '« Bonjour ! » dit-il. | Puis il part.',
    'Ah ! quel plaisir. | Merci.',
    '¿Qué tal? | ¡Muy bien! | El Sr. García llegó a las 3.',
    'La Sra. López habla con Ud. | Gracias.',
    'Il sig. Rossi e la dott.ssa Bianchi parlano. | Poi escono.',
    'Ele mora na Av. Paulista. | O número é 5.',
    'Он родился в 1990 г. в Москве. | Потом уехал.',
    'Яблоки, груши и т. д. | Он всё купил.',
    '안녕하세요. | 저는 학생입니다. | 감사합니다!',
  ]) {
    expectCut(written);
  }
});

test('Chinese and Japanese need no spaces, and a quoted question stays in its sentence', () => {
  for (const written of [
    '你好！ | 今天天气很好。 | 我们去公园吧？ | 好。',
    '他说：“你好！” | 然后走了。',
    '价格是3.14元。 | 不贵。',
    '我……不知道。 | 也许吧。',
    'こんにちは。 | 元気ですか？ | はい！',
    '「元気ですか？」と言った。 | 彼は笑った。',
    '「はい。」 | それから帰った。',
    'Hello! | 你好！',
  ]) {
    expectCut(written, '');
  }
});

test('a language that is stated has only its own short forms', () => {
  const cut = (text: string, language?: string) => {
    const stream = new SentenceStream({ language });
    return [...stream.push(text), ...stream.end()].map((sentence) => sentence.text);
  };
  assert.deepEqual(cut('Come sta. Bene, grazie.'), ['Come sta. Bene, grazie.']); // Sta. of Spanish
  assert.deepEqual(cut('Come sta. Bene, grazie.', 'it-IT'), ['Come sta.', 'Bene, grazie.']);
  assert.deepEqual(cut('Está en Sta. Bárbara.', 'es'), ['Está en Sta. Bárbara.']);
  assert.deepEqual(cut('Dr. Lee ist da.', 'xx'), ['Dr. Lee ist da.']);
});

test('lists, headings and lines of a poem end at their line; wrapped lines go on', () => {
  expectCut('Buy these: | - two apples | - three pears | Thanks', '\n');
  expectCut('Steps: | 1. Open the door. | 2. Close it | 3) Leave', '\n');
  expectCut('Introduction | This is the text.', '\n');
  expectCut('Roses are red | Violets are blue', '\n');
  expectCut('A paragraph without a stop | and another', '\n\n');
  expectCut('One | Two', '\r\n');
  expectCut('One | two', '\r\n \r\n');
  const wrapped =
    'This line of text was wrapped by a mail program at seventy\nTwo columns, in the middle of it.';
  assert.deepEqual(texts(wrapped), [wrapped.replace('\n', ' ')]);
  assert.deepEqual(texts(wrapped.replace('\n', '\r\n')), [wrapped.replace('\n', ' ')]);
  assert.deepEqual(texts('One line\nof text'), ['One line of text']);
});

test('what holds no letter or digit is not a sentence', () => {
  assert.deepEqual(texts(''), []);
  assert.deepEqual(texts(' \n\t '), []);
  assert.deepEqual(texts('...'), []);
  assert.deepEqual(texts('?! … 👍'), []);
  assert.deepEqual(texts('One.\n\n* * *\n\nTwo.'), ['One.', 'Two.']);
});

test('a sentence is one well-formed line', () => {
  assert.deepEqual(texts('  A \t b\u00A0\u3000c\u0000d\uFEFF e\uD800\u00AD.  '), ['A b c d e.']);
});

test('a sentence says where it stands in the whole text', () => {
  const text = '  One  two.  Three?\n\n***\n\nFour';
  for (const { text: spoken, start, end } of whole(text)) {
    assert.equal(text.slice(start, end).replace(/\s+/g, ' '), spoken);
  }
  assert.deepEqual(
    whole(text).map((sentence) => sentence.start),
    [2, 13, 26],
  );
});

test('a sentence over the length is cut after a clause, else at a space, else between words', () => {
  assert.deepEqual(texts('one two, three four five six seven', 20), [
    'one two,',
    'three four five six',
    'seven',
  ]);
  assert.deepEqual(texts('one two three four five six seven', 20), ['one two three four', 'five six seven']);
  assert.deepEqual(texts('我们今天去公园玩，然后一起回家吃饭。', 10), [
    '我们今天去公园玩，',
    '然后一起回家吃饭。',
  ]);
  assert.deepEqual(
    texts('我们今天去公园玩然后一起回家吃饭。', 10).join(''),
    '我们今天去公园玩然后一起回家吃饭。',
  );
});

test('a cut never falls into a number, a character, or before its own punctuation', () => {
  assert.deepEqual(texts('it cost us 10 000 000 at the end', 16), ['it cost us', '10 000 000 at', 'the end']);
  assert.deepEqual(texts('it is 1,234,567.89 now', 12), ['it is', '1,234,567.89', 'now']);
  const family = '👨‍👩‍👧‍👦'; // eleven units, one character
  assert.deepEqual(texts(`a${family}b${family}`, 14), [`a${family}b`]);
  assert.deepEqual(texts('aaaa bbbb (cccc) dddd', 15), ['aaaa bbbb', '(cccc) dddd']);
});

test('a cut never falls into what is spoken as one thing', () => {
  for (const [text, limit, first] of [
    ['we will send it all to 12 Main St, Austin, TX 78701 very soon', 48, 'we will send it all to'],
    ['we wait for you on the 4th of July, 1776 at noon', 36, 'we wait for you on'],
    ['er zahlt uns dafür 1.234,56 € im Monat und mehr', 30, 'er zahlt uns'],
    ['it will cost you about $1.2 million to do that', 28, 'it will cost you'],
    ['nos vemos todos el 15 de enero de 2024 en casa', 34, 'nos vemos todos el'],
    ['the rooms have about 850 sq ft of space in them', 27, 'the rooms have'],
    ['they told all of us that their PIN is: 482913 now', 41, 'they told all of us'],
    ['他们昨天花了很多钱一共1,234.56元买了这个', 19, '他们昨天花了很多钱一共'],
  ] as const) {
    assert.equal(texts(text, limit)[0], first);
    assert.deepEqual(byToken(text, [1], limit), whole(text, limit));
  }
});

// prettier-ignore
const PIECES = [
  'Hello', 'Dr', 'p.m', 'U.S', 'J', 'I', 'the', 'He', 'no', '3.14', '5', '1,000', 'am', 'z', 'B', 'etc', 'example.com',
  '.', '.', '!', '?', '…', '...', '。', '！', '？', '」', '「', '、', '"', '”', '“', ')', '(', '»', '«', '[1]', '[', ',', ';',
  ' ', ' ', ' ', ' ', '\n', '\n\n', '\r\n', '\r', '\t', '\u00A0', '\u3000', '- ', '1. ', '你好', 'と', 'café', 'é',
  '👨‍👩‍👧‍👦', '\uD83D', '\uDE00', 'г', '*', '—', '                                                                    ',
];
const anyText = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((pieces) => pieces.join('')),
  fc.string({ unit: 'binary', maxLength: 120 }),
);
const anyLengths = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 12 });
const anyLimit = fc.constantFrom(2, 3, 5, 12, 40, 300);

test('the sentences do not depend on how the text was cut into tokens', () => {
  fc.assert(
    fc.property(anyText, anyLengths, anyLimit, (text, lengths, limit) => {
      assert.deepEqual(byToken(text, lengths, limit), whole(text, limit));
    }),
    { numRuns: 3000 },
  );
});

test('every letter and digit is spoken once, in order, within the length', () => {
  const letters = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, '');
  fc.assert(
    fc.property(anyText, anyLimit, (text, limit) => {
      const sentences = whole(text, limit);
      assert.equal(letters(sentences.map((sentence) => sentence.text).join('')), letters(text));
      let end = 0;
      for (const sentence of sentences) {
        assert.ok(sentence.text.length <= limit && /[\p{L}\p{N}]/u.test(sentence.text));
        assert.ok(sentence.start >= end && sentence.end > sentence.start);
        assert.equal(letters(text.slice(sentence.start, sentence.end)), letters(sentence.text));
        end = sentence.end;
      }
    }),
    { numRuns: 2000 },
  );
});

test('a long text that arrives character by character is cut in linear time', () => {
  const text = `${' '.repeat(5000)}${'a'.repeat(20_000)}${'!'.repeat(5000)}${'(\n'.repeat(5000)}`;
  const startedAt = performance.now();
  byToken(text, [1]);
  assert.ok(performance.now() - startedAt < 5000);
});

test('text after the end is refused, and so is a length without room', () => {
  const stream = new SentenceStream();
  stream.end();
  assert.throws(() => stream.push('x'), TypeError);
  assert.throws(() => new SentenceStream({ maxLength: 1 }), RangeError);
});
