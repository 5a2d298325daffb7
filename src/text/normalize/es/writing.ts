// Written forms of Spanish, as data. Spain groups digits with points, Mexico with commas.
import { greekLetters } from '../greek.js';
import { currencies, magnitudes, nounTables } from '../iberian/nouns.js';
import {
  adjectiveBehind,
  beforeDigit,
  beforeName,
  beforeNumberOf,
  textBefore,
  textBehind,
  timesSign,
  titleBehind,
  unlessDigit,
} from '../iberian/sayings.js';
import type { Currency, Magnitude, Noun, Saying, Writing } from '../language.js';
import type { NumberFormat } from '../numerals.js';
import { genderOf } from './grammar.js';

// Spanish units, currencies and magnitudes: the singular, then the plural, and the gender.

export const { noun, units } = nounTables(
  (word) => (/[aeiouéót]$/.test(word) ? `${word}s` : `${word}es`),
  /^(?:cuadrad|cúbic|náutic)/,
);

const MAGNITUDES: Readonly<Record<string, Magnitude>> = magnitudes([
  ['mil millones', 'mil millones', 'mil millones', 9],
  ['mil,k,K', 'mil', 'mil', 3],
  ['millón,millones,Millones,MILLONES,M,MM,mill.,mills.', 'millón', 'millones', 6],
  ['B', 'mil millones', 'mil millones', 9],
  ['mil billones', 'mil billones', 'mil billones', 15],
  ['billón,billones', 'billón', 'billones', 12],
  ['trillón,trillones', 'trillón', 'trillones', 18],
]);

// prettier-ignore
const MINOR: Readonly<Record<string, Noun>> = {
  EUR: noun('céntimo'), GBP: noun('penique'), CHF: noun('céntimo'), RUB: noun('kopek|kopeks'), INR: noun('paisa f'), CRC: noun('céntimo'),
  PEN: noun('céntimo'),
  VES: noun('céntimo'), UYU: noun('centésimo'), PAB: noun('centésimo'), PYG: noun('céntimo'), SEK: noun('öre|öre'), NOK: noun('øre|øre'),
  DKK: noun('øre|øre'), CNY: noun('fen|fen'),
};
const WITHOUT_MINOR = new Set(['JPY', 'KRW', 'CLP', 'BTC', 'ETH', 'VND', 'HUF', 'PYG', 'CENT', 'CENTAVO']);
// prettier-ignore
const NAMES: Readonly<Record<string, string>> = {
  USD: 'dólar|dólares', EUR: 'euro', GBP: 'libra f', JPY: 'yen|yenes', CNY: 'yuan|yuanes', INR: 'rupia f', KRW: 'won|wones', RUB: 'rublo',
  BRL: 'real|reales', CHF: 'franco suizo|francos suizos',
  CAD: 'dólar canadiense|dólares canadienses', AUD: 'dólar australiano|dólares australianos',
  NZD: 'dólar neozelandés|dólares neozelandeses', MXN: 'peso mexicano|pesos mexicanos', ARS: 'peso argentino|pesos argentinos',
  CLP: 'peso chileno|pesos chilenos', COP: 'peso colombiano|pesos colombianos', UYU: 'peso uruguayo|pesos uruguayos',
  DOP: 'peso dominicano|pesos dominicanos', CUP: 'peso cubano|pesos cubanos', PEN: 'sol|soles', BOB: 'boliviano', PYG: 'guaraní|guaraníes',
  VES: 'bolívar|bolívares', CRC: 'colón|colones', GTQ: 'quetzal|quetzales', HNL: 'lempira f', NIO: 'córdoba', PAB: 'balboa',
  SEK: 'corona sueca|coronas suecas f', NOK: 'corona noruega|coronas noruegas f', DKK: 'corona danesa|coronas danesas f',
  CZK: 'corona checa|coronas checas f',
  PLN: 'esloti|eslotis', HUF: 'forinto', TRY: 'lira turca|liras turcas f', ILS: 'séquel|séqueles', MAD: 'dírham|dírhams',
  AED: 'dírham|dírhams', ZAR: 'rand|rands', HKD: 'dólar de Hong Kong|dólares de Hong Kong', SGD: 'dólar de Singapur|dólares de Singapur',
  TWD: 'dólar taiwanés|dólares taiwaneses',
  THB: 'bat|bats', PHP: 'peso filipino|pesos filipinos', UAH: 'grivna f', BTC: 'bitcóin|bitcoins', ETH: 'ether|ethers', PESO: 'peso',
  CENT: 'céntimo', CENTAVO: 'centavo', PTS: 'peseta f',
};

const CURRENCIES: Readonly<Record<string, Currency>> = currencies(NAMES, noun, {
  own: MINOR,
  usual: noun('centavo'),
  without: WITHOUT_MINOR,
});

// Spanish short forms that are said in full. A form in small letters is also found with a capital.

const ofWoman = titleBehind(new Set(['la', 'una', 'señora', 'doña']));
const inGender = adjectiveBehind(new Set(['la', 'una']), genderOf);
const factors = timesSign('por', 'por');

/** Behind a year or a century; Washington D. C. keeps its letters. */
function afterYear(words: string): Saying {
  return (around) => (/[\dIVX] ?$/.test(textBefore(around, 2)) ? words : undefined);
}

/** Dom. 3 de marzo; de lun. a vie. */
function weekday(name: string): Saying {
  return (around) => (/^(?:a|al|y|el|los)$/.test(around.previousWord) ? name : beforeDigit(name)(around));
}

/** Col. is a district of a Mexican town behind a comma or before a postcode, else a colonel. */
const colony: Saying = (around) =>
  /,\s*$/.test(textBefore(around, 3)) ||
  /^ [\p{L} ]{3,30},? (?:C\.? ?P\.?|\d{5}(?!\d))/u.test(textBehind(around, 44))
    ? 'colonia'
    : 'coronel';

/** Largo x ancho, and between numbers. */
const times: Saying = (around) =>
  /^(?:ancho|alto|largo|fondo)$/.test(around.previousWord) ? 'por' : factors(around);

/** Piso 3, dto. B, but 10 % dto. */
const flat: Saying = (around) =>
  /^ \p{Lu}(?!\p{L})/u.test(textBehind(around, 3)) ? 'departamento' : 'descuento';

/** Esc. B, pta. 3. */
function labelled(word: string): Saying {
  return (around) => (/^ (?:\d|\p{Lu}(?!\p{L}))/u.test(textBehind(around, 3)) ? word : undefined);
}

// prettier-ignore
const TITLES: Readonly<Record<string, Saying>> = {
  'Sr.': 'señor', 'Sra.': 'señora', 'Sres.': 'señores', 'Sras.': 'señoras', 'Srta.': 'señorita', 'Srtas.': 'señoritas',
  'sr.': 'señor', Mª: 'María', 'Ma.': beforeName('María'), 'Fco.': 'Francisco', 'Fdez.': 'Fernández', 'Glez.': 'González',
  'Rdguez.': 'Rodríguez', 'Hdez.': 'Hernández', 'Mtnez.': 'Martínez', 'M.ª': 'María', 'Mª.': 'María', 'sra.': 'señora',
  Sr: beforeName('señor'), Sra: beforeName('señora'), 'D.': beforeName('don'),
  'D.ª': 'doña', Dª: 'doña', 'D.a': 'doña', 'Dña.': 'doña', 'Da.': beforeName('doña'), 'Dr.': 'doctor', 'Dra.': 'doctora', 'Dres.': 'doctores',
  'Dras.': 'doctoras', Dr: beforeName('doctor'), Dra: beforeName('doctora'), 'Prof.': ofWoman('profesor'), 'Profa.': 'profesora',
  'Prof.ª': 'profesora',
  'Ing.': ofWoman('ingeniero'), 'Lic.': ofWoman('licenciado'), 'Lcdo.': 'licenciado', 'Lcda.': 'licenciada', 'Licda.': 'licenciada',
  'Arq.': ofWoman('arquitecto'),
  'Abg.': ofWoman('abogado'), 'Mtro.': 'maestro', 'Mtra.': 'maestra', 'Gral.': 'general', 'Cnel.': 'coronel', 'Col.': colony,
  'Cap.': beforeName('capitán'), 'Cmte.': 'comandante', 'Tte.': 'teniente', 'Sgto.': 'sargento', 'Alm.': 'almirante',
  'Gob.': ofWoman('gobernador'), 'Gte.': 'gerente', 'gte.': 'gerente', 'gral.': 'general', 'Magdo.': 'magistrado',
  'Dip.': ofWoman('diputado'), 'Sen.': ofWoman('senador'), 'Psic.': ofWoman('psicólogo'), 'C.P.A.': 'contador público',
  'Pdte.': 'presidente', 'Pdta.': 'presidenta', 'Pte.': 'presidente', 'Mons.': 'monseñor', 'Excmo.': 'excelentísimo',
  'Excma.': 'excelentísima', 'Ilmo.': 'ilustrísimo', 'Ilma.': 'ilustrísima', 'Rvdo.': 'reverendo', 'Fr.': beforeName('fray'),
  'Hno.': 'hermano', 'Hna.': 'hermana', 'Hnos.': 'hermanos', 'Vda.': 'viuda', 'Sto.': 'Santo', 'Sta.': 'Santa',
  Sto: beforeName('Santo'), Sta: beforeName('Santa'), 'S.': beforeName('San'), 'ud.': 'usted', 'uds.': 'ustedes', 'Ud.': 'usted',
  'Uds.': 'ustedes', 'Vd.': 'usted', 'Vds.': 'ustedes', 'S. M.': 'su majestad', 'SS. MM.': 'sus majestades', 'S. A. R.': 'su alteza real',
};

// prettier-ignore
const PLACES: Readonly<Record<string, Saying>> = {
  'C/': 'calle', 'c/': unlessDigit('calle', 'cada'), 'Cl.': beforeName('calle'), 'Av.': 'avenida', 'Avda.': 'avenida', 'Avd.': 'avenida',
  'Ave.': 'avenida',
  Avda: beforeName('avenida'), Av: beforeName('avenida'), 'av.': 'avenida', 'avda.': 'avenida', 'Pza.': 'plaza', 'Plza.': 'plaza',
  'Pl.': beforeName('plaza'), 'P.º': 'paseo', Pº: 'paseo', 'Ctra.': 'carretera', 'ctra.': 'carretera', 'Urb.': 'urbanización', 'Pol. Ind.': 'polígono industrial', 'pol. ind.': 'polígono industrial', 'P. I.': beforeName('polígono industrial'),
  'Blvr.': 'bulevar', 'Blvd.': 'bulevar', 'Bulev.': 'bulevar', 'Glta.': 'glorieta', 'Trav.': 'travesía', 'Rda.': 'ronda',
  'Cra.': 'carrera', 'Cll.': 'calle', 'edif.': 'edificio', 'Edo.': 'estado', 'Mpio.': 'municipio', 'prov.': 'provincia',
  'Fracc.': 'fraccionamiento', 'apdo.': 'apartado', 'izq.': 'izquierda', 'izqda.': 'izquierda', 'izda.': 'izquierda', 'dcha.': 'derecha',
  'der.': 'derecha', 'esq.': 'esquina', 's/n': 'sin número', 'S/N': 'sin número', 's/n.': 'sin número', 'entlo.': 'entresuelo',
  'pral.': 'principal', 'depto.': 'departamento', 'dpto.': 'departamento', 'Hab.': 'habitación', 'Deleg.': 'delegación', 'C. P.': 'código postal',
  'C.P.': 'código postal', CP: beforeDigit('código postal'), 'Bs. As.': 'Buenos Aires', Bº: 'barrio', 'B.º': 'barrio',
  'esc.': labelled('escalera'), 'pta.': labelled('puerta'),
  'Pta.': labelled('puerta'), 'bl.': labelled('bloque'), CDMX: 'Ciudad de México', 'Cdad.': 'ciudad',
};

/** A director; before the number of one a directive of the Union. */
const director: Saying = (around) => {
  if (/^ ?(?:19|20)\d\d\//.test(textBehind(around, 6))) return 'directiva';
  return /^(?:la|una|señora|doña)$/.test(around.previousWord) ? 'directora' : 'director';
};

// prettier-ignore
const OFFICE: Readonly<Record<string, Saying>> = {
  'cía.': 'compañía', 'Cia.': 'compañía', 'Ltda.': 'limitada', 'Bco.': 'banco', 'Univ.': 'universidad', 'Inst.': 'instituto',
  'admón.': 'administración', 'Secr.': 'secretaría', 'Dir.': director, 'Fdo.': 'firmado', 'cta.': 'cuenta', 'cte.': 'corriente',
  'pdo.': 'pasado', 'ppdo.': 'próximo pasado', 'dto.': flat, 'tel.': 'teléfono', 'teléf.': 'teléfono',
  tel: beforeNumberOf('teléfono'), Tel: beforeNumberOf('Teléfono'), tlf: beforeNumberOf('teléfono'), Tlf: beforeNumberOf('Teléfono'),
  cel: beforeNumberOf('celular'), 'tfno.': 'teléfono', Tfno: beforeNumberOf('Teléfono'), tfno: beforeNumberOf('teléfono'),
  Telf: beforeNumberOf('Teléfono'), 'telf.': 'teléfono', 'Rte.': 'remitente', 'y ss.': 'y siguientes',
  'tlf.': 'teléfono', 'móv.': 'móvil', 'cel.': 'celular', 'ref.': 'referencia', 'obs.': 'observación', 'pza.': 'pieza', 'pzas.': 'piezas',
  'cód.': 'código', 'S. A.': 'S A', 'S. L.': 'S L', 'S. A. de C. V.': 'S A de C V', 'S.A. de C.V.': 'S A de C V', 'P. D.': 'posdata',
  'V.º B.º': 'visto bueno', VºBº: 'visto bueno', 'I+D': 'I más D', 'I+D+i': 'I más D más I', 'AT&T': 'A T y T', 'c/u': 'cada uno',
  'a/a': 'a la atención', 'A/A': 'a la atención', 'd/f': 'días fecha', 'm/n': 'moneda nacional', 'n/a': 'no aplica',
  'N/A': 'no aplica',
};

/** Doubled letters are plurals. */
// prettier-ignore
const PLURALS: Readonly<Record<string, Saying>> = {
  'EE. UU.': 'Estados Unidos', 'EE UU': 'Estados Unidos', EEUU: 'Estados Unidos', 'E. U.': 'Estados Unidos', 'E.E.U.U.': 'Estados Unidos',
  'RR. HH.': 'Recursos Humanos', RRHH: 'Recursos Humanos', 'JJ. OO.': 'Juegos Olímpicos', JJOO: 'Juegos Olímpicos',
  'CC. AA.': 'comunidades autónomas', CCAA: 'comunidades autónomas', 'FF. AA.': 'Fuerzas Armadas', 'CC. OO.': 'Comisiones Obreras',
  CCOO: 'Comisiones Obreras', 'RR. PP.': 'relaciones públicas', 'AA. VV.': 'autores varios', 'DD. HH.': 'derechos humanos',
  DDHH: 'derechos humanos', 'RR. SS.': 'redes sociales', RRSS: 'redes sociales', 'FF. CC.': 'ferrocarriles', FFAA: 'Fuerzas Armadas',
  AAVV: 'autores varios',
};

// prettier-ignore
const RUNNING_TEXT: Readonly<Record<string, Saying>> = {
  'n.º': 'número', nº: 'número', 'n.os': 'números', 'núm.': 'número', 'núms.': 'números', 'pág.': 'página', 'págs.': 'páginas',
  'etc.': 'etcétera', etc: 'etcétera', 'p. ej.': 'por ejemplo', 'p.e.': 'por ejemplo', 'ej.': 'ejemplo', 'vs.': 'contra', vs: 'contra',
  'aprox.': 'aproximadamente', 'máx.': inGender('máximo'), 'mín.': inGender('mínimo'), 'ca.': beforeDigit('hacia'), 'cf.': 'compárese',
  'cfr.': 'compárese',
  'T.ª': 'temperatura', Tª: 'temperatura', Ø: 'diámetro', 's. n. m.': 'sobre el nivel del mar', 'r. p. m.': 'revoluciones por minuto', 'et al.': 'y otros',
  'op. cit.': 'obra citada', 'ibíd.': 'ibídem', 'ibid.': 'ibídem', 'vid.': 'véase',
  'i. e.': 'es decir', 'e. g.': 'por ejemplo', 'incl.': 'inclusive', 'excl.': 'excluido', 'y/o': 'y o', 'Y/O': 'y o',
  'a. C.': 'antes de Cristo', 'd. C.': 'después de Cristo', 'A. C.': afterYear('antes de Cristo'), 'D. C.': afterYear('después de Cristo'),
  'a. de C.': 'antes de Cristo', 'd. de C.': 'después de Cristo', 'a. e. c.': 'antes de la era común', 'a. m.': 'de la mañana',
  'p. m.': 'de la tarde', 'q. e. p. d.': 'que en paz descanse', 'D. E. P.': 'descanse en paz', 'N. del T.': 'nota del traductor',
  's. f.': 'sin fecha', 'ntro.': 'nuestro', 'atte.': 'atentamente', 'L-V': 'lunes a viernes', 'L-S': 'lunes a sábado',
  'L-D': 'lunes a domingo', 'tít.': 'título', 'trad.': 'traducción', 'lun.': weekday('lunes'),
  'mié.': weekday('miércoles'), 'jue.': weekday('jueves'), 'vie.': weekday('viernes'), 'sáb.': weekday('sábado'),
  'dom.': weekday('domingo'), x: times,
};

const GREEK = greekLetters(
  'alfa beta gamma delta épsilon zeta eta theta iota kappa lambda mu nu xi ómicron pi ro sigma tau ípsilon fi ji psi omega',
);

const ABBREVIATIONS = { ...TITLES, ...PLACES, ...GREEK, ...OFFICE, ...PLURALS, ...RUNNING_TEXT };

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

const COUNTED = /(?: \p{Ll}{3,}s(?!\p{L})| (?:MXN|USD|pesos)| (?:mil |de )?millones)/uy;
const EURO = / ?(?:€|euros?|EUR)/y;

/**
 * 1,234 is grouped behind a dollar sign or before a plural that is no measure; 1,549 € and 3,125 kg have
 * decimals.
 */
function isGroupedByComma(text: string, start: number, end: number): boolean {
  if (text[start] === '0' || text[end - 4] !== ',') return false;
  if (/(?:\$|MXN|USD) ?$/.test(text.slice(Math.max(0, start - 4), start))) return true;
  EURO.lastIndex = COUNTED.lastIndex = end;
  return !EURO.test(text) && COUNTED.test(text);
}

const NUMBERS: NumberFormat = {
  decimal: ',',
  grouping: ['.', ' '],
  other: { decimal: '.', grouping: [','] },
  prefersOther: isGroupedByComma,
};

function after(list: string, kind: 'cardinal' | 'ordinal'): [string, 'cardinal' | 'ordinal'][] {
  return list
    .trim()
    .split(/\s+/)
    .map((word) => [word, kind]);
}

// prettier-ignore
export const WRITING: Writing = {
  numbers: NUMBERS,
  dates: {
    months: [
      ['enero', 'ene', 'ene.'], ['febrero', 'feb', 'feb.', 'febr.'], ['marzo', 'mar', 'mar.'], ['abril', 'abr', 'abr.'],
      ['mayo', 'may', 'may.'], ['junio', 'jun', 'jun.'],
      ['julio', 'jul', 'jul.'], ['agosto', 'ago', 'ago.'], ['septiembre', 'setiembre', 'sep', 'sep.', 'sept', 'sept.', 'set.'],
      ['octubre', 'oct', 'oct.'], ['noviembre', 'nov', 'nov.'], ['diciembre', 'dic', 'dic.'],
    ],
    weekdays: [
      ['lunes', 'lun.', 'lun', 'Lun', 'Lun.'], ['martes', 'mart.', 'Mar.', 'Mar'],
      ['miércoles', 'mié.', 'mié', 'miér.', 'Mié', 'Mié.', 'mie.'], ['jueves', 'jue.', 'jue', 'Jue', 'Jue.'],
      ['viernes', 'vie.', 'vie', 'Vie', 'Vie.'], ['sábado', 'sáb.', 'sáb', 'Sáb', 'Sáb.', 'sab.'], ['domingo', 'dom.', 'dom', 'Dom', 'Dom.'],
    ],
    orders: { '/': 'dmy', '-': 'dmy', '.': 'dmy' },
    named: ['day-month', 'month-day'],
    dayMark: '[.]?[ºª°]|er',
    between: '(?:,? del? (?:año )?|[ /-]|, )',
  },
  times: {
    marks: [':', '.', 'h'],
    halves: {
      'a. m.': 'am', 'p. m.': 'pm', 'a.m.': 'am', 'p.m.': 'pm', am: 'am', pm: 'pm', 'a.m': 'am', 'p.m': 'pm', 'a. m': 'am', 'p. m': 'pm', 'm.': 'm',
    },
    words: { h: 'horas', 'h.': 'horas', hs: 'horas', 'hs.': 'horas', hrs: 'horas', 'hrs.': 'horas', horas: 'horas', hr: 'horas' },
    zones: {
      GMT: 'G M T', UTC: 'U T C', CET: 'hora central europea', CEST: 'hora central europea de verano', EST: 'hora del este',
      EDT: 'hora del este', ET: 'hora del este', CST: 'hora del centro', CDT: 'hora del centro',
      PST: 'hora del Pacífico', PDT: 'hora del Pacífico', PT: 'hora del Pacífico', ART: 'hora de Argentina', CLT: 'hora de Chile',
      COT: 'hora de Colombia', PET: 'hora de Perú',
    },
  },
  telephone: {
    patterns: [
      /[6789]\d{2}([ .-])\d{3}\1\d{3}(?<!000[ .-]000)(?!\d|[-.]\d)/y,
      /[6789]\d{2}([ .-])\d{2}\1\d{2}\1\d{2}(?!\d|[-.]\d)/y,
      /9\d([ .-])\d{3}\1\d{2}\1\d{2}(?!\d|[-.]\d)/y,
      /[67]\d{8}(?!\d|[-.,]\d)/y,
      /\(\d{2,4}\) ?(?:15[ -])?\d{3,4}[ -]\d{2,4}(?:[ -]\d{2,4})?(?!\d)/y,
      /(?:\(00\d{1,3}\)|00 ?\d{2,3}) ?\d{1,4}(?:[ -]\d{2,4}){1,4}(?!\d|[-.]\d)/y,
      /34 [6-9]\d{2} (?:\d{3} \d{3}|\d{2} \d{2} \d{2})(?!\d|[-.]\d)/y,
      /(?:0?1 )?[1-9]\d{2}[ -]\d{3}[ -]\d{4}(?!\d|[-.]\d)/y,
      /(?:52 )?[2-9]\d[ -]\d{4}[ -]\d{4}(?!\d|[-.]\d)/y,
      /01[ -]?800[ -]\d{3}[ -]?\d{2}[ -]?\d{2}(?!\d)/y,
      /0\d{1,4}[ -]\d{3,4}[ -]?\d{3,4}(?!\d|[-.]\d)/y,
      /(?:[3-8]\d{3}|2[1-9]\d{2})-\d{4}(?!\d|[-.]\d)/y,
    ],
    keywords: words(`
      teléfono teléfonos tel telf teléf tfno tlf móvil móv celular cel fax whatsapp llame llama llamar llamando llámenos llámanos llamen
      marque marcar marca márquelo
      contacto telefónico telefónica línea emergencias gratuito
    `),
  },
  currencies: CURRENCIES,
  currencySigns: {
    $: 'USD', US$: 'USD', U$S: 'USD', u$s: 'USD', 'USD$': 'USD', U$D: 'USD', dólares: 'USD', dólar: 'USD', 'dls.': 'USD', '€': 'EUR',
    euros: 'EUR', euro: 'EUR', Euros: 'EUR', '£': 'GBP', libras: 'GBP', '¥': 'JPY', yenes: 'JPY', 'CN¥': 'CNY', yuanes: 'CNY',
    '₹': 'INR', rupias: 'INR', '₩': 'KRW', '₽': 'RUB', rublos: 'RUB', R$: 'BRL', C$: 'CAD', CA$: 'CAD', A$: 'AUD', AU$: 'AUD', MX$: 'MXN',
    'AR$': 'ARS', 'CLP$': 'CLP', 'COP $': 'COP', 'MXN $': 'MXN', 'ARS $': 'ARS', 'CLP $': 'CLP', 'USD $': 'USD', 'UYU $': 'UYU', MXN$: 'MXN', CLP: 'CLP', 'COP$': 'COP', 'RD$': 'DOP', '$U': 'UYU', 'S/': 'PEN', 'S/.': 'PEN', soles: 'PEN',
    'Bs.': 'BOB', 'Gs.': 'PYG', Bs: 'BOB', '₡': 'CRC', colones: 'CRC', '₲': 'PYG', '₺': 'TRY', '₪': 'ILS', '฿': 'THB', '₿': 'BTC', '₴': 'UAH',
    pesos: 'PESO', peso: 'PESO', céntimos: 'CENT', 'cts.': 'CENT', cts: 'CENT', '¢': 'CENTAVO', centavos: 'CENTAVO', 'M.N.': 'PESO',
    bolívares: 'VES', bitcoins: 'BTC', pesetas: 'PTS', 'ptas.': 'PTS', quetzales: 'GTQ', lempiras: 'HNL',
  },
  units: {
    ...units({
      'km Km km. kms Kms': 'kilómetro', 'm mts mts. m.': 'metro', 'cm cm. cms': 'centímetro', 'mm mm.': 'milímetro', 'µm μm': 'micrómetro',
      nm: 'nanómetro',
      dm: 'decímetro', 'mi.': 'milla f', yd: 'yarda f', ft: 'pie', 'in.': 'pulgada f', '″': 'pulgada f',
      'km² km2 Km2 Km²': 'kilómetro cuadrado', 'm² m2 mts2': 'metro cuadrado', 'cm² cm2': 'centímetro cuadrado',
      'm³ m3': 'metro cúbico', 'cm³ cm3 cc c.c.': 'centímetro cúbico', 'hm³ hm3': 'hectómetro cúbico', 'ha ha.': 'hectárea f',
      'km/h Km/h kmh kph': 'kilómetro por hora', 'm/s': 'metro por segundo',
      'm/s²': 'metro por segundo al cuadrado|metros por segundo al cuadrado', mph: 'milla por hora f', 'kg kg. Kg kgs Kgs': 'kilogramo',
      'g gr gr. grs g.': 'gramo',
      'mg mg.': 'miligramo', 'µg μg mcg': 'microgramo',
      't t. Tn tn': 'tonelada f', 'lb lbs': 'libra f', 'oz oz.': 'onza f', 'l L lt lts l. lt. lts.': 'litro', 'ml mL ml.': 'mililitro',
      'cl cL': 'centilitro', 'dl dL': 'decilitro', hl: 'hectolitro', gal: 'galón|galones',
      '°C ºC ℃': 'grado Celsius', '°F ºF ℉': 'grado Fahrenheit', '° º': 'grado', K: 'kelvin|kelvin', 'h h. hr hrs hrs. hr. hs hs.': 'hora f',
      'min min. mins mins.': 'minuto', 's s. seg seg. segs': 'segundo',
      'Mb': 'megabit', 'Gb': 'gigabit', 'msnm m.s.n.m.': 'metro sobre el nivel del mar', ms: 'milisegundo', 'µs μs': 'microsegundo',
      ns: 'nanosegundo', Hz: 'hercio', kHz: 'kilohercio', MHz: 'megahercio', GHz: 'gigahercio',
      'bytes': 'byte',
      'KB kB': 'kilobyte', MB: 'megabyte', GB: 'gigabyte', TB: 'terabyte', PB: 'petabyte', 'kbps kbit/s': 'kilobit por segundo',
      'Mbps Mbit/s Mb/s': 'megabit por segundo', 'Gbps Gbit/s Gb/s': 'gigabit por segundo',
      'MB/s': 'megabyte por segundo', 'GB/s': 'gigabyte por segundo', W: 'vatio', 'kW KW': 'kilovatio', MW: 'megavatio', GW: 'gigavatio',
      Wh: 'vatio hora|vatios hora', 'kWh KWh kwh': 'kilovatio hora|kilovatios hora', MWh: 'megavatio hora|megavatios hora',
      GWh: 'gigavatio hora|gigavatios hora',
      V: 'voltio', kV: 'kilovoltio', mV: 'milivoltio', A: 'amperio', mA: 'miliamperio', mAh: 'miliamperio hora|miliamperios hora',
      'Ω': 'ohmio', 'kΩ': 'kiloohmio', N: 'newton|newtons', Nm: 'newton metro|newtons metro', J: 'julio', kJ: 'kilojulio',
      kcal: 'kilocaloría f', cal: 'caloría f', Pa: 'pascal|pascales', kPa: 'kilopascal|kilopascales', hPa: 'hectopascal|hectopascales',
      bar: 'bar|bares', psi: 'libra por pulgada cuadrada|libras por pulgada cuadrada f', 'dB dBA': 'decibelio',
      rpm: 'revolución por minuto|revoluciones por minuto f', fps: 'fotograma por segundo', dpi: 'punto por pulgada', px: 'píxel|píxeles',
      MP: 'megapíxel|megapíxeles', 'CV cv': 'caballo', HP: 'caballo de fuerza', lpm: 'latido por minuto', ppm: 'parte por millón f',
      'cda. cdas. cda cdas': 'cucharada f', 'cdta. cdtas. cdta cdtas': 'cucharadita f', mmHg: 'milímetro de mercurio',
      'mg/dL mg/dl': 'miligramo por decilitro', 'g/l g/L': 'gramo por litro', 'l/100km': 'litro cada cien kilómetros',
      'pts pts. ptos.': 'punto', 'uds uds. ud. u.': 'unidad|unidades f', 'pb p.b.': 'punto básico|puntos básicos',
      'kg/m²': 'kilogramo por metro cuadrado',
      'g/cm³': 'gramo por centímetro cúbico', 'l/min': 'litro por minuto', 'm³/s': 'metro cúbico por segundo',
      'tab. tabs.': 'tableta f', 'sem.': 'semana f', 'pers.': 'persona f', 'g/dL g/dl': 'gramo por decilitro', 'mmol/L mmol/l': 'milimol por litro', 'UI': 'unidad internacional|unidades internacionales f', 'U/L U/l': 'unidad por litro|unidades por litro f', 'ng/ml ng/mL': 'nanogramo por mililitro', 'comp. comps. comp': 'comprimido', 'cáps. cáps': 'cápsula f', 'amp.': 'ampolla f', 'gts. gtas.': 'gota f', 'r.p.m.': 'revolución por minuto|revoluciones por minuto f', nits: 'nit',
      'p.p. pp': 'punto porcentual|puntos porcentuales',
    }),
    'l/100 km': noun('litro cada cien kilómetros'),
    ...units({ 'mb mbar': 'milibar|milibares' }),
    ...units({ 'hab hab.': 'habitante', 'hab/km² hab./km² hab/km2': 'habitante por kilómetro cuadrado|habitantes por kilómetro cuadrado' }),
    mdd: noun('millón de dólares|millones de dólares'),
    mdp: noun('millón de pesos|millones de pesos'),
    'p. p.': noun('punto porcentual|puntos porcentuales'),
    'r. p. m.': noun('revolución por minuto|revoluciones por minuto f'),
    'm s. n. m.': noun('metro sobre el nivel del mar'),
    '° C': noun('grado Celsius'),
    'º C': noun('grado Celsius'),
    '%': { forms: ['por ciento', 'por ciento'], form: 'alone' },
    '‰': { forms: ['por mil', 'por mil'], form: 'alone' },
  },
  per: {
    s: 'por segundo', seg: 'por segundo', min: 'por minuto', h: 'por hora', hora: 'por hora', día: 'por día', dia: 'por día', d: 'por día',
    sem: 'por semana', semana: 'por semana',
    mes: 'al mes', año: 'al año', noche: 'por noche', kg: 'por kilo', l: 'por litro', L: 'por litro', litro: 'por litro',
    'm²': 'por metro cuadrado', m2: 'por metro cuadrado', persona: 'por persona', pers: 'por persona',
    'pers.': 'por persona', km: 'por kilómetro', 'km²': 'por kilómetro cuadrado', km2: 'por kilómetro cuadrado', kWh: 'por kilovatio hora',
    MWh: 'por megavatio hora', t: 'por tonelada', ud: 'por unidad', u: 'por unidad', 'u.': 'por unidad', 'ud.': 'por unidad',
    unidad: 'por unidad', usuario: 'por usuario', barril: 'por barril', GB: 'por gigabyte', m: 'por metro', 'm³': 'por metro cúbico',
    m3: 'por metro cúbico', noches: 'por noche', 'mm³': 'por milímetro cúbico', mm3: 'por milímetro cúbico', dosis: 'por dosis', toma: 'por toma', sesión: 'por sesión',
  },
  magnitudes: MAGNITUDES,
  ordinalMark: '(?:[.]?(?:er|os|as|[ºª°])|er[oa]?|[drtmvn][oa]s?|[.]?[oa]s?(?=[.]?(?:[ ,;:)]|$)))(?:[.](?= \\p{Ll}))?',
  abbreviations: ABBREVIATIONS,
  beforeNumber: {
    'n.º': 'número', 'N.º': 'número', nº: 'número', Nº: 'número', 'n°': 'número', 'N°': 'número', 'n.°': 'número', 'N.°': 'número',
    'nro.': 'número', 'Nro.': 'número', 'No.': 'número', 'no.': 'número', 'num.': 'número', 'Num.': 'número', 'núm.': 'número',
    '#': 'número', 'n.os': 'números', 'nos.': 'números', '№': 'número', 'p.': 'página', 'P.': 'página', 'pp.': 'páginas', 'pág.': 'página',
    'Pág.': 'página', 'pag.': 'página', 'págs.': 'páginas', 'cap.': 'capítulo', 'Cap.': 'capítulo', 'caps.': 'capítulos', 'art.': 'artículo',
    'Art.': 'artículo', 'arts.': 'artículos', 'vol.': 'volumen', 'Vol.': 'volumen', 't.': 'tomo', 'fig.': 'figura', 'Fig.': 'figura',
    'figs.': 'figuras', 'tab.': 'tabla', 'sec.': 'sección', 'Sec.': 'sección', '§': 'sección', 'ap.': 'apartado', 'inc.': 'inciso',
    'párr.': 'párrafo', 'lín.': 'línea', 'ext.': 'extensión', 'Ext.': 'extensión', 'int.': 'interior', 'Int.': 'interior', km: 'kilómetro',
    Km: 'kilómetro', 'km.': 'kilómetro', 'Km.': 'kilómetro', 'ed.': 'edición', 'c.': 'circa', 'h.': 'hacia', 'dpto.': 'departamento',
    'Dpto.': 'departamento', 'Mz.': 'manzana', 'Lt.': 'lote', 'vers.': 'versión', 'v.': 'versión', 'Hab.': 'habitación',
    'hab.': 'habitación', 'esc.': 'escalera', 'pta.': 'puerta', 'D.L.': 'decreto ley', 'R. D.': 'real decreto', RD: 'real decreto', 'Exp.': 'expediente', 'exp.': 'expediente',
  },
  letterPlural: '',
  spelled: words(`
    UE DNI IRPF ONG ONGS FMI BCE OMS OEA IPC ADN ARN VIH ITV IA TV PC USB GPS URL SMS PDF CFO CTO FBI IBM EUA TVE RTVE UGT IPN ISBN
    HTML CSS HTTP HTTPS XML SQL AM FM DVD CD IP ID EPS ETT UHF OCU CNI TI AEPD BBVA UCM UAM PSG NBA NFL OTP CPU GPU EGB FP IEEE DGT FNMT
    CNMV UTC GMT
    TDI GTI EDP QR LGTBI LGTB AFP CSV UCD PNV ERC IU
  `),
  read: words('PIN SIM RAM ROM IVA NIE NIF CIF PIB CIA LED TIC SAT AVE RAE NIP ONU OTAN ERE API COVID SIDA'),
  romanAfter: Object.fromEntries([
    ...after('capítulo tomo volumen parte libro acto escena título sección anexo apéndice fase tipo nivel artículo grado clase grupo apartado temporada episodio apolo unidad módulo bowl fantasy rocky ley', 'cardinal'),
    ...after(
      `siglo siglos vaticano felipe alfonso carlos fernando juan pablo isabel enrique luis pío benedicto francisco león gregorio clemente sixto
      pedro jaime sancho ramiro ordoño
       bermudo garcía napoleón guillermo jorge eduardo ricardo jacobo catalina margarita cristina leopoldo balduino nicolás alejandro iván
       federico maximiliano josé manuel
       víctor humberto amadeo umberto urbano inocencio bonifacio julio adriano ramsés ptolomeo darío jerjes teodosio mohamed hassan hasán
       abderramán xavier haakon harald gustavo cristián olaf`,
      'ordinal',
    ),
  ]),
  romanBefore: words(`
    guerra congreso edición aniversario centenario jornadas jornada juegos cumbre república festival concurso feria conferencia encuentro
    simposio foro maratón bienal premio premios
    semana certamen campeonato torneo copa asamblea legislatura dinastía cruzada concilio plan convenio olimpiada olimpiadas imperio reich
    internacional carrera gala seminario curso
    milenio distrito región división batallón regimiento
  `),
  digitsAfter: words(`
    código pin clave contraseña vuelo extensión ext postal cp cuenta referencia ref localizador expediente póliza serie rastreo seguimiento
    confirmación seguridad acceso activación otp cvv isbn imei nip dni folio
    guía terminada terminado termina matrícula verificación reserva
  `),
  linking: words('es de número núm en la el su son será n nº nro ref'),
  decadeMark: "['’]?s",
  yearAfter: words('en año años desde hasta de del hacia antes después verano otoño invierno primavera durante entre enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre'),
  scoreWords: words('descanso set parcial ganó ganaron gana ganan ganar venció vencieron perdió perdieron pierde empató empataron empate empatan marcador resultado derrotó goleó victoria derrota partido final terminó acabó quedó quedaron set venciendo imponerse impuso impusieron cayó triunfo'),
};
