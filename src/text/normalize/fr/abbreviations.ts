// French short forms and the words that are said for them.
import type { Saying } from '../language.js';
import type { Around } from '../reading.js';

/** Only before a name: M. Dupont, but not "M. le maire" without its capital, nor the letter. */
function beforeName(said: string): Saying {
  return (around) => (/^\p{Lu}/u.test(around.nextWord) ? said : undefined);
}

const INITIALS = /^ (?:\p{Lu}\.-\p{Lu}\. ?\p{Lu}\p{L}|\p{Lu}\.? (?:et )?\p{Ll})/u; // M. J.-P. Dupont

/** Behind a century: XIXe s. */
const century: Saying = (around) =>
  /^[ivxlc]+(?:e|er|es|ème)$/.test(around.previousWord)
    ? 'siècle'
    : /\d et $/.test(around.text.slice(Math.max(0, around.start - 5), around.start))
      ? 'suivants'
      : undefined;

/** Before a family name they are initials. */
const christ: Saying = (around) => (/^\p{Lu}\p{Ll}/u.test(around.nextWord) ? undefined : 'Jésus-Christ');

/** Chap. IV */
function beforeRoman(said: string): Saying {
  return (around) => (/^[IVXLC]+$/.test(around.nextWord) ? said : undefined);
}

/** Esc. B, esc. 2 */
const beforeCode = (said: string): Saying => ({ text, end }) => (/^ ?(?:\d|[A-Z](?!\p{L}))/u.test(text.slice(end, end + 4)) ? said : undefined); // prettier-ignore

/** Sam. 9h-14h, fermé dim. */
const weekday = (name: string): Saying => ({ text, start, end }) => (/^ \d/.test(text.slice(end, end + 2)) || /(?:fermée?s?|ouverte?s?|et|ou|sauf)(?: le)? $/i.test(text.slice(Math.max(0, start - 12), start)) ? name : undefined); // prettier-ignore

/** Th. 6 */
function beforeDigit(said: string): Saying {
  return ({ text, end }) => (/^ ?\d/.test(text.slice(end, end + 2)) ? said : undefined);
}

/** M. le maire, M. et Mme Petit, M. Dupont. */
const monsieur: Saying = (around: Around) =>
  !/\p{Lu}\. ?$/u.test(around.text.slice(Math.max(0, around.start - 3), around.start)) &&
  (/^(?:\p{Lu}\p{L}|le$|la$|l['’]|les$|et$|ou$)/u.test(around.nextWord) ||
    INITIALS.test(around.text.slice(around.end, around.end + 20)) ||
    (/^cher$|^bonjour$|^bonsoir$|^merci$/.test(around.previousWord) && around.text[around.end] === ','))
    ? 'Monsieur'
    : undefined;

/** Before a colon or behind a bracket; not the end of "mon ex." */
function example(said: string): Saying {
  return ({ text, start, end }) =>
    /^ ?:/.test(text.slice(end, end + 2)) || text[start - 1] === '(' ? said : undefined;
}

/** St Denis, St-Denis. */
function saint(said: string): Saying {
  return ({ text, end }) => (/^[ -]\p{Lu}/u.test(text.slice(end, end + 2)) ? said : undefined);
}

/** À la 45e min., but le min. requis. */
const minuteOrLeast: Saying = ({ text, start }) =>
  /\d(?:e|er|re|ème)? $/.test(text.slice(Math.max(0, start - 5), start)) ? 'minute' : 'minimum';

const BEHIND_PRICE = /(?:€|euros?)(?:\/mois)? $/;

/** 650 € cc */
function behindPrice(said: string): Saying {
  return ({ text, start }) =>
    BEHIND_PRICE.test(text.slice(Math.max(0, start - 11), start)) ? said : undefined;
}

/** Appartement 3 p. */
const rooms: Saying = ({ text, start }) =>
  /(?:appart\p{L}*\.?|maison|duplex|loft) \d{1,2} $/iu.test(text.slice(Math.max(0, start - 18), start))
    ? 'pièces'
    : undefined;

/** Exp. 12/26 */
const beforeExpiry: Saying = ({ text, end }) =>
  /^ ?:? ?\d/.test(text.slice(end, end + 4)) ? 'expiration' : undefined;

/** Av. is an avenue before a name and "avant" before a date or birth. */
const avenue: Saying = (around) =>
  /^(?:\p{Lu}|d[eu]s?$|d['’]|la$|l['’])/u.test(around.nextWord) ? 'avenue' : 'avant';

/** Pl. is a square behind a number of a house. */
function ofStreet(said: string): Saying {
  return (around) => (/^(?:\p{Lu}|d[eu]s?$|d['’]|la$|l['’]|Saint)/u.test(around.nextWord) ? said : undefined);
}

/** Art. L. 121-1: the letter alone. */
const ofCode: Saying = ({ text, start, end }) =>
  /^ ?\d/.test(text.slice(end, end + 2)) ? text[start] : undefined;

export const ABBREVIATIONS: Readonly<Record<string, Saying>> = {
  'M.': monsieur, 'MM.': 'Messieurs', Mme: 'Madame', 'Mme.': 'Madame', Mmes: 'Mesdames', Mlle: 'Mademoiselle', 'Mlle.': 'Mademoiselle', Mlles: 'Mesdemoiselles',
  Mr: beforeName('Monsieur'), 'Mr.': 'Monsieur', Dr: beforeName('docteur'), 'Dr.': beforeName('docteur'), Drs: beforeName('docteurs'), Dre: beforeName('docteure'), Pr: beforeName('professeur'), 'Pr.': beforeName('professeur'),
  'Prof.': beforeName('professeur'), Me: beforeName('maître'), Mgr: beforeName('monseigneur'), St: saint('Saint'), Ste: saint('Sainte'), Sts: saint('Saints'), 'Gal.': 'général', 'Cdt.': 'commandant',
  Vve: beforeName('veuve'), Lt: beforeName('lieutenant'), 'Lt.': beforeName('lieutenant'), Cdt: beforeName('commandant'), Col: beforeName('colonel'), 'Col.': beforeName('colonel'), Cne: beforeName('capitaine'), Cap: beforeName('capitaine'), Gal: beforeName('général'), Gén: beforeName('général'), 'Gén.': beforeName('général'), Adj: beforeName('adjudant'), Sgt: beforeName('sergent'), 's.': century, '°C': 'degrés Celsius', 'N°': 'Numéro', 'n°': 'numéro', 'M°': beforeName('métro'), 't.': beforeRoman('tome'), 'c/o': 'aux bons soins de', 'm²': 'mètres carrés', 'm³': 'mètres cubes', 'km²': 'kilomètres carrés', 'cm²': 'centimètres carrés', 'cm³': 'centimètres cubes', 'km/h': 'kilomètres par heure', kWh: 'kilowattheures', '=>': ',', '->': ',', 'chap.': beforeRoman('chapitre'), 'Chap.': beforeRoman('Chapitre'), 'vol.': beforeRoman('volume'), 'art.': beforeRoman('article'), 'arr.': 'arrondissement', 'th.': beforeDigit('thermostat'), 'S.M.': 'Sa Majesté', 'ex :': 'exemple :', 'Ex :': 'Exemple :', 'PM2.5': 'P M deux virgule cinq', 'PM2,5': 'P M deux virgule cinq', 'p.-ê.': 'peut-être', 'av. J.-C.': 'avant Jésus-Christ', 'apr. J.-C.': 'après Jésus-Christ', 'ap. J.-C.': 'après Jésus-Christ', 'av. JC': 'avant Jésus-Christ', 'ap. JC': 'après Jésus-Christ', 'J.-C.': christ,
  'av.': avenue, 'Av.': 'Avenue', 'bd.': 'boulevard', bd: ofStreet('boulevard'), Bd: 'Boulevard', 'Bd.': 'Boulevard', bld: 'boulevard', 'boul.': 'boulevard', 'bld.': 'boulevard', 'pl.': ofStreet('place'), 'Pl.': 'Place',
  'r.': ofStreet('rue'), 'rte': 'route', 'Rte': 'Route', 'all.': ofStreet('allée'), 'imp.': ofStreet('impasse'), 'fg': ofStreet('faubourg'), 'fbg': 'faubourg', 'bât.': 'bâtiment', 'Bât.': 'Bâtiment', 'appt': 'appartement', 'appt.': 'appartement', 'apt.': 'appartement', 'ét.': 'étage',
  'etc.': 'et cetera', etc: 'et cetera', 'c.-à-d.': 'c’est-à-dire', 'C.-à-d.': 'C’est-à-dire', 'P. ex.': 'Par exemple', 'c-à-d': 'c’est-à-dire', 'càd': 'c’est-à-dire', 'c.à.d.': 'c’est-à-dire', 'p. ex.': 'par exemple', 'p.ex.': 'par exemple', 'par ex.': 'par exemple', 'ex.': example('exemple'), 'Ex.': example('Exemple'), 'cf.': 'confer', 'Cf.': 'Confer',
  'i.e.': 'c’est-à-dire', 'e.g.': 'par exemple', 'env.': 'environ', 'Env.': 'Environ', 'approx.': 'approximativement', 'max.': 'maximum', 'min.': minuteOrLeast, cc: behindPrice('charges comprises'), CC: behindPrice('charges comprises'), hc: behindPrice('hors charges'), HC: behindPrice('hors charges'), FAI: behindPrice('frais d’agence inclus'), 'asc.': 'ascenseur', 'p.': rooms, 'Tél :': 'Téléphone :', 'tél :': 'téléphone :', 'Tel :': 'Téléphone :', 'Tél:': 'Téléphone :', 'Tel:': 'Téléphone :', 'exp.': beforeExpiry, 'moy.': 'moyenne', 'resp.': 'respectivement', 'hab.': 'habitants', 'dép.': 'département', 'dépt': 'département', 'tél.': 'téléphone', 'Tél.': 'Téléphone', 'tel.': 'téléphone', 'Tel.': 'Téléphone',
  'ref.': 'référence', 'réf.': 'référence', 'Réf.': 'Référence', 'adr.': 'adresse', 'qté': 'quantité', 'Qté': 'Quantité', 'nb': 'nombre', 'éd.': 'édition', 'coll.': 'collection', 'trad.': 'traduction', 'suiv.': 'suivant', 'suppl.': 'supplément', 'incl.': 'inclus', 'excl.': 'exclu',
  'L.': ofCode, 'R.': ofCode, 'D.': ofCode, 'esc.': beforeCode('escalier'), 'op.': beforeDigit('opus'), 'Op.': beforeDigit('Opus'), 'sqq.': 'et suivantes', 'T.': beforeRoman('Tome'), 'Ø': beforeDigit('diamètre'),  'sam.': weekday('samedi'), 'dim.': weekday('dimanche'), 'lun.': weekday('lundi'), 'jeu.': weekday('jeudi'), 'ven.': weekday('vendredi'), 'T°': 'température', 't°': 'température', pdt: beforeDigit('pendant'), 'C. civ.': 'Code civil', 'C. pén.': 'Code pénal', 'C. com.': 'Code de commerce', 'C. trav.': 'Code du travail', 'Cass.': 'Cassation', 'civ.': 'civile', 'N.B.': 'nota bene', 'NB': 'nota bene', 'N. B.': 'nota bene', 'P.-S.': 'post-scriptum', 'P.-D.G.': 'P D G', 'P.-D. G.': 'P D G', 'P.S.': 'post-scriptum', 'PS :': 'post-scriptum :', 'vs': 'versus', 'vs.': 'versus', Cie: 'compagnie', 'Cie.': 'compagnie', 'Sté': 'Société', 'Ets': 'Établissements', 'Éts': 'Établissements', 'Assoc.': 'Association', 'gouv.': 'gouvernement',
  svp: 's’il vous plaît', SVP: 's’il vous plaît', 's.v.p.': 's’il vous plaît', 'S.V.P.': 's’il vous plaît', stp: 's’il te plaît', STP: 's’il te plaît', rdv: 'rendez-vous', RDV: 'rendez-vous', 'R.-V.': 'rendez-vous', bcp: 'beaucoup', qqn: 'quelqu’un', qqch: 'quelque chose', qqs: 'quelques', tjs: 'toujours',
  HT: 'hors taxes', 'H.T.': 'hors taxes',
  'h/24': 'heures sur vingt-quatre', 'et/ou': 'et ou', '24/24': 'vingt-quatre sur vingt-quatre', '7/7': 'sept sur sept', '24/7': 'vingt-quatre heures sur vingt-quatre et sept jours sur sept', 'n/a': 'non applicable', 'N/A': 'non applicable',
}; // prettier-ignore

export const BEFORE_NUMBER: Readonly<Record<string, string>> = {
  'n°': 'numéro', 'N°': 'numéro', nº: 'numéro', Nº: 'numéro', 'n°s': 'numéros', 'no': 'numéro', 'No': 'numéro', 'no.': 'numéro', 'num.': 'numéro', '№': 'numéro', '#': 'numéro', 'p.': 'page', 'pp.': 'pages', 'P.': 'page',
  'vol.': 'volume', 'Vol.': 'Volume', 'chap.': 'chapitre', 'Chap.': 'Chapitre', 'ch.': 'chapitre', 'Ch.': 'Chapitre', 't.': 'tome', 'fig.': 'figure', 'Fig.': 'Figure', 'sect.': 'section', 'art.': 'article', 'Art.': 'Article', 'ann.': 'annexe', 'al.': 'alinéa', TA: 'T A', 'tab.': 'tableau',
  km: 'kilomètre', 'éq.': 'équation', '§': 'paragraphe', '§§': 'paragraphes', 'v.': 'vers', 'ext.': 'poste', 'env.': 'environ', '~': 'environ', 'ca.': 'environ', 'bât.': 'bâtiment', 'apt.': 'appartement', 'max.': 'maximum', 'min.': 'minimum', 'tél.': 'téléphone', 'Tél.': 'Téléphone', 'Tél': 'Téléphone', 'tél': 'téléphone', Tel: 'Téléphone',
}; // prettier-ignore
