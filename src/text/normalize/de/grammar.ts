// German grammar around a number: which case stands here, which gender the noun has, how "ein" and ordinals end.
import { wordBefore, type Around } from '../reading.js';
import { genderOf, type Gender } from './nouns.js';

export type Case = 'nominative' | 'accusative' | 'dative' | 'genitive';

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

const DATIVE = words(
  `mit nach bei von zu aus seit ab vor in an auf am im vom zum zur beim unter binnen innerhalb außer laut neben zwischen dem einem`,
);
const ACCUSATIVE = words(`
  für um ohne gegen bis durch pro je den einen kostet kosten kostete gekostet zahlen zahle zahlt bezahlen habe hat haben hatte hatten
  wiegt wog misst dauert dauerte brauche braucht brauchen benötigen benötigt gibt gab bekommen bekommt bekam bekamen erhielt erzielte erzielt macht machte schoss trank aß erhalten erhält kaufen kauft
  spart sparen verdient läuft lief fährt beträgt sie über ich du er es wir man mir dir ihm uns euch ihnen
  hätte hätten möchte möchten will wollen nehme nehmen nimmt suche suchen sucht finde finden findet bestelle bestellen bestellt buche buchen
  sehe sehen lese lesen schreibe schreiben esse essen trinke trinken gern gerne bitte wünsche wünschen reserviere reservieren verliert verlor
  enthält enthalten umfasst besitzt verkauft verkaufen hinzufügen erzielten schossen benötige gewann gewinnt
`);
const GENITIVE = words(`des eines wegen während trotz statt anstatt`);
/** Behind these an amount says how far, how long, how heavy: one kilometre wide takes the accusative. */
const MEASURED = words(
  `lang breit hoch tief weit entfernt alt schwer groß dick später früher weiter länger teurer billiger mehr weniger`,
);

const PLURAL_ARTICLE = words('die der den aller alle diese dieser beiden');

/** An earlier amount that the same word governs: "Sie haben 1 Nachricht und", "von 5 bis". */
const EARLIER =
  /(?<![\p{L}\d.,])(?:\d[\d.,]*(?: ?\p{Lu}\p{L}+| \p{Ll}+ \p{Lu}\p{L}+)?|eine?[nmrs]? (?:\p{Ll}+ )?\p{Lu}\p{L}+)(?:,| und| oder| bis) $/u;
const LONGEST_EARLIER = 64; // units in which it is looked for
const MOST_EARLIER = 4;
/** Adverbs that may stand between an amount and the word that governs it. */
const ADVERBS =
  /(?:^|(?<=\s))(?:(?:nur|noch|etwa|circa|ca\.|rund|genau|mindestens|mind\.|höchstens|max\.|maximal|knapp|fast|gut|bereits|schon|lediglich|bis zu|je|jeweils|auch) ){1,3}$/iu;
const LONGEST_ADVERBS = 28; // units
const NOT_GOVERNING = words(`
  ist sind bleibt bleiben fehlt fehlen kommt kommen war waren wird wurde folgt gilt reicht steht passt
  fehlte fehlten reichte lebte wohnte startete folgte meldete bitte heute weite zweite letzte erste
`);
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

const DATIVE_OF_MANY = words('nach in mit von aus seit bei vor ab zwischen binnen außer');
const DIMENSION = /^(?:Höhe|Länge|Breite|Tiefe|Entfernung|Abstand|Durchmesser|Dicke|Umkreis|Reichweite)$/;

/** In 5 Kilometern, vor 3 Monaten; but "mit 5 Liter Wasser". */
export function takesDativeOfMany(around: Around): boolean {
  const next = around.nextWord;
  return DATIVE_OF_MANY.has(governorOf(around).word) && (!/^\p{Lu}/u.test(next) || DIMENSION.test(next));
}

const EIN: Readonly<Record<Gender, Readonly<Record<Case, string>>>> = {
  m: { nominative: 'ein', accusative: 'einen', dative: 'einem', genitive: 'eines' },
  f: { nominative: 'eine', accusative: 'eine', dative: 'einer', genitive: 'einer' },
  n: { nominative: 'ein', accusative: 'ein', dative: 'einem', genitive: 'eines' },
};

export function one(gender: Gender, grammatical: Case): string {
  return EIN[gender][grammatical];
}

/** The 1 before a noun of the text: its adjective's ending tells, else its gender; undefined where no noun follows. */
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

const WEAK_N = words(`
  am im vom zum zur beim dem des den einem eines einer dieses diesem diesen jedem jeden ihrem seinem meinem unserem ihren seinen meinen unseren
  deinem deinen eurem ihres seines meines unseres letzten ersten allen beiden welchem ihrer seiner meiner unserer deiner eurer
  keiner keinem keinen jener jenem jenen jenes nächsten einigen mehreren
`);
const WEAK_E = words(`die das diese jede jeder jedes welche welches jene`);
const DER = words('der dieser welcher');
const MIXED = words('ein kein mein sein ihr unser dein euer');
const MIXED_E = words('eine keine meine seine ihre unsere deine eure');
const STRONG_DATIVE = words('ab seit mit nach von zu bei aus in auf unter zwischen');
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

/** Whether a number with a full stop at the end of a sentence is an ordinal. */
export function asksForOrdinal(before: string): boolean {
  return [WEAK_N, WEAK_E, DER, MIXED, MIXED_E, PLURAL_ARTICLE].some((list) => list.has(before));
}
