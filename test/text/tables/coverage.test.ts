// Coverage of units and currencies: a sign that several languages know and others lack is a gap. The number
// of gaps may only fall.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languageOf } from '../../../src/text/normalize/languages.js';
import type { Language } from '../../../src/text/normalize/language.js';
import { normalize } from '../../../src/text/normalize/normalize.js';

const TAGS = ['de', 'en', 'es', 'fr', 'it', 'ja', 'ko', 'pt', 'ru', 'zh'] as const;
type Tag = (typeof TAGS)[number];

const SHARED_BY = 4; // languages that know a sign of all languages
const MOST_UNIT_GAPS = 50; // words of their neighbours (mi, acre), and single letters
const MOST_CURRENCY_GAPS = 13; // codes that are words or names of something else there

function language(tag: Tag): Language {
  const known = languageOf(tag);
  assert.ok(known);
  return known;
}

/** "mph: de, ru" for each entry that at least `SHARED_BY` languages have. */
function gaps(entriesOf: (language: Language) => Iterable<string>): string[] {
  const having = new Map<string, Set<Tag>>();
  for (const tag of TAGS) {
    for (const entry of entriesOf(language(tag))) {
      const tags = having.get(entry) ?? new Set();
      having.set(entry, tags.add(tag));
    }
  }
  return [...having].flatMap(([entry, tags]) => {
    const lacking = TAGS.filter((tag) => !tags.has(tag));
    return tags.size < SHARED_BY ? [] : lacking.map((tag) => `${entry}: ${tag}`);
  });
}

test('units that several languages write alike are in the tables of all, but for known gaps', (t) => {
  const found = gaps(({ writing }) =>
    Object.keys(writing.units).filter((sign) => /^[\x21-\x7EµμΩ°²³]+$/.test(sign)),
  );
  t.diagnostic(`gaps: ${found.join('; ')}`);
  assert.ok(found.length <= MOST_UNIT_GAPS, `${found.length} gaps: ${found.join('; ')}`);
});

test('currencies that several languages name are in the tables of all, but for known gaps', (t) => {
  const found = gaps(({ writing }) =>
    Object.keys(writing.currencies).filter((code) => /^[A-Z]{3}$/.test(code)),
  );
  t.diagnostic(`gaps: ${found.join('; ')}`);
  assert.ok(found.length <= MOST_CURRENCY_GAPS, `${found.length} gaps: ${found.join('; ')}`);
});

const READINGS: Readonly<Record<Tag, Readonly<Record<string, string>>>> = {
  de: {
    '1 gal': 'eine Gallone',
    '3 acres': 'drei Acres',
    '12 oz': 'zwölf Unzen',
    '250 mcg': 'zweihundertfünfzig Mikrogramm',
    '30 psi': 'dreißig Pfund pro Quadratzoll',
    '2 mSv': 'zwei Millisievert',
    HK$20: 'zwanzig Hongkong-Dollar',
    MX$50: 'fünfzig Mexikanische Pesos',
    '₱50': 'fünfzig Philippinische Pesos',
    '100 Kč': 'einhundert Tschechische Kronen',
    '1 SEK': 'eine Schwedische Krone',
    '5 SAR': 'fünf Saudi-Riyal',
  },
  en: {
    '1 gal': 'one gallon',
    '3 acres': 'three acres',
    '12 oz': 'twelve ounces',
    '250 mcg': 'two hundred fifty micrograms',
    '30 psi': 'thirty pounds per square inch',
    '2 mSv': 'two millisieverts',
    HK$20: 'twenty Hong Kong dollars',
    MX$50: 'fifty Mexican pesos',
    '₱50': 'fifty Philippine pesos',
    '100 Kč': 'one hundred Czech korunas',
    '1 SEK': 'one Swedish krona',
    '5 SAR': 'five riyals',
  },
  es: {
    '1 gal': 'un galón',
    '3 acres': 'tres acres',
    '12 oz': 'doce onzas',
    '250 mcg': 'doscientos cincuenta microgramos',
    '30 psi': 'treinta libras por pulgada cuadrada',
    '2 mSv': 'dos milisieverts',
    HK$20: 'veinte dólares de Hong Kong',
    MX$50: 'cincuenta pesos mexicanos',
    '₱50': 'cincuenta pesos filipinos',
    '100 Kč': 'cien coronas checas',
    '1 SEK': 'una corona sueca',
    '5 SAR': 'cinco riales saudíes',
  },
  fr: {
    '1 gal': 'un gallon',
    '3 acres': 'trois acres',
    '12 oz': 'douze onces',
    '250 mcg': 'deux cent cinquante microgrammes',
    '30 psi': 'trente livres par pouce carré',
    '2 mSv': 'deux millisieverts',
    HK$20: 'vingt dollars de Hong Kong',
    MX$50: 'cinquante pesos mexicains',
    '₱50': 'cinquante pesos philippins',
    '100 Kč': 'cent couronnes tchèques',
    '1 SEK': 'une couronne suédoise',
    '5 SAR': 'cinq riyals',
  },
  it: {
    '1 gal': 'un gallone',
    '3 acres': 'tre acri',
    '12 oz': 'dodici once',
    '250 mcg': 'duecentocinquanta microgrammi',
    '30 psi': 'trenta libbre per pollice quadrato',
    '2 mSv': 'due millisievert',
    HK$20: 'venti dollari di Hong Kong',
    MX$50: 'cinquanta pesos messicani',
    '₱50': 'cinquanta pesos filippini',
    '100 Kč': 'cento corone ceche',
    '1 SEK': 'una corona svedese',
    '5 SAR': 'cinque riyal',
  },
  ja: {
    '1 gal': '一ガロン',
    '3 acres': '三エーカー',
    '12 oz': '十二オンス',
    '250 mcg': '二百五十マイクログラム',
    '30 psi': '三十ピーエスアイ',
    '2 mSv': '二ミリシーベルト',
    HK$20: '二十香港ドル',
    MX$50: '五十メキシコペソ',
    '₱50': '五十ペソ',
    '100 Kč': '百チェココルナ',
    '1 SEK': '一スウェーデンクローナ',
    '5 SAR': '五サウジリヤル',
  },
  ko: {
    '1 gal': '일 갤런',
    '3 acres': '삼 에이커',
    '12 oz': '십이 온스',
    '250 mcg': '이백오십 마이크로그램',
    '30 psi': '삼십 피에스아이',
    '2 mSv': '이 밀리시버트',
    HK$20: '이십 홍콩 달러',
    MX$50: '오십 멕시코 페소',
    '₱50': '오십 페소',
    '100 Kč': '백 체코 코루나',
    '1 SEK': '일 스웨덴 크로나',
    '5 SAR': '오 사우디아라비아 리얄',
  },
  pt: {
    '1 gal': 'um galão',
    '3 acres': 'três acres',
    '12 oz': 'doze onças',
    '250 mcg': 'duzentos e cinquenta microgramas',
    '30 psi': 'trinta libras por polegada quadrada',
    '2 mSv': 'dois milisieverts',
    HK$20: 'vinte dólares de Hong Kong',
    MX$50: 'cinquenta pesos mexicanos',
    '₱50': 'cinquenta pesos filipinos',
    '100 Kč': 'cem coroas tchecas',
    '1 SEK': 'uma coroa sueca',
    '5 SAR': 'cinco riyals sauditas',
  },
  ru: {
    '1 gal': 'один галлон',
    '3 acres': 'три акра',
    '12 oz': 'двенадцать унций',
    '250 mcg': 'двести пятьдесят микрограммов',
    '30 psi': 'тридцать фунтов на квадратный дюйм',
    '2 mSv': 'два миллизиверта',
    HK$20: 'двадцать гонконгских долларов',
    MX$50: 'пятьдесят песо',
    '₱50': 'пятьдесят филиппинских песо',
    '100 Kč': 'сто чешских крон',
    '1 SEK': 'одна шведская крона',
    '5 SAR': 'пять саудовских риялов',
  },
  zh: {
    '1 gal': '一加仑',
    '3 acres': '三英亩',
    '12 oz': '十二盎司',
    '250 mcg': '二百五十微克',
    '30 psi': '三十磅每平方英寸',
    '2 mSv': '两毫西弗',
    HK$20: '二十港元',
    MX$50: '五十墨西哥比索',
    '₱50': '五十比索',
    '100 Kč': '一百捷克克朗',
    '1 SEK': '一瑞典克朗',
    '5 SAR': '五沙特里亚尔',
  },
};

for (const tag of TAGS) {
  test(`units and currencies of other countries have their forms in ${tag}`, () => {
    const said = Object.keys(READINGS[tag]).map((text) => [text, normalize(text, language(tag)).text]);
    assert.deepEqual(Object.fromEntries(said), READINGS[tag]);
  });
}
