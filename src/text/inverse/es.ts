// Spanish as it is heard.
import type { Language } from '../normalize/language.js';
import { NOWHERE } from '../normalize/reading.js';
import { clock, hourAt, minutesAt } from './clock.js';
import { cardinalDate } from './dates.js';
import { type Listening, words } from './listening.js';
import type { SpokenReading, Written } from './spoken-reading.js';

/** The mark that the normaliser is asked with, and the one that is written. */
const ORDINAL_MARKS = [
  ['ro', '.º'],
  ['ra', '.ª'],
  ['er', '.er'],
] as const;

function ordinals(digits: string, { speech }: Language): readonly (readonly [string, string])[] {
  return ORDINAL_MARKS.flatMap(([asked, mark]) => {
    const said = speech.ordinal(digits, NOWHERE, asked);
    return said === undefined ? [] : [[said, mark] as const];
  });
}

// prettier-ignore
export const SPANISH: Listening = {
  numbers: {
    ones: ['un', 'una'],
    others: {},
    and: undefined,
    hundred: undefined,
    hasBareScales: true,
    isCompound: false,
    ordinals,
  },
  elides: false,
  zeros: words('cero'),
  repeats: { doble: 2, triple: 3 },
  points: words('coma punto'),
  minus: words('menos'),
  plus: words('mas'),
  rangeWords: words('a'),
  beforeRange: words('entre de'),
  rangeEnds: words('a y'),
  withMinor: words('con y'),
  closing: words(`
    y o pero a al ante aqui asi aunque como con cuando de del desde donde e el ella ellos en entonces es eso esta este esto fue ha hasta hay la las le les lo los
    me mi mis muy no nos o para pero por porque pues que se si sin sobre solo su sus tambien te tengo todo total u un una ya gracias ahora hoy manana ayer cada
    mas menos aproximadamente solamente
  `),
  manyOf: words('gracias veces perdones'),
  groupMark: ' ',
  telephone: (digits) => (/^[6-9]\d{8}$/.test(digits) ? digits.replace(/^(...)(...)/, '$1 $2 ') : undefined),
  money: { isSignFirst: false, countsArticle: true },
  space: { percent: ' ', degree: ' ' },
  units: { kilo: 'kg', kilos: 'kg', 'por cien': '%', 'kilómetros hora': 'km/h', 'grados centígrados': '°C', 'grado centígrado': '°C' },
  fillers: words('mi el la es numero codigo pin clave eh pues y por favor'),
  addresses: {
    at: ['arroba'],
    signs: { guion: '-', 'guion bajo': '_', 'raya baja': '_', subrayado: '_', 'barra baja': '_', menos: '-', diagonal: '/', dot: '.' },
    isAtInProse: false,
    isDotInProse: true,
    before: words('es correo direccion email'),
    notLocal: new Set(),
    outside: words('el la los las un una de del ese este mi es y o al en a sitio correo pagina que'),
  },
  spelling: {
    like: ['de', 'como', 'como en'],
    letters: { 'uve doble': 'w', 'doble ve': 'w', 'doble u': 'w', 'i griega': 'y', 'doble erre': 'rr' },
    alphabet: words('alfa alpha bravo charlie delta eco foxtrot golf hotel india juliet kilo lima mike noviembre oscar papa quebec romeo sierra tango uniform victor whisky xray yankee zulu'),
    cues: words('nombre apellido llamo deletreo deletrea deletrear escribe'),
    words: words('a e o u y'),
  },
};

const ARTICLE = words('la las');
const Y = words('y');
const MENOS = words('menos');
const MEDIA = words('media');
const CUARTO = words('cuarto');
const HORAS = words('hora horas');
const OF_DAY = words('manana tarde noche madrugada mediodia');

/** Las tres y media, las cuatro menos cuarto, las diecisiete treinta, las tres de la tarde. */
export function spanishTime(reading: SpokenReading, at: number): Written | undefined {
  if (!ARTICLE.has(reading.key(at)) || !reading.isJoined(at + 1)) return undefined;
  const hour = hourAt(reading, at + 1, 24, true);
  if (hour === undefined) return undefined;
  const written = (end: number, time: string): Written => ({
    end,
    text: `${reading.tokens[at]?.text ?? ''} ${time}`,
    rule: 'time',
  });
  const minutes = minutesBehind(reading, hour.end);
  if (minutes !== undefined) {
    const end = reading.isNext(minutes.end, HORAS) ? minutes.end + 1 : minutes.end;
    return written(end, clock(hour.value, minutes.value, ':'));
  }
  if (reading.isNext(hour.end, HORAS)) return written(hour.end + 1, clock(hour.value, 0, ':'));
  const isOfDay =
    reading.key(hour.end) === 'de' &&
    reading.key(hour.end + 1) === 'la' &&
    OF_DAY.has(reading.key(hour.end + 2));
  return isOfDay ? written(hour.end, String(hour.value)) : undefined;
}

/** Y media, y cuarto, y cinco, menos diez, treinta. */
function minutesBehind(
  reading: SpokenReading,
  at: number,
): { readonly value: number; readonly end: number } | undefined {
  const isBefore = reading.isNext(at, MENOS);
  if (!isBefore && !reading.isNext(at, Y)) {
    const bare = minutesAt(reading, at);
    return bare !== undefined && reading.isClosed(bare.end) ? bare : undefined;
  }
  const sign = isBefore ? -1 : 1;
  if (reading.isNext(at + 1, MEDIA) && !isBefore) return { value: 30, end: at + 2 };
  if (reading.isNext(at + 1, CUARTO)) return { value: sign * 15, end: at + 2 };
  const minutes = minutesAt(reading, at + 1, 1);
  return minutes !== undefined && (reading.isClosed(minutes.end) || reading.isNext(minutes.end, HORAS))
    ? { value: sign * minutes.value, end: minutes.end }
    : undefined;
}

export function spanishDate(reading: SpokenReading, at: number): Written | undefined {
  return cardinalDate(reading, at, { first: ['primero', '1'], between: 'de ', links: words('de del') });
}
