import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MarkedManner, TextPiece } from '../../../src/text/markup/marked-text.js';
import { looksLikeMarkup, readMarkup } from '../../../src/text/markup/read-markup.js';

/** The pieces in short: texts with what is special of their manner, pauses as milliseconds. */
function pieces(body: string): unknown[] {
  return readMarkup(`<speak>${body}</speak>`).pieces.map((piece) => {
    if (piece.kind === 'pause') return piece.ms;
    if (piece.kind === 'bleep') return { bleep: piece.ms };
    const manner = special(piece.manner);
    return Object.keys(manner).length === 0 ? piece.text : [piece.text, manner];
  });
}

function special({ rate, gain, ...named }: MarkedManner): object {
  return {
    ...named,
    ...(rate === 1 ? {} : { rate }),
    ...(gain === 1 ? {} : { gain: Number(gain.toFixed(3)) }),
  };
}

function texts(body: string): TextPiece[] {
  return readMarkup(`<speak>${body}</speak>`).pieces.filter((piece) => piece.kind === 'text');
}

test('text without markup of its own is one piece, and entities are the characters that they stand for', () => {
  assert.deepEqual(pieces('Tom &amp; Jerry &lt;3 caf&#233; &#x1F600;'), ['Tom & Jerry <3 café 😀']);
});

test('a character data section is text as it stands', () => {
  assert.deepEqual(pieces('a <![CDATA[<b> & c]]> d'), ['a <b> & c d']);
});

test('comments and processing instructions are not spoken and cut nothing', () => {
  assert.deepEqual(pieces('one<!-- not this --> two<?robot stop?> three'), ['one two three']);
});

test('a break is a pause of the stated time, or of its strength, and the time outweighs the strength', () => {
  assert.deepEqual(pieces('a<break time="500ms"/>b<break time="1.5s"/>c'), ['a', 500, 'b', 1500, 'c']);
  assert.deepEqual(pieces('a<break/>b<break strength="x-strong"/>c'), ['a', 400, 'b', 1000, 'c']);
  assert.deepEqual(pieces('a<break strength="weak" time="2s"/>b'), ['a', 2000, 'b']);
});

test('a break of no strength within a sentence changes nothing', () => {
  assert.deepEqual(pieces('one <break strength="none"/>two'), ['one two']);
});

test('a break of no strength at the end of a sentence takes its pause away', () => {
  assert.deepEqual(pieces('<s>One.<break strength="none"/></s><s>Two.</s>'), ['One.', 0, 'Two.']);
  assert.deepEqual(pieces('<s>One.</s><break time="0s"/><s>Two.</s>'), ['One.', 0, 'Two.']);
});

test('sentences and paragraphs begin pieces of their own', () => {
  const found = texts('<p><s>One</s><s>Two</s></p><p>Three</p> four');
  assert.deepEqual(
    found.map(({ text, begins }) => [text, begins]),
    [
      ['One', 'paragraph'],
      ['Two', 'sentence'],
      ['Three', 'paragraph'],
      [' four', 'paragraph'],
    ],
  );
});

test('rates are names, shares of the usual pace, or changes of the pace around', () => {
  const rate = (value: string) => pieces(`<prosody rate="${value}">a</prosody>`);
  assert.deepEqual(rate('slow'), [['a', { rate: 0.75 }]]);
  assert.deepEqual(rate('150%'), [['a', { rate: 1.5 }]]);
  assert.deepEqual(rate('0.5'), [['a', { rate: 0.5 }]]);
  assert.deepEqual(rate('-20%'), [['a', { rate: 0.8 }]]);
  assert.deepEqual(pieces('<prosody rate="50%">a<prosody rate="+50%">b</prosody><prosody rate="medium">c</prosody></prosody>'), [
    ['a', { rate: 0.5 }],
    ['b', { rate: 0.75 }],
    'c',
  ]); // prettier-ignore
});

test('volumes are names, numbers to 100, or changes of the loudness around', () => {
  const volume = (value: string) => pieces(`<prosody volume="${value}">a</prosody>`);
  assert.deepEqual(volume('soft'), [['a', { gain: 0.501 }]]);
  assert.deepEqual(volume('silent'), [['a', { gain: 0 }]]);
  assert.deepEqual(volume('50'), [['a', { gain: 0.5 }]]);
  assert.deepEqual(volume('+6dB'), [['a', { gain: 1.995 }]]);
  assert.deepEqual(volume('-50%'), [['a', { gain: 0.5 }]]);
  assert.deepEqual(pieces('<prosody volume="50"><prosody volume="-50%">a</prosody></prosody>'), [
    ['a', { gain: 0.25 }],
  ]);
});

test('what follows an element is spoken as what stood before it', () => {
  assert.deepEqual(pieces('a<prosody rate="fast">b</prosody>c'), ['a', ['b', { rate: 1.4 }], 'c']);
});

test('language and voice are those of the innermost element that states them', () => {
  assert.deepEqual(
    pieces('<lang xml:lang="fr-FR">un<voice name="bella">deux<s xml:lang="de">drei</s></voice></lang>'),
    [
      ['un', { language: 'fr-FR' }],
      ['deux', { language: 'fr-FR', voice: 'bella' }],
      ['drei', { language: 'de', voice: 'bella' }],
    ],
  );
});

test('the root may state the language, and an empty one leaves it to the text', () => {
  const [piece] = readMarkup(
    '<speak version="1.1" xmlns="http://www.w3.org/2001/10/synthesis" xml:lang="es">Hola</speak>',
  ).pieces;
  assert.equal(piece?.kind === 'text' && piece.manner.language, 'es');
  assert.deepEqual(pieces('<lang xml:lang="es">a<lang xml:lang="">b</lang></lang>'), [
    ['a', { language: 'es' }],
    'b',
  ]);
});

test('a substitute and a stated kind stay in their text, with what is said of them', () => {
  const [piece] = texts(
    'The <sub alias="World Wide Web">WWW</sub> on <say-as interpret-as="date" format="dmy">1/2/2024</say-as>.',
  );
  assert.equal(piece?.text, 'The WWW on 1/2/2024.');
  assert.deepEqual(piece?.parts, [
    { start: 4, end: 7, reading: { kind: 'sub', words: 'World Wide Web' } },
    { start: 11, end: 19, reading: { kind: 'say-as', as: 'date', format: 'dmy', detail: '' } },
  ]);
});

test('an alias of nothing stands for itself', () => {
  const [piece] = texts('Call <sub alias="Ada"/> now');
  assert.equal(piece?.text, 'Call Ada now');
  assert.deepEqual(piece?.parts, [{ start: 5, end: 8, reading: { kind: 'sub', words: 'Ada' } }]);
});

test('a mark keeps its place in the text and cuts nothing', () => {
  const [piece, ...others] = texts('One <mark name="half"/>two.<mark name="end"/>');
  assert.equal(piece?.text, 'One two.');
  assert.deepEqual(piece?.marks, [
    { name: 'half', at: 4 },
    { name: 'end', at: 8 },
  ]);
  assert.deepEqual(others, []);
});

test('an expletive becomes a tone about as long as the word, within bounds', () => {
  const bleep = (word: string) => pieces(`<say-as interpret-as="expletive">${word}</say-as>`);
  assert.deepEqual(bleep('damn it'), [{ bleep: 490 }]);
  assert.deepEqual(bleep('x'), [{ bleep: 300 }]);
  assert.deepEqual(bleep('x'.repeat(90)), [{ bleep: 1500 }]);
});

test('what no engine can do leaves its text, and is told with its place', () => {
  const { pieces: found, unheeded } = readMarkup(
    '<speak>\n  <emphasis level="strong">Now</emphasis>\n  <prosody pitch="+10%" rate="slow">é <phoneme alphabet="ipa" ph="ə">a</phoneme></prosody></speak>',
  );
  assert.deepEqual(
    found.flatMap((piece) => (piece.kind === 'text' ? [piece.text.trim()] : [])),
    ['Now', 'é a'],
  );
  assert.deepEqual(unheeded, [
    { what: '<emphasis>', line: 2, column: 3 },
    { what: 'pitch of <prosody>', line: 3, column: 3 },
    { what: '<phoneme>', line: 3, column: 39 },
  ]);
});

test('emphasis of level none is no wish', () => {
  assert.deepEqual(readMarkup('<speak><emphasis level="none">a</emphasis></speak>').unheeded, []);
});

test('a sound is not fetched: what its element holds is spoken in its place, without its description', () => {
  assert.deepEqual(pieces('<audio src="https://example.org/a.wav"><desc>a bell</desc>Ding.</audio>'), [
    'Ding.',
  ]);
});

test('metadata is not spoken, whatever it holds', () => {
  assert.deepEqual(pieces('<metadata><rdf:x about="y"><speak>no</speak></rdf:x></metadata>yes'), ['yes']);
});

test('every unit of a text leads back to its place in the document', () => {
  const source = '<speak>\r\na &amp; <b/>'.replace(
    '<b/>',
    '<emphasis>b&#x1F600;c</emphasis> <![CDATA[d\r\ne]]></speak>',
  );
  const [piece] = readMarkup(source).pieces;
  assert.ok(piece?.kind === 'text');
  assert.equal(piece.text, '\na & b😀c d\ne');
  const origin = (part: string) => {
    const at = piece.text.indexOf(part);
    const { start, end } = piece.map.span(at, at + part.length);
    return source.slice(start, end);
  };
  assert.equal(origin('&'), '&amp;');
  assert.equal(origin('a & b'), 'a &amp; <emphasis>b');
  assert.equal(origin('😀'), '&#x1F600;');
  assert.equal(origin('c'), 'c');
  assert.equal(origin('d\ne'), 'd\r\ne');
  assert.equal(origin('e'), 'e');
});

test('a language of say-as is no part of SSML: it has no effect, and that is told', () => {
  const as = '<say-as interpret-as="currency" language="en-US">$5</say-as>';
  const { unheeded } = readMarkup(`<speak>${as}</speak>`);
  assert.deepEqual(
    unheeded.map(({ what }) => what),
    ['language of <say-as>'],
  );
});

test('a text is meant as markup where it begins with <speak', () => {
  assert.ok(looksLikeMarkup('<speak>a</speak>'));
  assert.ok(looksLikeMarkup(' \n<?xml version="1.0" encoding="UTF-8"?>\n<speak\n version="1.0">a</speak>'));
  assert.ok(looksLikeMarkup('<speak/>'));
  assert.ok(looksLikeMarkup('\uFEFF<!-- by hand -->\n<?xml-model href="x"?><!-- > --> <speak>a</speak>'));
  assert.ok(looksLikeMarkup('<!DOCTYPE speak SYSTEM "x.dtd"><speak>a</speak>'), 'is refused, not spoken');
  for (const text of ['speak', '<speaker>a</speaker>', 'a <speak>b</speak>', '<p>a</p>', '<speak']) {
    assert.ok(!looksLikeMarkup(text), text);
  }
});
