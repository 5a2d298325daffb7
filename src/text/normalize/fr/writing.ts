// Describes how French is written: marks, months, units, currencies, and the names of signs.
import type { Currency, Noun, SymbolNames, Writing } from '../language.js';
import { ABBREVIATIONS, BEFORE_NUMBER } from './abbreviations.js';
import { MAGNITUDES, PER, UNITS } from './units.js';

export const SYMBOLS: SymbolNames = {
  inAddress: {
    '@': 'arobase', '.': 'point', '/': 'slash', '\\': 'antislash', '-': 'tiret', _: 'tiret bas', ':': 'deux-points', '#': 'dièse',
    '?': 'point d’interrogation', '=': 'égale', '&': 'et', '+': 'plus', '~': 'tilde', '%': 'pour cent', '*': 'étoile', '!': 'point d’exclamation',
  },
  inMath: {
    '+': 'plus', '-': 'moins', '−': 'moins', '×': 'fois', '*': 'fois', '÷': 'divisé par', '/': 'divisé par', '=': 'égale', '==': 'égale',
    '<': 'est inférieur à', '>': 'est supérieur à', '<=': 'est inférieur ou égal à', '>=': 'est supérieur ou égal à',
    '≤': 'est inférieur ou égal à', '≥': 'est supérieur ou égal à', '≠': 'est différent de', '!=': 'est différent de',
    '≈': 'est environ égal à', '~': 'environ', '±': 'plus ou moins', '√': 'racine carrée de', '→': 'vers', '∞': 'l’infini', π: 'pi',
  },
  inFront: { '<': 'moins de', '>': 'plus de', '≤': 'au plus', '≥': 'au moins', '<=': 'au plus', '>=': 'au moins', '≈': 'environ' },
  inText: {
    '&': 'et', '§': 'paragraphe', '©': 'copyright', '®': '', '™': '', '°': 'degrés', '%': 'pour cent', '→': 'vers', '←': '', '•': '', '†': '', '✓': '',
    '=': 'égale', '€': 'euros', '∞': 'l’infini', π: 'pi',
  },
  versionPoint: 'point',
  version: 'version',
  minus: 'moins',
  plus: 'plus',
  keys: { star: 'étoile', hash: 'dièse', before: /appuy|touche|compos|\btap(?:ez|er)|saisi|press|entrez|faites/i },
  hashtag: 'hashtag',
  addressWords: {
    com: 'com', org: 'org', net: 'net', gouv: 'gouv', fr: 'F R', be: 'B E', ch: 'C H', ca: 'C A', io: 'I O', co: 'co', uk: 'U K', us: 'U S',
    it: 'I T', tv: 'T V', www: 'W W W', pdf: 'P D F', js: 'J S', ts: 'T S', html: 'H T M L', csv: 'C S V', json: 'J S O N', jpg: 'J P G', jpeg: 'J P E G', png: 'P N G', mp: 'M P', xml: 'X M L',
    yaml: 'yaml', md: 'M D', txt: 'T X T', exe: 'E X E', zip: 'zip', docx: 'D O C X', xlsx: 'X L S X', pptx: 'P P T X', py: 'P Y', api: 'A P I', faq: 'F A Q', sncf: 'S N C F', rh: 'R H', sav: 'S A V',
  },
}; // prettier-ignore

function noun(names: string): Noun {
  const [one = '', many = `${one}s`, gender = 'm'] = names.split('|');
  return { forms: [one, many], gender: gender === 'f' ? 'f' : 'm' };
}

const CENTIME = noun('centime');
const CENT = noun('cent');
const MINOR: Readonly<Record<string, Noun>> = {
  EUR: CENTIME, CHF: CENTIME, MAD: CENTIME, GBP: noun('penny|pence'), RUB: noun('kopeck'), BRL: noun('centavo'), MXN: noun('centavo'),
  PLN: noun('grosz|groszy'), SEK: noun('öre|öre'), NOK: noun('øre|øre'), DKK: noun('øre|øre'), TRY: noun('kuruş|kuruş'), CNY: noun('fen|fen'),
}; // prettier-ignore
const WITHOUT_MINOR = new Set([
  'JPY',
  'KRW',
  'BTC',
  'VND',
  'HUF',
  'XAF',
  'XOF',
  'XPF',
  'CENT',
  'CENTIME',
  'ETH',
]);

const NAMES: Readonly<Record<string, string>> = {
  EUR: 'euro', USD: 'dollar', GBP: 'livre sterling|livres sterling|f', CHF: 'franc suisse|francs suisses', CAD: 'dollar canadien|dollars canadiens',
  JPY: 'yen', CNY: 'yuan', INR: 'roupie|roupies|f', KRW: 'won', RUB: 'rouble', BRL: 'real|reais', AUD: 'dollar australien|dollars australiens',
  NZD: 'dollar néo-zélandais|dollars néo-zélandais', MXN: 'peso mexicain|pesos mexicains', SEK: 'couronne suédoise|couronnes suédoises|f',
  NOK: 'couronne norvégienne|couronnes norvégiennes|f', DKK: 'couronne danoise|couronnes danoises|f', PLN: 'zloty', CZK: 'couronne tchèque|couronnes tchèques|f',
  HUF: 'forint', TRY: 'livre turque|livres turques|f', ILS: 'shekel', ZAR: 'rand', SGD: 'dollar de Singapour|dollars de Singapour',
  HKD: 'dollar de Hong Kong|dollars de Hong Kong', THB: 'baht', VND: 'dong', UAH: 'hryvnia|hryvnias|f', AED: 'dirham', MAD: 'dirham marocain|dirhams marocains',
  DZD: 'dinar algérien|dinars algériens', TND: 'dinar tunisien|dinars tunisiens', SAR: 'riyal', XAF: 'franc CFA|francs CFA', XOF: 'franc CFA|francs CFA',
  XPF: 'franc Pacifique|francs Pacifique', BTC: 'bitcoin', ETH: 'ether', CENT: 'cent', CENTIME: 'centime', FRF: 'franc',
}; // prettier-ignore

export const CURRENCIES: Readonly<Record<string, Currency>> = Object.fromEntries(
  Object.entries(NAMES).map(([code, names]) => {
    const minor = WITHOUT_MINOR.has(code) ? undefined : (MINOR[code] ?? CENT);
    return [code, { ...noun(names), ...(minor && { minor }) }];
  }),
);

export const CURRENCY_SIGNS: Readonly<Record<string, string>> = {
  '€': 'EUR', $: 'USD', US$: 'USD', $US: 'USD', '$ US': 'USD', '£': 'GBP', '¥': 'JPY', 'CN¥': 'CNY', '₹': 'INR', '₩': 'KRW', '₽': 'RUB', R$: 'BRL',
  $CA: 'CAD', '$ CA': 'CAD', C$: 'CAD', CA$: 'CAD', $CAN: 'CAD', A$: 'AUD', AU$: 'AUD', '₺': 'TRY', '₪': 'ILS', '₴': 'UAH', '₿': 'BTC', FCFA: 'XOF',
  'F CFA': 'XOF', '¢': 'CENT', ct: 'CENTIME', cts: 'CENTIME', 'Fr.': 'CHF', DH: 'MAD', DA: 'DZD', DT: 'TND',
}; // prettier-ignore

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

const MONTHS = [
  ['janvier', 'janv.', 'janv', 'jan.'], ['février', 'févr.', 'fév.', 'fevrier', 'fév'], ['mars'], ['avril', 'avr.'], ['mai'], ['juin'],
  ['juillet', 'juil.', 'juill.'], ['août', 'aout'], ['septembre', 'sept.', 'sept'], ['octobre', 'oct.', 'oct'], ['novembre', 'nov.', 'nov'],
  ['décembre', 'déc.', 'decembre', 'déc'],
]; // prettier-ignore
const WEEKDAYS = [
  ['lundi', 'lun.', 'Lun.'], ['mardi', 'mar.', 'Mar.'], ['mercredi', 'mer.', 'Mer.'], ['jeudi', 'jeu.', 'Jeu.'], ['vendredi', 'ven.', 'Ven.'], ['samedi', 'sam.', 'Sam.'], ['dimanche', 'dim.', 'Dim.'],
]; // prettier-ignore

export const WRITING: Writing = {
  numbers: {
    decimal: ',',
    grouping: [' ', '.', "'", '’'],
    other: { decimal: '.', grouping: ["'", '’'] }, // CHF 1'250.50
  },
  dates: {
    months: MONTHS,
    weekdays: WEEKDAYS,
    orders: { '/': 'dmy', '-': 'dmy', '.': 'dmy' },
    named: ['day-month'],
    dayMark: 'er|ᵉʳ',
    between: ' ',
  },
  times: {
    marks: [':', 'h'],
    halves: {},
    words: {},
    zones: {
      UTC: 'U T C', GMT: 'G M T', TU: 'temps universel', CET: 'heure d’Europe centrale', CEST: 'heure d’été d’Europe centrale', HEC: 'heure d’Europe centrale',
      EST: 'heure de l’Est', EDT: 'heure d’été de l’Est', PST: 'heure du Pacifique', PDT: 'heure d’été du Pacifique', JST: 'heure du Japon',
    },
  },
  telephone: {
    patterns: [
      /0[1-9](?:[ .-]?\d{2}){4}(?!\d|[.-]\d)/y,
      /08\d{2}[ .-]\d{3}[ .-]\d{3}(?!\d)/y,
      /0\d{2} \d{3} \d{2} \d{2}(?!\d)/y, // Switzerland
      /0\d{1,3}[ /]\d{2,3}[ .]\d{2}[ .]\d{2}(?![\d.]\d|\d)/y, // Belgium
      /00[1-9]\d{1,2}(?:[ .-]\d)?(?:[ .-]\d{2}){4}(?!\d|[.-]\d)/y,
      /0 ?8\d{2}(?:[ .-]?\d{2}){3}(?!\d)/y,
      /\(?[2-9]\d{2}\)?[- ]\d{3}-\d{4}(?!\d|-\d)/y, // Canada
    ],
    keywords: words('contactez contacter joindre joignez appelez appeler composez composer téléphone tél tel téléphonez joignable fax mobile portable standard rappelez'),
  },
  currencies: CURRENCIES,
  currencySigns: CURRENCY_SIGNS,
  units: UNITS,
  per: PER,
  magnitudes: MAGNITUDES,
  ordinalMark: 'ers|er|ères|ère|res|re|èmes|ème|emes|eme|es|e|ᵉʳ|ʳᵉ|ᵉ|ndes|nds|nde|nd|de|d',
  abbreviations: ABBREVIATIONS,
  beforeNumber: BEFORE_NUMBER,
  spelled: words(`
    RATP TVA PDG UE USA EDF GDF RER CGT PSG OM OL OGC IA ADN ARN CDI RTT SMS GPS API URL HTML PDF USB RIB BCE FMI OMS ONG HLM IUT APL CPAM
    PME TPE ETI DRH RH BD CD DVD TV JO IRM CHU SAV SA SARL SAS SASU EURL FAQ IP ID VIP USB UV GSM RGPD AFP ARS AOC AOP AMF OPA PIB RSA
    AG BFM RTL RMC LCI DGSE DGSI OCDE OCR UMP RN LFI PS PCF EELV IVG PMA GPA QI IPO AC DC WC HD AVC IMC OVH ATM BNP HSBC EPA
    CPU GPU CEO CTO CFO LED LCD UI UX OS IBM IUFM UFR IEP ENS HEC EPFL UNSA CFE DAB PEA LEP CSG IFI ISF SCI AMU ADSL IRL UIT UHT TEOM TIPP IDF
  `),
  read: words('COP SIM PIN CAF ZAC ZEP ZUP NASA FIFA UEFA ONU OTAN INSEE PACS SIDA SAMU SMIC ENA URSSAF MEDEF RAM ROM JPEG GIF CROUS CNED WIFI'),
  romanAfter: {}, // its own recogniser knows which letters are a numeral
  romanBefore: words('siècle siècles'),
  digitsAfter: words('vol rib iban chiffres termine terminant code codes pin référence réf siret siren cvv otp isbn ean imei matricule confirmation'),
  linking: words('est par numéro no nº confirmation secret pin postal vérification'),
  letterPlural: '',
  decadeMark: '',
  yearAfter: words('en depuis avant après vers année an janvier février mars avril mai juin juillet août septembre octobre novembre décembre printemps été automne hiver rentrée saison millésime'),
  scoreWords: words(`gagné gagne gagnent gagner remporté bat battu battent perdu perd score victoire défaite match but buts mené mène menait mènent nul imposé imposée imposés impose imposent incliné inclinés incline finale
    contre face dominé domine qualifié battus vainqueur vaincu écrase écrasé`),
}; // prettier-ignore
