// How Italian is written, as data.
import type { Writing } from '../language.js';
import { ABBREVIATIONS, BEFORE_NUMBER } from './abbreviations.js';
import { CURRENCIES, CURRENCY_SIGNS } from './currencies.js';
import { words } from './grammar.js';
import { MAGNITUDES, PER, UNITS } from './units.js';

/** "set" and "ago" are words of their own; see `dates.ts` for them before a year. */
const MONTHS = [
  ['gennaio', 'gen.', 'genn.', 'gen'], ['febbraio', 'feb.', 'febb.', 'feb'], ['marzo', 'mar.', 'mar'], ['aprile', 'apr.', 'apr'], ['maggio', 'mag.', 'magg.', 'mag'],
  ['giugno', 'giu.', 'giu'], ['luglio', 'lug.', 'lug'], ['agosto', 'ago.'], ['settembre', 'sett.'], ['ottobre', 'ott.', 'ott'], ['novembre', 'nov.', 'nov'], ['dicembre', 'dic.', 'dic'],
]; // prettier-ignore
const WEEKDAYS = [
  ['lunedì', 'lun.', 'lun', 'Lun.', 'Lun', 'LUN'], ['martedì', 'mar.', 'mar', 'Mar.', 'Mar', 'MAR'], ['mercoledì', 'mer.', 'mer', 'Mer.', 'Mer', 'MER'], ['giovedì', 'gio.', 'gio', 'Gio.', 'Gio', 'GIO'],
  ['venerdì', 'ven.', 'ven', 'Ven.', 'Ven', 'VEN'], ['sabato', 'sab.', 'sab', 'Sab.', 'Sab', 'SAB'], ['domenica', 'dom.', 'dom', 'Dom.', 'Dom', 'DOM'],
]; // prettier-ignore

export const WRITING: Writing = {
  numbers: {
    decimal: ',',
    grouping: ['.', ' ', "'", '’'],
    other: { decimal: '.', grouping: ["'", '’'] }, // CHF 1'250.50
  },
  dates: {
    months: MONTHS,
    weekdays: WEEKDAYS,
    orders: { '/': 'dmy', '-': 'dmy', '.': 'dmy' },
    named: ['day-month'],
    dayMark: '°|º',
    between: ' ',
  },
  times: {
    marks: [':'],
    halves: { 'a.m.': 'am', 'p.m.': 'pm', am: 'am', pm: 'pm' },
    words: {},
    zones: {
      UTC: 'U T C', GMT: 'G M T', CET: "ora dell'Europa centrale", CEST: "ora legale dell'Europa centrale", EST: 'ora della costa orientale', EDT: 'ora legale della costa orientale',
      PST: 'ora della costa pacifica', PDT: 'ora legale della costa pacifica', JST: 'ora del Giappone',
    },
  },
  telephone: {
    patterns: [
      /3[2-9]\d(?:[ ./-]?\d{7}|[ -]?\d{6}|[ .-]\d{3}[ .-]\d{4}|[ .-]\d{2}[ .-]\d{2}[ .-]\d{3}|[ .-]\d{3}[ .-]\d{2}[ .-]\d{2})(?!\d|[.,]\d)/y,
      /00\d{2}[ .-]\d{2,3}[ .-]?\d{5,8}(?!\d|[.,]\d)/y,
      /0\d{1,3}[ ./-]\d{5,8}(?!\d|[.,]\d)/y,
      /0\d{1,3}(?:[ .-]\d{2,4}){2,4}(?!\d|[.,-]\d)/y,
      /\(0\d{1,3}\) ?\d{5,8}(?!\d|[.,]\d)/y,
      /1(?:99|78|66)[ .-]\d{3}[ .-]\d{3}(?!\d|[.,]\d| (?:euro|€|abitanti))/y,
      /8(?:00|03|40|48|92|99)[ -]?(?!000[ -]?000)\d{3}[ -]?\d{3}(?!\d|[.,]\d| (?:euro|€))/y,
    ],
    keywords: words('tel telefono telefonare telefona chiamare chiamate chiami chiama cell cellulare fax verde contattare contatta contattate allo centralino whatsapp'),
  },
  currencies: CURRENCIES,
  currencySigns: CURRENCY_SIGNS,
  units: UNITS,
  per: PER,
  magnitudes: MAGNITUDES,
  ordinalMark: '°|º|ª|\\^(?!\\d)|-?esim[oaie]|mo|ma|[oa]',
  abbreviations: ABBREVIATIONS,
  beforeNumber: BEFORE_NUMBER,
  spelled: words(`
    UE UTC HIV FBI PD SMS CEO CFO CTO API URL PEO DNA OMS IA AI UK EU ID IP USB SRL SPA SAS SNC BCE FMI HTML PDF CGIL DPCM GPS RNA DDL IPO IVG IT ABI BEI AFP BTP CCT DVD
    CD PC TV KO SOS VPN TFR TG AD UDC FDI PDL AVS MPS BPM CNR INGV GDF UNHCR CVV OTP UI UX SEO OS ONG RFI CPU GPU ATM UV EA SS SP MIT UCLA HD LCD
  `),
  read: words('COP NASA FIFA UEFA ONU NATO RAI FIAT IVA INPS ISTAT INAIL CONI ANSA ASL PIN SIM IBAN SPID PEC TIM ENI ENEL USA PIL ISEE VIP AIDS LED SUV ROM RAM GIF JPEG CISL UIL ANAS ACI SISMI TARI IMU IRPEF'),
  romanAfter: {}, // its own recogniser knows which letters are a numeral
  romanBefore: new Set(),
  digitsAfter: words('codice cifre termina terminante codici pin puk otp cvv cvc cap matricola riferimento rif pratica conferma prenotazione volo isbn ean imei password iban conto verifica sicurezza attivazione'),
  linking: words('è con numero nr di conferma sicurezza verifica pin otp temporaneo segreto postale cliente accesso prenotazione attivazione sblocco seguente il'),
  letterPlural: '',
  decadeMark: '',
  yearAfter: words('nel del dal al anno entro gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre primavera estate autunno inverno stagione annata'),
  scoreWords: words(`vinto vince vincono vinse vincere battuto batte battono perso perde persero score vittoria sconfitta partita pareggio pareggiato pareggia finita finisce
    finì finito terminata terminato risultato finale gol rete punteggio set contro vantaggio batté superato supera travolge travolto espugna imposto imponendosi chiuso conduce conducono`),
}; // prettier-ignore
