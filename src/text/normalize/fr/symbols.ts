// French names of signs.
import type { SymbolNames } from '../language.js';

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
