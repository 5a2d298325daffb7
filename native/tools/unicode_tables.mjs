// Writes the tables of native/model/text/*_data.h from the Unicode data inside Node:
//
//   node native/tools/unicode_tables.mjs
//
// Categories come from regular expressions; decompositions and the order of
// combining marks from String.prototype.normalize, which is all that it shows
// of them: so the marks' classes are ranks, not the numbers of the standard.
import { writeFileSync } from 'node:fs';

const LAST = 0x10ffff;
const CLASSES = [/\p{Lu}|\p{Lt}/u, /\p{Ll}/u, /\p{Lm}|\p{Lo}/u, /\p{M}/u, /\p{N}/u, /\p{White_Space}/u];
const HANGUL = [0xac00, 0xd7a3]; // decomposed by arithmetic
const WIDTH = 110;

const isSurrogate = (code) => code >= 0xd800 && code <= 0xdfff;
const codePoints = () =>
  Array.from({ length: LAST + 1 }, (_, code) => code).filter((code) => !isSurrogate(code));
const all = codePoints();

/** Lists the code points at which the value changes, as code << bits | value; the first run begins at 0. */
function runs(valueOf, bits) {
  const found = [];
  let last = -1;
  for (const code of all) {
    const value = valueOf(code);
    if (value !== last) found.push(code * 2 ** bits + value);
    last = value;
  }
  return found;
}

function classOf(code) {
  return CLASSES.findIndex((pattern) => pattern.test(String.fromCodePoint(code))) + 1;
}

const swaps = (a, b) => (a + b).normalize('NFD') !== a + b;
const LOWEST = '\u0334'; // class 1
const HIGHEST = '\u0345'; // class 240

/** Every mark that canonical ordering moves, with its rank from 1. */
function combiningRanks() {
  const marks = all
    .map((code) => String.fromCodePoint(code))
    .filter((mark) => mark.normalize('NFD') === mark)
    .filter((mark) => mark === HIGHEST || swaps(HIGHEST, mark) || swaps(mark, LOWEST));
  const examples = [];
  for (const mark of marks) {
    if (!examples.some((other) => !swaps(other, mark) && !swaps(mark, other))) examples.push(mark);
  }
  examples.sort((a, b) => (swaps(a, b) ? 1 : -1));
  const rankOf = (mark) => examples.findIndex((other) => !swaps(other, mark) && !swaps(mark, other)) + 1;
  return new Map(marks.map((mark) => [mark.codePointAt(0), rankOf(mark)]));
}

/** Code << 2 | 2, with bit 0 where NFC makes it again; then its full decomposition, each code << 2. */
function decompositions() {
  return all
    .filter((code) => code < HANGUL[0] || code > HANGUL[1])
    .flatMap((code) => {
      const text = String.fromCodePoint(code);
      const parts = Array.from(text.normalize('NFD'), (part) => part.codePointAt(0));
      if (parts.length === 1 && parts[0] === code) return [];
      const composed = text.normalize('NFC') === text;
      return [code * 4 + 2 + (composed ? 1 : 0), ...parts.map((part) => part * 4)];
    });
}

/** Code << 2 | 2, then what it is in upper case, each code << 2: the full mapping, of which "ß" needs two. */
function upperCases() {
  return all.flatMap((code) => {
    const text = String.fromCodePoint(code);
    const upper = text.toUpperCase();
    if (upper === text) return [];
    return [code * 4 + 2, ...Array.from(upper, (part) => part.codePointAt(0) * 4)];
  });
}

// Numeric_Type=Digit beside the decimal digits: first and last of each run. No expression has this property,
// and the standard assigns no more of them (UAX 44).
// prettier-ignore
const OTHER_DIGITS = [
  [0xb2, 0xb3], [0xb9, 0xb9], [0x1369, 0x1371], [0x19da, 0x19da], [0x2070, 0x2070], [0x2074, 0x2079], [0x2080, 0x2089],
  [0x2460, 0x2468], [0x2474, 0x247c], [0x2488, 0x2490], [0x24ea, 0x24ea], [0x24f5, 0x24fd], [0x24ff, 0x24ff],
  [0x2776, 0x277e], [0x2780, 0x2788], [0x278a, 0x2792], [0x10a40, 0x10a43], [0x10e60, 0x10e68], [0x11052, 0x1105a],
  [0x1f100, 0x1f10a],
];

function isDigit(code) {
  if (/\p{Nd}/u.test(String.fromCodePoint(code))) return 1;
  return OTHER_DIGITS.some(([first, last]) => code >= first && code <= last) ? 1 : 0;
}

/** One table: its comment, its name, its values. */
function tableOf([about, name, values]) {
  const lines = [];
  let line = ' ';
  for (const value of values) {
    const text = ` 0x${value.toString(16)},`;
    if (line.length + text.length > WIDTH) {
      lines.push(line);
      line = ' ';
    }
    line += text;
  }
  return (
    `// ${about}\n// clang-format off\ninline constexpr uint32_t ${name}[] = {\n${[...lines, line].join('\n')}\n};\n` +
    `// clang-format on\n\n`
  );
}

function write(file, tables) {
  const guard = `PARLEY_MODEL_${file.toUpperCase()}_H_`;
  const head = `// Made by native/tools/unicode_tables.mjs from Unicode ${process.versions.unicode}.`;
  writeFileSync(
    new URL(`../model/text/${file}.h`, import.meta.url),
    `${head}\n#ifndef ${guard}\n#define ${guard}\n\n#include <cstdint>\n\nnamespace parley::model {\n\n` +
      `${tables.map(tableOf).join('')}}  // namespace parley::model\n\n#endif  // ${guard}\n`,
  );
}

const ranks = combiningRanks();
write('char_class_data', [
  ['Runs of one class: first code point << 3 | CharClass.', 'kClassRuns', runs(classOf, 3)],
]);
write('case_data', [
  ['Runs of digits and others: first code point << 1 | 1 for digits.', 'kDigitRuns', runs(isDigit, 1)],
  [
    'A code point << 2 | 2; then what it is in upper case, each << 2. In the order of the code points.',
    'kUpperCases',
    upperCases(),
  ],
]);
write('nfc_data', [
  [
    'Runs of one combining rank: first code point << 8 | rank; 0 is no mark that moves.',
    'kCombiningRuns',
    runs((code) => ranks.get(code) ?? 0, 8),
  ],
  [
    'A code point << 2 | 2, with bit 0 where NFC composes it again; then its canonical decomposition, each << 2.',
    'kDecompositions',
    decompositions(),
  ],
]);
