// Short forms of adjectives end as the words around them ask: die dt. Bank, ein engl. Garten, versch. Farben.
import type { Saying } from '../language.js';
import type { Around } from '../reading.js';
import { ordinalEnding } from './grammar.js';
import { genderOf, isKnown, upper } from './nouns.js';

const STEMS: Readonly<Record<string, string>> = {
  'dt.': 'deutsch', 'engl.': 'englisch', 'frz.': 'französisch', 'franz.': 'französisch', 'ital.': 'italienisch', 'span.': 'spanisch', 'lat.': 'lateinisch', 'griech.': 'griechisch', 'österr.': 'österreichisch',
  'europ.': 'europäisch', 'amerik.': 'amerikanisch', 'russ.': 'russisch', 'kath.': 'katholisch', 'evang.': 'evangelisch', 'techn.': 'technisch', 'wiss.': 'wissenschaftlich', 'ehem.': 'ehemalig', 'sog.': 'sogenannt', 'lfd.': 'laufend',
  'versch.': 'verschieden', 'div.': 'divers', 'allg.': 'allgemein', 'öff.': 'öffentlich', 'gesetzl.': 'gesetzlich', 'spez.': 'speziell', 'jährl.': 'jährlich', 'monatl.': 'monatlich', 'tägl.': 'täglich', 'wöchentl.': 'wöchentlich',
  'schriftl.': 'schriftlich', 'o. g.': 'oben genannt', 'u. g.': 'unten genannt', 's. g.': 'so genannt', 'urspr.': 'ursprünglich', 'kfm.': 'kaufmännisch', 'poln.': 'polnisch', 'türk.': 'türkisch', 'vorl.': 'vorläufig', 'zusätzl.': 'zusätzlich', 'persönl.': 'persönlich',
}; // prettier-ignore

const PLURAL = /(?:en|ern|eln|s|(?:ä|ö|ü)\p{Ll}{1,6}e?r?|nisse|iere|ate|ekte|are|age)$/u;
const DETERMINED =
  /^(?:die|der|den|dem|diese|dieser|diesen|alle|aller|keine|meine|ihre|seine|unsere|beide|beiden)$/;

function adjective(stem: string): Saying {
  return (around) => {
    const said = /^\p{Lu}\p{Ll}/u.test(around.nextWord) ? stem + ending(around) : stem;
    return /^\p{Lu}/u.test(around.text.slice(around.start, around.end)) ? upper(said) : said;
  };
}

function ending(around: Around): string {
  const noun = around.nextWord;
  const before = around.previousWord;
  if (!isKnown(noun) && PLURAL.test(noun)) return DETERMINED.test(before) ? 'en' : 'e';
  const gender = genderOf(noun);
  return gender === undefined && !DETERMINED.test(before) ? 'e' : ordinalEnding(before, gender);
}

export const ADJECTIVES: Readonly<Record<string, Saying>> = Object.fromEntries(
  Object.entries(STEMS).map(([written, stem]) => [written, adjective(stem)]),
);
