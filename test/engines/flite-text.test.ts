import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asciiText } from '../../src/engines/flite/flite-text.js';

const CASES: readonly (readonly [string, string])[] = [
  ['plain ASCII stays: $3.50, 50%, a-b & c.', 'plain ASCII stays: $3.50, 50%, a-b & c.'],
  ['‘single’ “double” „low” «angle»', '\'single\' "double" "low" "angle"'],
  ['Zoë’s naïve façade', "Zoe's naive facade"],
  ['Straße, Łódź, Ærø, œuvre', 'Strasse, Lodz, Aero, oeuvre'],
  ['wait—no – never', 'wait, no, never'],
  ['and then…', 'and then...'],
  ['€5.50, £ 3 or ¥1,000', '5.50 euros, 3 pounds or 1,000 yen'],
  ['20 °C, ½ × 2', '20 degrees C, one half times 2'],
  ['ﬁne ² Ⅳ', 'fine 2 IV'],
  ['a\u00a0b\u200bc\td\n\ne\0f', 'a b c d e f'],
  ['hello 你好 😀 world', 'hello world'],
  ['你好', ''],
];

for (const [text, plain] of CASES) {
  test(`"${plain}" is what flite reads of ${JSON.stringify(text)}`, () => {
    assert.equal(asciiText(text), plain);
  });
}
