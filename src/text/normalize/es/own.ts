// What Spanish recognises before the shared forms, in the order in which it is asked.
import { cardExpiry } from '../iberian/cards.js';
import { timesOver } from '../iberian/multiples.js';
import { bankAccount, lawNumber, mixedWithNoun, position, rating } from '../iberian/parts.js';
import { product } from '../iberian/products.js';
import { numberedByRomans } from '../iberian/romans.js';
import { score } from '../iberian/scores.js';
import { dayHashtag, inches, minutesAndSeconds, scale } from '../iberian/signs.js';
import { localNumber, serviceNumber } from '../iberian/telephone.js';
import type { Language } from '../language.js';
import type { Around } from '../reading.js';
import { atLeast, formula, perWord, primed, schoolYear } from '../shared-forms.js';
import { centsOfHundred, magnifiedMoney, namedMoney, shopPrice } from './amounts.js';
import { house, identity, key, lettersAndDigits, openingMarks, postcode, road, taxNumber } from './codes.js';
import { parts } from './fractions.js';
import { genderOf } from './grammar.js';
import { centuries, day, dottedTime, romanMonth, shortMonth, shortYear, utc } from './moments.js';
import { cardinal, decimal } from './numbers.js';
import { SPEECH } from './speech.js';
import { noun, PER } from './units.js';
import { WRITING } from './writing.js';

const NAMES: Readonly<Record<string, string>> = {
  'cap.': 'capítulo', 'Cap.': 'capítulo', 'caps.': 'capítulos', 'Caps.': 'capítulos', 'vol.': 'volumen', 'Vol.': 'volumen',
  'vols.': 'volúmenes', 't.': 'tomo', 'T.': 'tomo', 'art.': 'artículo', 'Art.': 'artículo', 'arts.': 'artículos', 'fig.': 'figura',
  'Fig.': 'figura', 'figs.': 'figuras', 'tab.': 'tabla', 'sec.': 'sección', 'Sec.': 'sección', 'pág.': 'página', 'p.': 'página',
  'pp.': 'páginas', 'tít.': 'título', 'Tít.': 'título', 'ap.': 'apartado', 'inc.': 'inciso', 'lám.': 'lámina', 'núm.': 'número',
  capítulos: '', tomos: '', volúmenes: '', títulos: '', artículos: '', anexos: '', libros: '', partes: '', secciones: '', fases: '',
  grupos: '', apartados: '', niveles: '', actos: '', clases: '', tipos: '', Capítulos: '', Tomos: '', Títulos: '', Anexos: '',
}; // prettier-ignore

const CARD =
  /(?:venc\p{L}*|caduc\p{L}*|expir\p{L}*|exp|vto|v[áa]lid[oa]s?|validez|vigencia|vigente|tarjeta)\.?[^.;\d]{0,18}$/iu;
const CALLS = /(?:tel[ée]?f?|tfno|tlf|m[óo]vil|cel|celular|fax|whatsapp|llam|marc|comuni|contact)/iu;
const SERVICES =
  /(?:llam[ea]\p{L}*|marqu?[eca]\p{L}*)(?: gratis)? al? (?:los? )?(?:\d{3}(?:, | [oyu] )(?:al? |el |los )*)+$/iu;

/** 10'; el minuto 45'. */
function sayMinutes(digits: string, { previousShort }: Around): string {
  const named = /^(?:minutos?|min|m)$/.test(previousShort);
  return named ? cardinal(digits) : `${cardinal(digits, 'm')} minuto${digits === '1' ? '' : 's'}`;
}

const DIRECTIONS = { N: 'norte', S: 'sur', E: 'este', O: 'oeste', W: 'oeste' };
const LAWS =
  /(?:ley|leyes|orgánica|decreto|decreto-ley|RD|orden|resolución|expediente|circular|directiva|reglamento) $/iu;

export const OWN: NonNullable<Language['own']> = {
  atDigit: [
    product({ numbers: WRITING.numbers, units: WRITING.units, decimal, by: 'por', ofSum: 'por', score: SPEECH.score }),
    timesOver(noun('vez|veces f'), WRITING.numbers, PER, SPEECH), dottedTime,
    mixedWithNoun({ and: 'y', half: { m: 'medio',
    f: 'media' }, cardinal, parts, genderOf, noNouns: new Set('por con del más que para las los'.split(' ')) }),
    cardExpiry(CARD, SPEECH, (month, year) => `${cardinal(month)} del ${cardinal(year)}`),
    day, romanMonth, postcode, house, taxNumber, identity, key, lawNumber(LAWS, cardinal), magnifiedMoney, shopPrice, rating('sobre', WRITING.numbers, decimal, cardinal),
    position({ degree: 'grado', minute: 'minuto', second: 'segundo' }, DIRECTIONS, cardinal), atLeast('más de', WRITING.numbers, SPEECH),
    localNumber(CALLS, SPEECH), serviceNumber(SERVICES, SPEECH), inches(noun('pulgada f'), WRITING.numbers, SPEECH),
    minutesAndSeconds(SPEECH), primed(sayMinutes), scale(SPEECH), score(SPEECH),
    schoolYear(cardinal),
  ],
  atLetter: [
    utc, centuries, shortMonth, centsOfHundred, numberedByRomans({ names: NAMES, isPlural: (name) => /s\.?$|^pp/i.test(name),
    say: cardinal }), bankAccount(SPEECH),
    lettersAndDigits, road, formula(SPEECH.letters, cardinal),
  ],
  atMark: [openingMarks, namedMoney, shortYear, key, dayHashtag(cardinal), perWord(PER)],
}; // prettier-ignore
