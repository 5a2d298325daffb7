// German grammar around a number: which case stands here, which gender the noun has, how "ein" and ordinals end.
import type { Around } from '../reading.js';

export type Case = 'nominative' | 'accusative' | 'dative' | 'genitive';
export type Gender = 'm' | 'f' | 'n';

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

const DATIVE = words(
  `mit nach bei von zu aus seit ab vor in an auf am im vom zum zur beim unter über binnen innerhalb außer laut neben zwischen dem einem`,
);
const ACCUSATIVE = words(`
  für um ohne gegen bis durch pro je den einen kostet kosten kostete gekostet zahlen zahle zahlt bezahlen habe hat haben hatte hatten
  wiegt wog misst dauert dauerte brauche braucht brauchen benötigen benötigt gibt gab bekommen bekommt bekam bekamen erhielt erzielte erzielt macht machte schoss trank aß erhalten erhält kaufen kauft
  spart sparen verdient läuft lief fährt beträgt etwa circa rund nur noch sie genau mindestens höchstens
`);
const GENITIVE = words(`des eines wegen während trotz statt anstatt`);
/** Behind these an amount says how far, how long, how heavy: one kilometre wide takes the accusative. */
const MEASURED = words(
  `lang breit hoch tief weit entfernt alt schwer groß dick später früher weiter länger teurer billiger mehr weniger`,
);

const PLURAL_ARTICLE = words('die der den aller alle diese dieser beiden');

const NOUNS: Readonly<Record<Gender, ReadonlySet<string>>> = {
  m: words(`
    Tag Monat Apfel Termin Artikel Anruf Platz Gast Mann Schüler Kunde Mitarbeiter Punkt Liter Meter Kilometer Euro Dollar Cent Franken Tisch
    Stuhl Raum Film Kurs Fehler Schritt Teil Brief Eintrag Treffer Versuch Besuch Patient Teilnehmer Nutzer Hund Baum Weg Abend Morgen
    Parkplatz Schlüssel Löffel Teelöffel Esslöffel Becher Zug Bus Fall Tote Toter Verletzter Prozentpunkt Weltkrieg Stock Rang Geburtstag
    Oktober Januar Februar März April Mai Juni Juli August September November Dezember Jänner Montag Dienstag Mittwoch Donnerstag Freitag
    Samstag Sonntag Advent Bezirk Senat Akt Satz Spieltag Gang Lauf Vertrag Satz Absatz Abschnitt Staat Preis
  `),
  f: words(`
    Woche Stunde Minute Sekunde Person Frau Nacht Stadt Flasche Tasse Tonne Million Milliarde Billion Frage Karte Datei Seite Mail Nummer
    Zeile Sache Hand Uhr Klasse Etage Liga Bundesliga Auflage Hälfte Runde Stelle Reihe Spalte Aufgabe Kugel Dose Packung Portion Pizza
    Tablette Kopie Mark Note SMS Katze Blume Reise Möglichkeit Welle Folge Staffel Strophe Halbzeit Phase Stufe Woche Generation Ausgabe
    Wahl Kraft Adresse App
  `),
  n: words(`
    Jahr Kind Haus Zimmer Auto Stück Paket Mal Buch Ticket Bild Ergebnis Produkt Element Foto Video Ei Glas Blatt Konto Dokument Gramm
    Kilo Kilogramm Pfund Prozent Grad Byte Megabyte Gigabyte Watt Volt Jahrhundert Jahrtausend Quartal Kapitel Semester Tor Spiel Land
    Mitglied Gerät Angebot Fenster Bett Bier Brot Wort Zeichen Viertel Drittel Obergeschoss Stockwerk Lebensjahr Halbjahr Obergeschoß
    Gleis Projekt Team Wunder Update Problem Tier Treffen
  `),
};

const FEMININE =
  /(?:ung|heit|keit|schaft|ion|tät|in|ei|ik|ur|enz|anz|age|ette|ade|ne|te|de|ge|le|re|se|ze|he|be|pe|fe|ie|ke|me)$/;
const NEUTER = /(?:chen|lein|ment|um|nis|tum)$/;
const MASCULINE = /(?:er|ling|or|ismus|ant|ent|ist|eur|tag|mann|platz|raum|anruf|termin)$/;

/** Of a noun in the singular; undefined where nothing tells. A compound has the gender of its last word. */
export function genderOf(noun: string): Gender | undefined {
  const capital = noun.slice(0, 1).toUpperCase() + noun.slice(1);
  for (const gender of ['m', 'f', 'n'] as const) if (NOUNS[gender].has(capital)) return gender;
  for (const gender of ['m', 'f', 'n'] as const) {
    for (const known of NOUNS[gender]) {
      if (known.length > 3 && noun.length > known.length && noun.endsWith(known.toLowerCase())) return gender;
    }
  }
  if (NEUTER.test(noun)) return 'n';
  if (MASCULINE.test(noun)) return 'm';
  return FEMININE.test(noun) ? 'f' : undefined;
}

/** The case that the words around an amount ask for. */
export function caseOf(around: Around): Case {
  const before = around.previousWord;
  if (GENITIVE.has(before)) return 'genitive';
  if (DATIVE.has(before)) return 'dative';
  return ACCUSATIVE.has(before) || MEASURED.has(around.nextWord) ? 'accusative' : 'nominative';
}

const EIN: Readonly<Record<Gender, Readonly<Record<Case, string>>>> = {
  m: { nominative: 'ein', accusative: 'einen', dative: 'einem', genitive: 'eines' },
  f: { nominative: 'eine', accusative: 'eine', dative: 'einer', genitive: 'einer' },
  n: { nominative: 'ein', accusative: 'ein', dative: 'einem', genitive: 'eines' },
};

export function one(gender: Gender, grammatical: Case): string {
  return EIN[gender][grammatical];
}

/** The 1 before a noun of the text: its adjective's ending tells, else its gender; undefined where no noun follows. */
export function oneBeforeNoun(around: Around): string | undefined {
  const next = around.nextWord;
  const grammatical = caseOf(around);
  if (/^\p{Lu}\p{Ll}/u.test(next)) {
    const gender = genderOf(next);
    return gender === undefined ? undefined : one(gender, grammatical);
  }
  const noun = around.secondNextWord;
  if (!/^\p{Ll}{2,}(?:e|er|es|en|em)$/u.test(next) || !/^\p{Lu}/u.test(noun)) return undefined;
  if (next.endsWith('e')) return 'eine';
  if (next.endsWith('er')) return genderOf(noun) === 'f' ? 'einer' : 'ein';
  if (next.endsWith('es')) return 'ein';
  const gender = genderOf(noun);
  if (gender === undefined) return undefined;
  return grammatical === 'dative' ? one(gender, 'dative') : one(gender, 'accusative');
}

const WEAK_N = words(`
  am im vom zum zur beim dem des den einem eines einer dieses diesem diesen jedem jeden ihrem seinem meinem unserem ihren seinen meinen unseren
  deinem deinen eurem ihres seines meines unseres letzten ersten allen beiden welchem
`);
const WEAK_E = words(`die das diese jede jeder jedes welche welcher`);
const DER = words('der dieser');
const MIXED = words('ein kein mein sein ihr unser dein euer');
const MIXED_E = words('eine keine meine seine ihre unsere deine eure');
const STRONG_DATIVE = words('ab seit mit nach von zu bei aus in');
const STRONG_ACCUSATIVE = words('bis für um gegen ohne');

/** The ending of an ordinal, from the word before it and the gender of what follows. */
export function ordinalEnding(before: string, gender: Gender | undefined): string {
  if (WEAK_N.has(before)) return 'en';
  if (WEAK_E.has(before) || MIXED_E.has(before)) return 'e';
  if (DER.has(before)) return gender === 'f' ? 'en' : 'e';
  if (MIXED.has(before)) return gender === 'n' ? 'es' : 'er';
  if (STRONG_ACCUSATIVE.has(before)) return gender === 'f' ? 'e' : gender === 'n' ? 'es' : 'en';
  if (STRONG_DATIVE.has(before)) return gender === 'f' ? 'er' : 'em';
  return gender === 'f' ? 'e' : gender === 'n' ? 'es' : 'er';
}

/** Whether a number with a full stop at the end of a sentence is an ordinal. */
export function asksForOrdinal(before: string): boolean {
  return [WEAK_N, WEAK_E, DER, MIXED, MIXED_E, PLURAL_ARTICLE].some((list) => list.has(before));
}
