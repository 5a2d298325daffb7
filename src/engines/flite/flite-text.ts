// Text as flite can read it: ASCII. What has no plain equivalent is left out,
// never spelt as question marks.

const REPLACEMENTS: Readonly<Record<string, string>> = {
  '‘': "'",
  '’': "'",
  '‚': "'",
  '“': '"',
  '”': '"',
  '„': '"',
  '«': '"',
  '»': '"',
  '–': ', ',
  '—': ', ',
  '―': ', ',
  '−': '-',
  '×': ' times ',
  '÷': ' divided by ',
  '°': ' degrees ',
  '€': ' euros ',
  '£': ' pounds ',
  '¥': ' yen ',
  '©': ' copyright ',
  '½': ' one half ',
  '¼': ' one quarter ',
  '¾': ' three quarters ',
  ß: 'ss',
  æ: 'ae',
  Æ: 'Ae',
  œ: 'oe',
  Œ: 'Oe',
  ø: 'o',
  Ø: 'O',
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: 'D',
  ð: 'd',
  þ: 'th',
  ı: 'i',
};

// The amount belongs before the unit: "€5" is "5 euros".
const AMOUNT = /([€£¥])\s?(\d[\d.,]*\d|\d)/g;

export function asciiText(text: string): string {
  const spaced = text
    .replace(AMOUNT, '$2$1')
    .replace(/./gsu, (character) => REPLACEMENTS[character] ?? character);
  const plain = spaced
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[\u2044]/g, '/')
    .replace(/[^\u0020-\u007e]/g, ' ');
  return plain
    .replace(/\s+/g, ' ')
    .replace(/ ([,.;:!?])/g, '$1')
    .trim();
}
