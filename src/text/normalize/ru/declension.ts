// Declension of Russian nouns and their adjectives, and the form that each takes with a number.
import type { NounCells } from '../../tables/entries.js';
import type { Noun } from '../quantity.js';

export const CASES = [
  'nominative',
  'genitive',
  'dative',
  'accusative',
  'instrumental',
  'prepositional',
] as const;
export type Case = (typeof CASES)[number];
export type Gender = 'm' | 'f' | 'n';

/** One form for each case, in the order of `CASES`. */
export type Forms = readonly string[];

export function inCase(forms: Forms, grammatical: Case): string {
  return forms[CASES.indexOf(grammatical)] ?? forms[0] ?? '';
}

// A noun's forms: the singular by case, then the plural by case, where the nominative and
// accusative hold what stands behind two, three and four.
const PLURAL = CASES.length;
const SOFT_STRESSED = new Set(['рубль', 'день']); // рублём, not рублем
const HUSHING = /[жшщчц]$/;

/**
 * "m километр километра километров": gender, nominative, genitive, genitive plural; adjectives before _, a
 * tail behind |.
 */
export function noun(entry: string): Noun & { readonly gender: Gender } {
  const [words = '', tail = ''] = entry.split('|');
  const [gender = 'm', named = '', genitive = named, many = named] = words.trim().split(' ');
  const parts = named.split('_');
  const last = parts.at(-1) ?? '';
  const forms = parts
    .slice(0, -1)
    .map((adjective) => adjectiveForms(adjective, gender as Gender))
    .reduceRight(
      (behind, adjective) => behind.map((form, index) => `${adjective[index] ?? ''} ${form}`),
      nounForms(last, genitive, many, gender as Gender),
    );
  return { forms: tail === '' ? forms : forms.map((form) => form + tail), gender: gender as Gender };
}

/**
 * The noun of a table's row: nominative, genitive, genitive plural. `form` is a tail that does not change.
 * Words behind the first that are the same in all forms are one, too. Other words before the last are
 * adjectives.
 */
export function rowNoun({ forms, gender = 'm', form }: NounCells): Noun {
  const [named = [], genitive = named, many = genitive] = forms.map((one) => one.split(' '));
  const isTail = named.length > 1 && named.slice(1).join(' ') === many.slice(1).join(' ');
  const tail = form ?? (isTail ? named.slice(1).join(' ') : undefined);
  const entry = isTail
    ? [gender, named[0], genitive[0], many[0]]
    : [gender, named.join('_'), genitive.at(-1), many.at(-1)];
  return noun(entry.join(' ') + (tail === undefined ? '' : `| ${tail}`));
}

function nounForms(named: string, genitive: string, many: string, gender: Gender): string[] {
  if (named === genitive && named === many) return Array.from({ length: PLURAL * 2 }, () => named);
  const [dative, accusative, instrumental, prepositional] =
    gender === 'f' ? feminineSingular(named) : masculineSingular(named, genitive);
  const stem = genitive.slice(0, -1);
  const soft = genitive.endsWith('я') || (gender === 'f' && /[яь]$/.test(named));
  const vowel = soft ? 'я' : 'а';
  return [
    named,
    genitive,
    dative,
    accusative,
    instrumental,
    prepositional,
    genitive,
    many,
    `${stem}${vowel}м`,
    genitive,
    `${stem}${vowel}ми`,
    `${stem}${vowel}х`,
  ];
}

type Oblique = readonly [dative: string, accusative: string, instrumental: string, prepositional: string];

function masculineSingular(named: string, genitive: string): Oblique {
  const stem = genitive.slice(0, -1);
  const soft = genitive.endsWith('я');
  const ending = SOFT_STRESSED.has(named) ? 'ём' : soft || HUSHING.test(stem) ? 'ем' : 'ом';
  return [stem + (soft ? 'ю' : 'у'), named, stem + ending, named.endsWith('ие') ? `${stem}и` : `${stem}е`];
}

function feminineSingular(named: string): Oblique {
  const stem = named.slice(0, -1);
  if (named.endsWith('ь')) return [`${stem}и`, named, `${stem}ью`, `${stem}и`];
  if (named.endsWith('ия')) return [`${stem}и`, `${stem}ю`, `${stem}ей`, `${stem}и`];
  if (named.endsWith('я')) return [`${stem}е`, `${stem}ю`, `${stem}ей`, `${stem}е`];
  return [`${stem}е`, `${stem}у`, stem + (HUSHING.test(stem) ? 'ей' : 'ой'), `${stem}е`];
}

/** Behind two to four an adjective is plural: два квадратных метра, две чайные ложки. */
function adjectiveForms(named: string, gender: Gender): string[] {
  const stem = named.slice(0, -2);
  const i = /[кгхжшщч]$/.test(stem) ? 'и' : 'ы';
  const singular =
    gender === 'f'
      ? ['ая', 'ой', 'ой', 'ую', 'ой', 'ой'].map((ending) => stem + ending)
      : [named, `${stem}ого`, `${stem}ому`, named, `${stem}${i}м`, `${stem}ом`];
  const few = stem + i + (gender === 'f' ? 'е' : 'х');
  const plural = [few, `${stem}${i}х`, `${stem}${i}м`, few, `${stem}${i}ми`, `${stem}${i}х`];
  return [...singular, ...plural];
}

type Plural = 'one' | 'few' | 'many';

/** 1, 21: one; 2-4, 22-24: few; the rest, and 11-14: many. */
export function pluralOf(whole: string): Plural {
  const rest = Number(whole.slice(-2));
  const unit = rest % 10;
  if ((rest > 10 && rest < 20) || unit === 0 || unit > 4) return 'many';
  return unit === 1 ? 'one' : 'few';
}

/** The form of a noun behind a whole number. */
export function behindNumber(noun: Noun, whole: string, grammatical: Case): string {
  const plural = pluralOf(whole);
  if (/[1-9]\d*000$/.test(whole)) return inPlural(noun, 'genitive'); // к пяти тысячам рублей
  if (plural === 'one') return inCase(noun.forms, grammatical);
  const plain = grammatical === 'nominative' || grammatical === 'accusative';
  return inPlural(noun, plural === 'many' && plain ? 'genitive' : grammatical);
}

export function inPlural(noun: Noun, grammatical: Case): string {
  return noun.forms[PLURAL + CASES.indexOf(grammatical)] ?? '';
}

/** Genitive singular of the counted noun, for use behind decimals and fractions. */
export function genitiveOf(noun: Noun): string {
  return inCase(noun.forms, 'genitive');
}
