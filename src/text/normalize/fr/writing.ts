// How French is written, as data.
import type { Writing } from '../language.js';
import { ABBREVIATIONS, BEFORE_NUMBER } from './abbreviations.js';
import { CURRENCIES, CURRENCY_SIGNS } from './currencies.js';
import { MAGNITUDES, PER, UNITS } from './units.js';

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
