import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../../src/errors.js';
import type { MarkedHint, MarkedStyle, TextPiece } from '../../../src/text/markup/marked-text.js';
import { looksLikeMarkup, MOST_SILENCE_MS, readMarkup } from '../../../src/text/markup/read-markup.js';
import { MOST_NESTING } from '../../../src/text/markup/xml.js';

/** The pieces in short: texts with what is special of their style, pauses as milliseconds. */
function pieces(body: string): unknown[] {
  return readMarkup(`<speak>${body}</speak>`).pieces.map((piece) => {
    if (piece.kind === 'pause') return piece.ms;
    if (piece.kind === 'bleep') return { bleep: piece.ms };
    const style = special(piece.style);
    return Object.keys(style).length === 0 ? piece.text : [piece.text, style];
  });
}

function special({ rate, gain, ...named }: MarkedStyle): object {
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
  assert.deepEqual(
    pieces(
      '<prosody rate="50%">a<prosody rate="+50%">b</prosody><prosody rate="medium">c</prosody></prosody>',
    ),
    [['a', { rate: 0.5 }], ['b', { rate: 0.75 }], 'c'],
  );
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
  assert.equal(piece?.kind === 'text' && piece.style.language, 'es');
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

test('phonemes of IPA, emphasis and relative pitch are hints, and other alphabets and tones are none', () => {
  const source =
    '<speak>I <emphasis>say <phoneme ph="təˈmɑː">tomato</phoneme><s>here</s></emphasis> ' +
    '<prosody pitch="+2st">and</prosody> <phoneme alphabet="x-sampa" ph="a">a</phoneme>' +
    '<prosody pitch="120Hz">b</prosody><emphasis level="none">c</emphasis></speak>';
  const { pieces: found, unheeded, hinted } = readMarkup(source);
  const hints = found.flatMap((piece) =>
    piece.kind === 'text' ? piece.hints.map((hint) => [hint, piece]) : [],
  );
  assert.deepEqual(
    hints.map(([hint, piece]) => {
      const { kind, value, start, end } = hint as MarkedHint;
      return [kind, value, (piece as TextPiece).text.slice(start, end)];
    }),
    [
      ['phoneme', 'təˈmɑː', 'tomato'],
      ['emphasis', 'moderate', 'say tomato'],
      ['emphasis', 'moderate', 'here'],
      ['pitch', '+2st', 'and'],
    ],
  );
  assert.deepEqual(
    unheeded.map((one) => [one.what, hinted.get(one)]),
    [
      ['<emphasis>', 'emphasis'],
      ['<phoneme>', 'phoneme'],
      ['pitch of <prosody>', 'pitch'],
      ['<phoneme>', undefined],
      ['pitch of <prosody>', undefined],
    ],
  );
});

test('elements and attributes of vendors are skipped and told, and their text is spoken', () => {
  const { pieces: found, unheeded } = readMarkup(
    '<speak xmlns:mstts="x">I <mstts:express-as style="sad" styledegree="2">am</mstts:express-as> ' +
      '<amazon:effect name="whispered"><google:style name="calm">here</google:style>,</amazon:effect> ' +
      '<prosody rate="slow" amazon:max-duration="2s">so</prosody><mstts:silence type="Leading" value="1s"/> ' +
      '<say-as interpret-as="characters">a<x-y:b>1</x-y:b>c</say-as></speak>',
  );
  const [first, , third] = found.flatMap((piece) => (piece.kind === 'text' ? [piece] : []));
  assert.equal(first?.text, 'I am here, ');
  assert.equal(third?.text.trim(), 'a1c');
  assert.equal(third?.parts[0]?.reading.kind, 'say-as');
  assert.deepEqual(
    unheeded.map(({ what }) => what),
    [
      '<mstts:express-as>',
      '<amazon:effect>',
      '<google:style>',
      'amazon:max-duration of <prosody>',
      '<mstts:silence>',
      '<x-y:b>',
    ],
  );
});

test('names of XML itself are those of no vendor', () => {
  assert.throws(() => readMarkup('<speak><xml:p>a</xml:p></speak>'), /there is no <xml:p> here/);
  assert.throws(() => readMarkup('<speak><p xml:base="a">b</p></speak>'), /has no attribute "xml:base"/);
  assert.throws(() => readMarkup('<speak><break><a:b/></break></speak>'), /<break> must be empty|no <a:b>/);
});

test('content of any length is spelled, in sentences of 60 characters', () => {
  const written = 'aß1'.repeat(400);
  const source = `<speak>So: <say-as interpret-as="spell-out">${written}</say-as>.</speak>`;
  const found = texts(source.slice('<speak>'.length, -'</speak>'.length));
  const spelled = found.flatMap((piece) => piece.parts.map(({ start, end }) => piece.text.slice(start, end)));
  assert.equal(spelled.join(''), written);
  assert.ok(spelled.every((part) => part.length <= 60));
  const last = found.at(-1);
  const { start, end } = last?.map.span(0, 60) ?? assert.fail();
  assert.equal(source.slice(start, end), last?.text.slice(0, 60));
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

/** "line:column: what" of the refusal. */
function refusalOf(source: string): string {
  let refusal: unknown;
  try {
    readMarkup(source);
  } catch (error) {
    refusal = error;
  }
  assert.ok(refusal instanceof ParleyError, `${source.slice(0, 80)} was taken: ${String(refusal)}`);
  assert.equal(refusal.code, 'INVALID_FIELD');
  assert.equal(refusal.field, 'text');
  const [, line, column, what] =
    /^"text" is no SSML that can be spoken: line (\d+), column (\d+): (.+)$/su.exec(refusal.message) ?? [];
  assert.ok(what !== undefined, refusal.message);
  return `${line}:${column}: ${what}`;
}

// prettier-ignore
const BROKEN: readonly (readonly [why: string, source: string, refusal: RegExp])[] = [
  ['an element that is not closed before the one around it', '<speak>\n <p>a</speak>', /^2:6: <p> must be closed before this$/],
  ['the end of the text within an element', '<speak>\n  <p>a', /^2:3: <p> is not closed$/],
  ['the end of the text within a tag', '<speak><p', /^1:\d+: /],
  ['text behind the root', '<speak>a</speak>b', /^1:17: text must stand within <speak>$/],
  ['two roots', '<speak>a</speak><speak>b</speak>', /^1:\d+: /],
  ['nothing at all', '', /^1:1: document must contain a root/],
  ['text instead of markup', ' Hello', /^1:2: text must stand within <speak>$/],
  ['another root', '<html>a</html>', /^1:1: a text begins with <speak>/],
  ['a bare ampersand', '<speak>\nAT&T is here</speak>', /^2:3: & must be written as &amp;$/],
  ['a bare ampersand before a space', '<speak>a & b</speak>', /^1:10: & must be written as &amp;$/],
  ['an entity of HTML', '<speak>a&nbsp;b</speak>', /^1:14: there is no such entity; there are &amp;/],
  ['a number that is no character', '<speak>&#0;</speak>', /^1:11: malformed character entity/],
  ['a number of half a pair', '<speak>&#xD800;</speak>', /^1:15: malformed character entity/],
  ['an attribute without quotes', '<speak><break time=1s/></speak>', /^1:20: unquoted attribute value/],
  ['an attribute twice', '<speak><break time="1s" time="2s"/></speak>', /^1:\d+: duplicate attribute: time/],
  ['an angle bracket in a value', '<speak><sub alias="<">a</sub></speak>', /^1:20: disallowed character/],
  ['a document type', '<!DOCTYPE speak SYSTEM "http://example.org/x.dtd"><speak>a</speak>', /^1:1: a document type is not taken$/],
  ['half of a surrogate pair', '<speak>\nab\uD800c</speak>', /^2:3: half of a surrogate pair U\+D800/],
  ['the other half', '<speak>\uDC00\uD800</speak>', /^1:8: half of a surrogate pair U\+DC00/],
  ['a control character', '<speak>a\u0007b</speak>', /^1:9: the control character U\+0007/],
  ['a character that is none', '<speak>a\uFFFF</speak>', /^1:9: the control character U\+FFFF/],
  ['an unknown element', '<speak>\n\n<blink>a</blink></speak>', /^3:1: there is no <blink> here; there are speak, p, s, break/],
  ['names that every object has', '<speak><constructor/></speak>', /^1:8: there is no <constructor> here/],
  ['an attribute that every object has', '<speak><p toString="a">b</p></speak>', /^1:8: <p> has no attribute "toString"/],
  ['an unknown attribute', '<speak><break length="1s"/></speak>', /^1:8: <break> has no attribute "length"; it has strength, time$/],
  ['a time without a unit', '<speak><break time="500"/></speak>', /^1:8: "time" of <break> must be a time such as 500ms or 1\.5s, not "500"$/],
  ['a time below zero', '<speak><break time="-1s"/></speak>', /^1:8: "time" of <break> must be a time/],
  ['a pause that is too long', '<speak><break time="21s"/></speak>', /^1:8: "time" of <break> must be 20s at most$/],
  ['an unknown strength', '<speak><break strength="huge"/></speak>', /^1:8: "strength" of <break> must be one of none, x-weak/],
  ['an unknown rate', '<speak><prosody rate="quick">a</prosody></speak>', /^1:8: "rate" of <prosody> must be one of x-slow/],
  ['a rate that is too high', '<speak><prosody rate="500%">a</prosody></speak>', /^1:8: "rate" of <prosody> must come to 0\.25 to 4/],
  ['rates that come to too much together', '<speak><prosody rate="300%"><prosody rate="+50%">a</prosody></prosody></speak>', /^1:29: "rate" of <prosody> must come to/],
  ['a volume that is too loud', '<speak><prosody volume="+20dB">a</prosody></speak>', /^1:8: "volume" of <prosody> must come to 4/],
  ['a pitch that is none, though no engine heeds it', '<speak><prosody pitch="purple">a</prosody></speak>', /^1:8: "pitch" of <prosody> must be/],
  ['a language that is none', '<speak xml:lang="in english">a</speak>', /^1:1: "xml:lang" of <speak> must be a language tag/],
  ['another version', '<speak version="2.0">a</speak>', /^1:1: "version" of <speak> must be 1\.0 or 1\.1/],
  ['another namespace', '<speak xmlns="http://www.w3.org/1999/xhtml">a</speak>', /^1:1: "xmlns" of <speak> must be/],
  ['a kind that is none', '<speak><say-as interpret-as="poem">a</say-as></speak>', /^1:8: "interpret-as" of <say-as> must be one of address, bleep, cardinal/],
  ['a kind that is not stated', '<speak><say-as>a</say-as></speak>', /^1:8: <say-as> must have "interpret-as"$/],
  ['a substitute without an alias', '<speak><sub>a</sub></speak>', /^1:8: <sub> must have "alias"$/],
  ['an alias of nothing', '<speak><sub alias=" ">a</sub></speak>', /^1:8: "alias" of <sub> must be the words to say/],
  ['an element in a substitute', '<speak><sub alias="a"><s>b</s></sub></speak>', /^1:23: <sub> may hold nothing but text$/],
  ['text in a break', '<speak><break>a</break></speak>', /^1:8: <break> must be empty$/],
  ['an element in a break', '<speak><break><s>a</s></break></speak>', /^1:15: <break> must be empty$/],
  ['a mark without a name', '<speak><mark name=""/></speak>', /^1:8: "name" of <mark> must be a name of 1 to 200/],
  ['a paragraph in a sentence', '<speak><s><p>a</p></s></speak>', /^1:11: <p> must not stand within <s>$/],
  ['a paragraph in a paragraph, however deep', '<speak><p><voice name="a"><p>b</p></voice></p></speak>', /^1:27: <p> must not stand within <p>$/],
  ['a root in the root', '<speak><speak>a</speak></speak>', /^1:8: a text begins with <speak> and has no other one$/],
  ['a sound with nothing in its place', '<speak><audio src="a.wav"/></speak>', /^1:8: <audio> is not fetched, and must hold/],
  ['a sound with only its description', '<speak><audio src="a.wav"><desc>a bell</desc></audio></speak>', /^1:8: <audio> is not fetched/],
  ['a description elsewhere', '<speak><desc>a</desc></speak>', /^1:8: <desc> must stand directly within <audio>$/],
  ['a lexicon that would be fetched', '<speak><lexicon uri="http://example.org/l.pls"/></speak>', /^1:8: <lexicon> is not taken: .*"lexicon" of a request/],
];

for (const [why, source, refusal] of BROKEN) {
  test(`refused with line and column: ${why}`, () => assert.match(refusalOf(source), refusal));
}

test('a document type that would expand to a billion laughs is refused before anything of it is', () => {
  const entities = Array.from(
    { length: 30 },
    (_, index) => `<!ENTITY l${index + 1} "${`&l${index};`.repeat(10)}">`,
  );
  const source = `<?xml version="1.0"?>\n<!DOCTYPE speak [<!ENTITY l0 "lol">${entities.join('')}]>\n<speak>&l30;</speak>`;
  assert.equal(refusalOf(source), '2:1: a document type is not taken');
});

test('XML 1.1 is read as 1.0, which has no numbers for control characters', () => {
  assert.match(refusalOf('<?xml version="1.1"?><speak>&#7;</speak>'), /malformed character entity/);
});

function nested(depth: number): string {
  return `${'<prosody>'.repeat(depth)}a${'</prosody>'.repeat(depth)}`;
}

test('elements may stand as deep in each other as the limit says, and no deeper', () => {
  assert.equal(readMarkup(`<speak>${nested(MOST_NESTING - 1)}</speak>`).pieces.length, 1);
  const column = 1 + '<speak>'.length + (MOST_NESTING - 1) * '<prosody>'.length;
  const expected = `1:${column}: <prosody> is nested ${MOST_NESTING + 1} deep, ${MOST_NESTING} is the most`;
  assert.equal(refusalOf(`<speak>${nested(MOST_NESTING)}</speak>`), expected);
  assert.equal(refusalOf(`<speak>${nested(1000)}</speak>`), expected);
});

test('metadata may not be deeper, either', () => {
  const source = `<speak><metadata>${'<a>'.repeat(1000)}${'</a>'.repeat(1000)}</metadata></speak>`;
  assert.match(refusalOf(source), /is nested 65 deep/);
});

test('all breaks together have a limit', () => {
  const most = MOST_SILENCE_MS / 20_000;
  assert.equal(readMarkup(`<speak>${'<break time="20s"/>'.repeat(most)}</speak>`).pieces.length, most);
  assert.match(
    refusalOf(`<speak>${'<break time="20s"/>'.repeat(most + 1)}</speak>`),
    /all breaks together must be 300s at most/,
  );
});
