// Decides the German grammar around a number: the case, the gender of the noun, the endings of "ein" and of
// ordinals. Nouns that stand with numbers have their gender in a list. The gender of all others follows from
// their ending.
import { tablesOf } from '../../tables/language-tables.js';
import { type Around, wordBefore } from '../reading.js';

type Gender = 'm' | 'f' | 'n';

const NOUNS: Readonly<Record<Gender, ReadonlySet<string>>> = {
  m: tablesOf('de').set('masculine nouns'),
  f: tablesOf('de').set('feminine nouns'),
  n: tablesOf('de').set('neuter nouns'),
};

const BY_NAME = new Map<string, Gender>(
  (['m', 'f', 'n'] as const).flatMap((gender) =>
    Array.from(NOUNS[gender], (name): [string, Gender] => [name.toLowerCase(), gender]),
  ),
);

const FEMININE =
  /(?:ung|heit|keit|schaft|ion|tät|in|ei|ik|ur|enz|anz|age|ette|ade|ne|te|de|ge|le|re|se|ze|he|be|pe|fe|ie|ke|me)$/;
const NEUTER = /(?:chen|lein|ment|um|nis|tum)$/;
const MASCULINE = /(?:er|ling|or|ismus|ant|ent|ist|eur|tag|mann|platz|raum|anruf|termin)$/;
const SHORTEST_LAST = 4; // letters of the last word of a compound

/** Gender of a singular noun; undefined if unknown. A compound has the gender of its last word. */
export function genderOf(noun: string): Gender | undefined {
  const name = noun.toLowerCase();
  const whole = BY_NAME.get(name);
  if (whole !== undefined) return whole;
  for (let from = 1; from <= name.length - SHORTEST_LAST; from++) {
    const last = BY_NAME.get(name.slice(from));
    if (last !== undefined) return last;
  }
  if (NEUTER.test(noun)) return 'n';
  if (MASCULINE.test(noun)) return 'm';
  return FEMININE.test(noun) ? 'f' : undefined;
}

/** True if it is one of those that stand here in the singular, or ends in one. */
export function isKnown(noun: string): boolean {
  const name = noun.toLowerCase();
  return BY_NAME.has(name) || NEUTER.test(noun) || /(?:ung|heit|keit|schaft|tät|ion|in)$/.test(noun);
}

/** Behind "die": whether the noun is one of many. */
export function isPlural(noun: string): boolean {
  const known = BY_NAME.get(noun.toLowerCase());
  if (known !== undefined) return known !== 'f';
  if (noun.endsWith('en') && genderOf(noun.slice(0, -1)) === 'f') return true;
  const gender = genderOf(noun);
  return gender === 'm' || gender === 'n';
}

export function upper(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

export type Case = 'nominative' | 'accusative' | 'dative' | 'genitive';

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

const DATIVE = tablesOf('de').set('dative behind');
const ACCUSATIVE = tablesOf('de').set('accusative behind');
const GENITIVE = words(`des eines wegen während trotz statt anstatt`);
/** Behind these an amount says how far, how long, how heavy: one kilometre wide takes the accusative. */
const MEASURED = tablesOf('de').set('measured');

const PLURAL_ARTICLE = words('die der den aller alle diese dieser beiden');

/** An earlier amount that the same word governs: "Sie haben 1 Nachricht und", "von 5 bis". */
const EARLIER =
  /(?<![\p{L}\d.,])(?:(?:\d[\d.,]*[½¼¾]?|[½¼¾])(?: (?:\p{Lu}\p{L}|\p{Ll}{1,3}))?(?: ?\p{Lu}\p{L}+| \p{Ll}+ \p{Lu}\p{L}+)?|eine?[nmrs]? (?:\p{Ll}+ )?\p{Lu}\p{L}+)(?:,| und| oder| bis) $/u;
const LONGEST_EARLIER = 96; // units in which it is looked for
const MOST_EARLIER = 4;
/** Adverbs that may stand between an amount and the word that governs it. */
const ADVERBS =
  /(?:^|(?<=\s))(?:(?:nur|noch|etwa|circa|ca\.|rund|genau|mindestens|mind\.|höchstens|max\.|maximal|knapp|fast|gut|bereits|schon|lediglich|bis zu|je|jeweils|auch) ){1,3}$/iu;
const LONGEST_ADVERBS = 28; // units
const NOT_GOVERNING = tablesOf('de').set('not governing');
const PAST = /\p{Ll}{2}ten?$/u; // er kaufte
/** With these one goes a kilometre, but a bus goes by itself. */
const MOTION = words('fährt läuft lief fuhr geht kommt');

interface Governor {
  /** In small letters; '' if nothing governs. */
  readonly word: string;
  /** An adverb stands between. */
  readonly isFar: boolean;
}

/** The word that governs an amount. */
function governorOf({ text, start }: Around): Governor {
  let near = text.slice(Math.max(0, start - LONGEST_EARLIER), start);
  for (let count = 0; count < MOST_EARLIER && /(?:,|und|oder|bis) $/.test(near); count++) {
    const earlier = EARLIER.exec(near);
    if (earlier === null) break;
    near = near.slice(0, earlier.index);
  }
  const far = near.endsWith(' ') ? ADVERBS.exec(near.slice(-LONGEST_ADVERBS)) : null;
  if (far !== null) near = near.slice(0, near.length - far[0].length);
  return { word: near.endsWith(' ') ? wordBefore(near, near.length).toLowerCase() : '', isFar: far !== null };
}

/** The case that the words around an amount ask for; `behind` is what follows the amount and its noun. */
export function caseOf(around: Around, behind = around.nextWord): Case {
  const { word, isFar } = governorOf(around);
  if (GENITIVE.has(word)) return 'genitive';
  if (DATIVE.has(word)) return 'dative';
  if (ACCUSATIVE.has(word) || MEASURED.has(behind)) return 'accusative';
  if (PAST.test(word) && !NOT_GOVERNING.has(word)) return 'accusative';
  return isFar && word !== '' && !NOT_GOVERNING.has(word) ? 'accusative' : 'nominative';
}

const DATIVE_OF_MANY = tablesOf('de').set('dative of many behind');
const DIMENSION = /^(?:Höhe|Länge|Breite|Tiefe|Entfernung|Abstand|Durchmesser|Dicke|Umkreis|Reichweite)$/;

/** Auf den ersten 10 Kilometern; but "den 10 Meter hohen Turm". */
const ARTICLE_OF_MANY = /(?<!\p{L})den (?:\p{Ll}{3,16}en )?$/iu;
const LONGEST_ARTICLE = 24; // units

/** In 5 Kilometern, vor 3 Monaten; but "mit 5 Liter Wasser". */
export function takesDativeOfMany(around: Around): boolean {
  const next = around.nextWord;
  if (/^\p{Lu}/u.test(next) && !DIMENSION.test(next)) return false;
  if (DATIVE_OF_MANY.has(governorOf(around).word)) return true;
  const lead = around.text.slice(Math.max(0, around.start - LONGEST_ARTICLE), around.start);
  return ARTICLE_OF_MANY.test(lead) && !/^\p{Ll}+en$/u.test(next);
}

const EIN: Readonly<Record<Gender, Readonly<Record<Case, string>>>> = {
  m: { nominative: 'ein', accusative: 'einen', dative: 'einem', genitive: 'eines' },
  f: { nominative: 'eine', accusative: 'eine', dative: 'einer', genitive: 'einer' },
  n: { nominative: 'ein', accusative: 'ein', dative: 'einem', genitive: 'eines' },
};

export function one(gender: Gender, grammatical: Case): string {
  return EIN[gender][grammatical];
}

/**
 * The 1 before a noun of the text: its adjective's ending tells, else its gender; undefined where no noun
 * follows.
 */
export function oneBeforeNoun(around: Around): string | undefined {
  const next = around.nextWord;
  const counted = /^\p{Lu}\p{Ll}/u.test(next);
  const moves = MOTION.has(around.previousWord);
  const grammatical = moves ? 'nominative' : caseOf(around, counted ? around.secondNextWord : '');
  if (counted) {
    const gender = genderOf(next);
    return gender === undefined ? undefined : one(gender, grammatical);
  }
  const noun = around.secondNextWord;
  if (!/^\p{Ll}{2,}(?:e|er|es|en|em)$/u.test(next) || !/^\p{Lu}/u.test(noun)) return undefined;
  if (next.endsWith('e')) return 'eine';
  if (next.endsWith('er')) return genderOf(noun) === 'f' ? 'einer' : 'ein';
  if (next.endsWith('es')) return 'ein';
  const gender = genderOf(noun);
  if (gender === undefined) return undefined;
  return grammatical === 'dative' ? one(gender, 'dative') : one(gender, 'accusative');
}

const WEAK_N = tablesOf('de').set('adjective in -en behind');
const WEAK_E = words(`die das diese jede jeder jedes welche welches jene`);
const DER = words('der dieser welcher');
const MIXED = words('ein kein mein sein ihr unser dein euer');
const MIXED_E = words('eine keine meine seine ihre unsere deine eure');
const STRONG_DATIVE = tablesOf('de').set('strong dative behind');
const STRONG_ACCUSATIVE = words('bis für um gegen ohne per über');

/** The ending of an ordinal, from the word before it and the gender of what follows. */
export function ordinalEnding(before: string, gender: Gender | undefined): string {
  if (WEAK_N.has(before)) return 'en';
  if (WEAK_E.has(before) || MIXED_E.has(before)) return 'e';
  if (DER.has(before)) return gender === 'f' ? 'en' : 'e';
  if (MIXED.has(before)) return gender === 'n' ? 'es' : 'er';
  if (STRONG_ACCUSATIVE.has(before)) return gender === 'f' ? 'e' : gender === 'n' ? 'es' : 'en';
  if (STRONG_DATIVE.has(before)) return gender === 'f' ? 'er' : 'em';
  return gender === 'f' ? 'e' : gender === 'n' ? 'es' : 'er';
}

/** True if a number with a full stop at the end of a sentence is an ordinal. */
export function asksForOrdinal(before: string): boolean {
  return [WEAK_N, WEAK_E, DER, MIXED, MIXED_E, PLURAL_ARTICLE].some((list) => list.has(before));
}
