// Written forms of Spanish, as data. Spain groups digits with points, Mexico with commas.
import type { NumberFormat } from '../numerals.js';
import type { Writing } from '../language.js';
import { ABBREVIATIONS, BEFORE_NUMBER } from './abbreviations.js';
import { CURRENCIES, CURRENCY_SIGNS, MAGNITUDES, PER, UNITS } from './units.js';

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

const COUNTED = /(?: \p{Ll}{3,}s(?!\p{L})| (?:MXN|USD|pesos)| (?:mil |de )?millones)/uy;
const EURO = / ?(?:€|euros?|EUR)/y;

/** 1,234 is grouped behind a dollar sign or before a plural that is no measure; 1,549 € and 3,125 kg have decimals. */
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

const MONTHS = [
  ['enero', 'ene', 'ene.'], ['febrero', 'feb', 'feb.', 'febr.'], ['marzo', 'mar', 'mar.'], ['abril', 'abr', 'abr.'],
  ['mayo', 'may', 'may.'], ['junio', 'jun', 'jun.'],
  ['julio', 'jul', 'jul.'], ['agosto', 'ago', 'ago.'], ['septiembre', 'setiembre', 'sep', 'sep.', 'sept', 'sept.', 'set.'],
  ['octubre', 'oct', 'oct.'], ['noviembre', 'nov', 'nov.'], ['diciembre', 'dic', 'dic.'],
]; // prettier-ignore
const WEEKDAYS = [
  ['lunes', 'lun.', 'lun', 'Lun', 'Lun.'], ['martes', 'mart.', 'Mar.', 'Mar'],
  ['miércoles', 'mié.', 'mié', 'miér.', 'Mié', 'Mié.', 'mie.'], ['jueves', 'jue.', 'jue', 'Jue', 'Jue.'],
  ['viernes', 'vie.', 'vie', 'Vie', 'Vie.'], ['sábado', 'sáb.', 'sáb', 'Sáb', 'Sáb.', 'sab.'], ['domingo', 'dom.', 'dom', 'Dom', 'Dom.'],
]; // prettier-ignore

function after(list: string, kind: 'cardinal' | 'ordinal'): [string, 'cardinal' | 'ordinal'][] {
  return list
    .trim()
    .split(/\s+/)
    .map((word) => [word, kind]);
}

export const WRITING: Writing = {
  numbers: NUMBERS,
  dates: {
    months: MONTHS,
    weekdays: WEEKDAYS,
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
  currencySigns: CURRENCY_SIGNS,
  units: UNITS,
  per: PER,
  magnitudes: MAGNITUDES,
  ordinalMark: '(?:[.]?(?:er|os|as|[ºª°])|er[oa]?|[drtmvn][oa]s?|[.]?[oa]s?(?=[.]?(?:[ ,;:)]|$)))(?:[.](?= \\p{Ll}))?',
  abbreviations: ABBREVIATIONS,
  beforeNumber: BEFORE_NUMBER,
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
}; // prettier-ignore
