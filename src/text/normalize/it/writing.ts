// Describes how Italian is written: marks, months, units, currencies, and the names of signs.
import type { Currency, Noun, SymbolNames, Writing } from '../language.js';
import { ABBREVIATIONS, BEFORE_NUMBER } from './abbreviations.js';
import { words } from './grammar.js';
import { MAGNITUDES, PER, UNITS } from './units.js';

export const SYMBOLS: SymbolNames = {
  inAddress: {
    '@': 'chiocciola', '.': 'punto', '/': 'slash', '\\': 'backslash', '-': 'trattino', _: 'trattino basso', ':': 'due punti', '#': 'cancelletto',
    '?': 'punto interrogativo', '=': 'uguale', '&': 'e', '+': 'più', '~': 'tilde', '%': 'per cento', '*': 'asterisco', '!': 'punto esclamativo',
  },
  inMath: {
    '+': 'più', '-': 'meno', '−': 'meno', '×': 'per', '*': 'per', '÷': 'diviso', '/': 'diviso', '=': 'uguale', '==': 'uguale',
    '<': 'è minore di', '>': 'è maggiore di', '<=': 'è minore o uguale a', '>=': 'è maggiore o uguale a', '≤': 'è minore o uguale a', '≥': 'è maggiore o uguale a',
    '≠': 'è diverso da', '!=': 'è diverso da', '≈': 'è circa uguale a', '~': 'circa', '±': 'più o meno', '√': 'radice quadrata di', '→': 'a', '∞': 'infinito', π: 'pi greco',
  },
  inFront: { '<': 'meno di', '>': 'più di', '≤': 'al massimo', '≥': 'almeno', '<=': 'al massimo', '>=': 'almeno', '≈': 'circa' },
  inText: {
    '&': 'e', '§': 'paragrafo', '©': 'copyright', '®': '', '™': '', '°': 'gradi', '%': 'per cento', '→': 'a', '←': '', '•': '', '†': '', '✓': '',
    '=': 'uguale', '€': 'euro', '∞': 'infinito', π: 'pi greco',
  },
  versionPoint: 'punto',
  version: 'versione',
  minus: 'meno',
  plus: 'più',
  keys: { star: 'asterisco', hash: 'cancelletto', before: /\b(?:prem|digit|tast|compon|inseri|schiacc)/i },
  hashtag: 'hashtag',
  addressWords: {
    com: 'com', org: 'org', net: 'net', gov: 'gov', it: 'it', eu: 'E U', co: 'co', uk: 'U K', us: 'U S', fr: 'F R', ch: 'C H', tv: 'T V',
    www: 'vu vu vu', pdf: 'P D F', js: 'J S', ts: 'T S', html: 'H T M L', csv: 'C S V', json: 'J S O N', jpg: 'J P G', jpeg: 'J P E G', png: 'P N G', mp: 'M P', xml: 'X M L',
    yaml: 'yaml', md: 'M D', txt: 'T X T', exe: 'E X E', zip: 'zip', doc: 'doc', docx: 'D O C X', xls: 'X L S', xlsx: 'X L S X', pptx: 'P P T X', py: 'P Y', api: 'A P I', faq: 'F A Q', gmail: 'gmail', hr: 'H R',
  },
}; // prettier-ignore

function noun(names: string): Noun {
  const [one = '', many = one, gender = 'm'] = names.split('|');
  return { forms: [one, many], gender: gender === 'f' ? 'f' : 'm' };
}

const CENTESIMO = noun('centesimo|centesimi');
const MINOR: Readonly<Record<string, Noun>> = {
  GBP: noun('penny|pence'), RUB: noun('copeco|copechi'), BRL: noun('centavo|centavos'), MXN: noun('centavo|centavos'), PLN: noun('grosz|grosz'),
  SEK: noun('öre'), NOK: noun('øre'), DKK: noun('øre'), TRY: noun('kuruş'), CNY: noun('fen'), INR: noun('paisa'),
}; // prettier-ignore
const WITHOUT_MINOR = new Set(['JPY', 'KRW', 'BTC', 'ETH', 'VND', 'HUF', 'ITL', 'CENT']);

const NAMES: Readonly<Record<string, string>> = {
  EUR: 'euro', USD: 'dollaro|dollari', GBP: 'sterlina|sterline|f', CHF: 'franco svizzero|franchi svizzeri', CAD: 'dollaro canadese|dollari canadesi',
  JPY: 'yen', CNY: 'yuan', INR: 'rupia|rupie|f', KRW: 'won', RUB: 'rublo|rubli', BRL: 'real|real', AUD: 'dollaro australiano|dollari australiani',
  NZD: 'dollaro neozelandese|dollari neozelandesi', MXN: 'peso messicano|pesos messicani', SEK: 'corona svedese|corone svedesi|f',
  NOK: 'corona norvegese|corone norvegesi|f', DKK: 'corona danese|corone danesi|f', PLN: 'zloty', CZK: 'corona ceca|corone ceche|f',
  HUF: 'fiorino ungherese|fiorini ungheresi', RON: 'leu|lei', BGN: 'lev|leva', TRY: 'lira turca|lire turche|f', ILS: 'shekel', ZAR: 'rand',
  SGD: 'dollaro di Singapore|dollari di Singapore', HKD: 'dollaro di Hong Kong|dollari di Hong Kong', THB: 'baht', VND: 'dong', UAH: 'grivnia|grivnie|f',
  AED: 'dirham', MAD: 'dirham marocchino|dirham marocchini', TND: 'dinaro tunisino|dinari tunisini', SAR: 'riyal', EGP: 'sterlina egiziana|sterline egiziane|f',
  ALL: 'lek', RSD: 'dinaro serbo|dinari serbi', ITL: 'lira|lire|f', BTC: 'bitcoin', ETH: 'ether', CENT: 'centesimo|centesimi',
}; // prettier-ignore

export const CURRENCIES: Readonly<Record<string, Currency>> = Object.fromEntries(
  Object.entries(NAMES).map(([code, names]) => {
    const minor = WITHOUT_MINOR.has(code) ? undefined : (MINOR[code] ?? CENTESIMO);
    return [code, { ...noun(names), ...(minor && { minor }) }];
  }),
);

export const CURRENCY_SIGNS: Readonly<Record<string, string>> = {
  '€': 'EUR', Euro: 'EUR', euro: 'EUR', eur: 'EUR', $: 'USD', US$: 'USD', $US: 'USD', '£': 'GBP', '¥': 'JPY', 'CN¥': 'CNY', '₹': 'INR', '₩': 'KRW', '₽': 'RUB',
  R$: 'BRL', C$: 'CAD', CA$: 'CAD', A$: 'AUD', AU$: 'AUD', '₺': 'TRY', '₪': 'ILS', '₴': 'UAH', '₿': 'BTC', 'Fr.': 'CHF', '₤': 'ITL', '¢': 'CENT',
  cent: 'CENT', 'cent.': 'CENT', dollaro: 'USD', dollari: 'USD', sterlina: 'GBP', sterline: 'GBP',
}; // prettier-ignore

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
