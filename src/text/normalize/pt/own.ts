// What Portuguese recognises before the shared forms, in the order in which it is asked.
import { cardExpiry } from '../iberian/cards.js';
import { timesOver } from '../iberian/multiples.js';
import {
  bankAccount,
  groupedOrdinal,
  lawNumber,
  mixedWithNoun,
  perCubic,
  position,
  rating,
  slashOfCode,
  unionLaw,
} from '../iberian/parts.js';
import { product } from '../iberian/products.js';
import { letteredPartOfYear, monthRange, partOfYear } from '../iberian/quarters.js';
import { initialsOf, isPlural, numberedByRomans } from '../iberian/romans.js';
import { score } from '../iberian/scores.js';
import { dayHashtag, inches, minutesAndSeconds, scale } from '../iberian/signs.js';
import { localNumber, serviceNumber } from '../iberian/telephone.js';
import { currencyPair } from '../currency-pairs.js';
import type { Language } from '../language.js';
import { planeType } from '../shared-codes.js';
import type { Around, Found, Reading } from '../reading.js';
import { processor, scientific } from '../recognise/formulas.js';
import {
  atLeast,
  behindDigits,
  byFirstLetter,
  byMark,
  negativePower,
  perWord,
  primed,
  schoolYear,
} from '../shared-forms.js';
import { grouped, isOfGame, plate } from './codes.js';
import { parts } from './fractions.js';
import { genderOf } from './grammar.js';
import { centuries, day, firstOfMonth, romanDay, shortMonth, utc, weekdays } from './moments.js';
import { cardinal, decimal, inForm, ordinal } from './numbers.js';
import { SPEECH } from './speech.js';
import { CURRENCIES, noun, PER } from './units.js';
import { WRITING } from './writing.js';

const NAMES: Readonly<Record<string, string>> = {
  'cap.': 'capítulo', 'Cap.': 'capítulo', 'caps.': 'capítulos', 'Caps.': 'capítulos', 'vol.': 'volume', 'Vol.': 'volume',
  'vols.': 'volumes', 't.': 'tomo', 'art.': 'artigo', 'Art.': 'artigo', 'arts.': 'artigos', 'fig.': 'figura', 'Fig.': 'figura',
  'figs.': 'figuras', 'tab.': 'tabela', 'inc.': 'inciso', 'incs.': 'incisos', 'pág.': 'página', 'p.': 'página', 'pp.': 'páginas',
  'tít.': 'título', 'Tít.': 'título', 'al.': 'alínea',
  capítulos: '', tomos: '', volumes: '', títulos: '', artigos: '', anexos: '', livros: '', partes: '', seções: '', secções: '', fases: '',
  grupos: '', incisos: '', níveis: '', atos: '', classes: '', tipos: '', Capítulos: '', Tomos: '', Títulos: '', Anexos: '', Incisos: '',
}; // prettier-ignore

const INITIALS = initialsOf(NAMES);

const CARD =
  /(?:venc\p{L}*|caduc\p{L}*|expir\p{L}*|exp|v[áa]lid[oa]s?|validade|vigência|vigente|cartão)\.?[^.;\d]{0,18}$/iu;
const CALLS = /(?:tel(?:efone)?|fone|fixo|celular|cel|telem[óo]vel|fax|whatsapp|zap|lig[auo]|disqu|contat)/iu;
const SERVICES =
  /(?:[Ll]i(?:gue|gar|ga|guem)|[Dd]isqu?[eca]\p{L}*)(?: grátis)?(?: para)?(?: [oa]s?)? (?:\d{3}(?:, | ou | e )(?:para )?(?:[oa]s? )?)+$|(?:SAMU|[Pp]olícia(?: Militar)?|[Bb]ombeiros|Defesa Civil|Disque(?:-\p{L}+)?) (?=$)/u;

/** 10'; o minuto 45'. */
function sayMinutes(digits: string, { previousShort }: Around): string {
  const named = /^(?:minutos?|min)$/.test(previousShort);
  return named ? cardinal(digits) : `${cardinal(digits)} minuto${digits === '1' ? '' : 's'}`;
}

const DIRECTIONS = { N: 'norte', S: 'sul', E: 'leste', L: 'leste', O: 'oeste', W: 'oeste' };
const LAWS =
  /(?:lei|leis|complementar|PLP?|PEC|MP|decreto|decreto-lei|portaria|resolução|provisória|processo|n\.?º) $/iu;

const HALF = { m: 'meio', f: 'meia' };
const NO_NOUNS = new Set('por com das dos mais que para'.split(' '));
const VEZ = noun('vez|vezes f');
const { numbers, units } = WRITING;

// By the character behind the digits and at most one space.
const EVERY = /(\d{1,2})\/(\d{1,2}) ?(?:hs?|hrs?|horas?)(?![\p{L}\p{N}])\.?/uy;

/** De 12/12 h, 8/8h: a dose, and when the next one is. */
function everyHours(reading: Reading): Found | undefined {
  const [written = '', first = '', second = ''] = reading.match(EVERY) ?? [];
  if (written === '' || first !== second) return undefined;
  const hours = Number(first) === 2 ? 'duas' : cardinal(first);
  const lead = reading.around(reading.at).previousWord === 'de' ? '' : 'de ';
  const stop = written.endsWith('.') ? 1 : 0;
  return {
    end: reading.at + written.length - stop,
    spoken: `${lead}${hours} em ${hours} horas`,
    rule: 'duration',
  };
}

const PARTS_OF_YEAR = {
  quarter: 'trimestre',
  half: 'semestre',
  ordinals: ['primeiro', 'segundo', 'terceiro', 'quarto'],
  cardinal,
};

const AT_DIGIT = behindDigits([
  [
    /[eE.,]/,
    scientific(
      SPEECH,
      (number, negative, exponent) =>
        `${number} vezes dez elevado a ${negative ? 'menos ' : ''}${cardinal(exponent)}`,
    ),
  ],
  [/[TQS]/, partOfYear(PARTS_OF_YEAR)],
  [/\//, unionLaw(cardinal, SPEECH)],
  [/\./, groupedOrdinal(ordinal, inForm)],
  [/-/, planeType(cardinal)],
  [/\//, everyHours],
  [/[.-]/, grouped],
  [
    /[xX×.,]/,
    product({
      numbers,
      units,
      decimal,
      by: 'por',
      ofSum: 'vezes',
      isGame: isOfGame,
      score: (home, guest) => SPEECH.score(home, guest),
    }),
  ],
  [/[x×.,]/, timesOver(VEZ, numbers, PER, SPEECH)],
  [/[½¼¾⅓⅔\dey]/, mixedWithNoun({ and: 'e', half: HALF, cardinal, parts, genderOf, noNouns: NO_NOUNS })],
  [/\//, cardExpiry(CARD, SPEECH, (month, year) => `${cardinal(month)} de ${cardinal(year)}`)],
  [/\//, day],
  [/[ºo°]/, firstOfMonth],
  [/[/.]/, lawNumber(LAWS, cardinal)],
  [/[.,]/, rating('de', numbers, decimal, cardinal)],
  [/[°º]/, position({ degree: 'grau', minute: 'minuto', second: 'segundo' }, DIRECTIONS, cardinal)],
  [/[+.,]/, atLeast('mais de', numbers, SPEECH)],
  [/-/, localNumber(CALLS, SPEECH)],
  [/(?:)/, serviceNumber(SERVICES, SPEECH)],
  [/["”″/.,\d]/, inches(noun('polegada f'), numbers, SPEECH)],
  [/['’′]/, minutesAndSeconds(SPEECH)],
  [/['’′]/, primed(sayMinutes)],
  [/:/, scale(SPEECH)],
  [/[-–]/, score(SPEECH)],
  [/\//, schoolYear(cardinal)],
]);

const AT_LETTER = byFirstLetter([
  [/[A-Z]/, currencyPair(CURRENCIES), /\//],
  [/[im]/, processor(SPEECH, cardinal), /\d/],
  [/[UG]/, utc, /[+−–-]/],
  [/[sSIVXLC]/, centuries],
  [/[a-zA-Z]/, shortMonth, /[-/]/],
  [/[a-zA-Z]/, monthRange(WRITING.dates.months, SPEECH), /[-–/.]/],
  [/[TQS]/, letteredPartOfYear(PARTS_OF_YEAR), /[1-4]/],
  [INITIALS, numberedByRomans({ names: NAMES, isPlural, say: cardinal })],
  [/[IVX]/, romanDay, /d/i],
  [/[stqdSTQD]/, weekdays, /[.–-]/],
  [/[A-Z]/, bankAccount(SPEECH), /\d/],
  [/[A-Z]/, plate, /\d/],
]);

export const OWN: NonNullable<Language['own']> = {
  atDigit: [AT_DIGIT],
  atLetter: [AT_LETTER],
  atMark: [
    byMark([
      [/#/, dayHashtag(cardinal)],
      [/\//, perWord(PER)],
      [/\//, slashOfCode],
      [/\//, perCubic('por milímetro cúbico')],
      [/[⁻^]/, negativePower((digits) => ` elevado a menos ${cardinal(digits)}`)],
    ]),
  ],
};
