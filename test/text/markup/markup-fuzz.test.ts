import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../fakes/properties.js';
import { ParleyError } from '../../../src/errors.js';
import { sentencesOfMarkup } from '../../../src/text/markup/marked-sentences.js';
import { readMarkup } from '../../../src/text/markup/read-markup.js';
import { spokenForm } from '../../../src/text/spoken-form.js';
import { TIMES } from '../../fakes/long-run.js';

// prettier-ignore
const PIECES = [
  '<speak>', '</speak>', '<speak/>', '<p>', '</p>', '<s>', '</s>', '<break time="1s"/>', '<break strength="none"/>', '<break',
  '<say-as interpret-as="date" format="dmy">', '<say-as interpret-as="cardinal">', '<say-as interpret-as="characters">', '</say-as>',
  '<sub alias="a b">', '</sub>', '<prosody rate="fast">', '<prosody volume="+6dB" pitch="low">', '</prosody>', '<voice name="x">', '</voice>',
  '<lang xml:lang="de">', '</lang>', '<mark name="m"/>', '<audio src="u">', '</audio>', '<emphasis>', '</emphasis>', '<desc>', '</desc>',
  '<metadata>', '</metadata>', '<!--', '-->', '<![CDATA[', ']]>', '<?x', '?>', '<!DOCTYPE s [', '<!ENTITY a "b">', '&amp;', '&#65;', '&a;', '&',
  '<', '>', '"', '=', '/', ' ', '\n', '\r\n', 'Dr. Who', ' 3.5 ', '1/2/2024', 'é', '😀', '\uD800', '\uDC00', '\u0000', '\u200B', '。', 'x',
];

/** Refused with a place in the text, or spoken; nothing else. */
function isHandled(source: string): void {
  try {
    const { sentences } = sentencesOfMarkup(readMarkup(source));
    for (const sentence of sentences) {
      if (sentence.kind === 'bleep') continue;
      const { text, parts } = sentence;
      assert.ok(!/[\p{Cs}\n\r]/u.test(text), JSON.stringify(text));
      const { start, end } = sentence.sourceSpan(0, text.length);
      assert.ok(start >= 0 && start <= end && end <= source.length);
      for (const language of ['en', 'de', 'sv']) spokenForm(text, { language, parts });
    }
  } catch (error) {
    assert.ok(error instanceof ParleyError, String((error as Error).stack));
    assert.equal(error.code, 'INVALID_FIELD');
    const [, line = '0', column = '0'] = /line (\d+), column (\d+): /.exec(error.message) ?? [];
    const text = source.split(/\r\n|\r|\n/)[Number(line) - 1];
    assert.ok(text !== undefined, `${error.message} of ${JSON.stringify(source)}`);
    assert.ok(
      Number(column) >= 1 && Number(column) <= text.length + 1,
      `${error.message} of ${JSON.stringify(source)}`,
    );
  }
}

test('anything made of pieces of SSML is spoken, or refused with a place in it', () => {
  const documents = fc.array(fc.constantFrom(...PIECES), { maxLength: 24 });
  fc.assert(
    fc.property(documents, fc.boolean(), (pieces, isRooted) => {
      isHandled(isRooted ? `<speak>${pieces.join('')}</speak>` : pieces.join(''));
    }),
    { numRuns: 2000 * TIMES },
  );
});

/** Elements that are closed in order, so that most documents are good. */
const { body } = fc.letrec<{ body: string; node: string }>((tie) => ({
  body: fc.array(tie('node'), { maxLength: 5 }).map((nodes) => nodes.join('')),
  node: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(
      'One. ',
      'two 2',
      ' &amp; ',
      '<break/>',
      '<mark name="m"/>',
      '<sub alias="x y">3 z.</sub>',
      '\u200B',
      '$5.',
    ),
    fc
      .tuple(fc.constantFrom('prosody', 'emphasis', 's', 'p', 'token', 'voice'), tie('body'))
      .map(([name, inner]) => `<${name}>${inner}</${name}>`),
  ),
}));

test('documents whose elements are closed are spoken, or refused for one thing that they hold', () => {
  let spoken = 0;
  fc.assert(
    fc.property(body, (inner) => {
      isHandled(`<speak>${inner}</speak>`);
      if (!/<p>|<s>/.test(inner)) spoken += readMarkup(`<speak>${inner}</speak>`).pieces.length;
    }),
    { numRuns: 1000 * TIMES },
  );
  assert.ok(spoken > 300, `${spoken} pieces`);
});

test('any text at all within the root is spoken, or refused with its place', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => isHandled(`<speak>${text}</speak>`)),
    { numRuns: 1000 * TIMES },
  );
});

function userMicroseconds(work: () => void): number {
  const before = process.cpuUsage().user;
  work();
  return process.cpuUsage().user - before;
}

const LONG: readonly (readonly [what: string, unit: string])[] = [
  ['words without a space', 'a'],
  ['angle brackets that close', '>'],
  ['brackets of the end of a section', ']'],
  ['entities', '&amp;'],
  ['breaks without time', '<break time="0s"/>'],
  ['elements without words', '<s></s>'],
  ['comments', '<!-- a -->'],
  ['substitutes', '<sub alias="b">c</sub>'],
  ['words that are unheeded', '<emphasis>a</emphasis>'],
  ['changes of style', '<prosody rate="fast">a</prosody>'],
];

for (const [what, unit] of LONG) {
  test(`128 kB of ${what} take eight times as long as an eighth of it, and not its square`, () => {
    const source = (length: number) => `<speak>${unit.repeat(length / unit.length)}</speak>`;
    const [short, long] = [source(16_384), source(131_072)];
    const time = (text: string) => userMicroseconds(() => sentencesOfMarkup(readMarkup(text)));
    time(short);
    const least = (text: string) => Math.min(time(text), time(text), time(text));
    const [few, many] = [least(short), least(long)];
    assert.ok(many < 8 * 4 * Math.max(few, 2000), `${few} µs and ${many} µs`);
  });
}
