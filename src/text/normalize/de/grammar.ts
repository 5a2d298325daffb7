// Decides the German grammar around a number: the case, the gender of the noun, the endings of "ein" and of
// ordinals. Nouns that stand with numbers have their gender in a list. The gender of all others follows from
// their ending.
import { type Around, wordBefore } from '../reading.js';

type Gender = 'm' | 'f' | 'n';

const NOUNS: Readonly<Record<Gender, ReadonlySet<string>>> = {
  m: words(`
    Tag Monat Apfel Termin Artikel Anruf Platz Gast Mann Schüler Kunde Mitarbeiter Punkt Liter Meter Kilometer Euro Dollar Cent Franken Tisch
    Stuhl Raum Film Kurs Fehler Schritt Teil Brief Eintrag Treffer Versuch Besuch Patient Teilnehmer Nutzer Hund Baum Weg Abend Morgen
    Parkplatz Schlüssel Löffel Teelöffel Esslöffel Becher Zug Bus Fall Tote Toter Verletzter Prozentpunkt Weltkrieg Stock Rang Geburtstag
    Oktober Januar Februar März April Mai Juni Juli August September November Dezember Jänner Feber Montag Dienstag Mittwoch Donnerstag Freitag
    Samstag Sonntag Advent Bezirk Senat Akt Satz Spieltag Gang Lauf Vertrag Absatz Abschnitt Staat Preis Kaffee Tee Saft Salat Kuchen Espresso
    Burger Döner Wein Sekt Whisky Schnaps Cocktail Teller Topf Sack Kasten Karton Koffer Rucksack Beutel Eimer Ordner Block Stift Ball Korb
    Auftrag Beitrag Betrag Vortrag Antrag Nachtrag Kauf Verkauf Umzug Auszug Flug Abflug Rückflug Ausflug Urlaub Zeuge Junge Erwachsener Erwachsene Fahrer
    Arzt Zahnarzt Freund Nachbar Bruder Sohn Vater Onkel Fisch Vogel Wurf Schuss Schlag Stern Strich Knopf Ring Schuh Rock Mantel Pullover
    Wagen Server Rechner Laptop Drucker Monitor Port Link Chat Account Code Prozess Test Job Genuss Verlust Palast Kontakt Aufwand Pinsel Leiter Kommentar Song Titel Band Himmel Geburtstag
    Wahlgang Durchgang Jahrgang Lehrgang Eingang Ausgang Ort Hof Turm Strand Berg Fluss See Hinweis Nachweis Ausweis Kreis Grund Stand Stich Tropfen
    Garten Park Name Experte Kollege Neffe Löwe Hase Affe Bote Erbe Franzose Russe Pole Chinese Gedanke Buchstabe Käse Wald Strom Start Ertrag Erfolg Mord Tod Sport Markt Kampf Sturm Meister Präsident
    Zentner Zoll Kopf Finger Zahn Arm Fuß Herr Mensch Bürger Einwohner Zeitraum Feiertag Werktag Arbeitstag Sieg Elfmeter Eckball Ton Takt Chor Stau
    Rabatt Gutschein Coupon Vorschlag Wunsch Traum Plan Entwurf Bericht Abend Vormittag Nachmittag Mittag Januar Zettel Kredit Bescheid Entscheid Vorsitzende
  `),
  f: words(`
    Woche Stunde Minute Sekunde Person Frau Nacht Stadt Flasche Tasse Tonne Million Milliarde Billion Frage Karte Datei Seite Mail Nummer
    Zeile Sache Hand Uhr Klasse Etage Liga Bundesliga Auflage Hälfte Runde Stelle Reihe Spalte Aufgabe Kugel Dose Packung Portion Pizza
    Tablette Kopie Mark Note SMS Katze Blume Reise Möglichkeit Welle Folge Staffel Strophe Halbzeit Phase Stufe Generation Ausgabe
    Wahl Kraft Adresse App Nachricht Mailbox Unterschrift Vorschrift Antwort Ankunft Auskunft Unterkunft Abfahrt Fahrt Rückfahrt Schicht Sicht Pflicht
    Tochter Mutter Schwester Oma Tante Kiste Tüte Schachtel Tafel Schüssel Gabel Mauer Feier Steuer Nadel Legende Spende Wende Post Regel Formel Insel Wurzel Ampel
    Rate Zahl Anzahl Ziffer Silbe Saison Etappe Mahnung Impfung Dosis Party Show Serie Doku CD DVD LP Single Taste Bahn Autobahn U-Bahn S-Bahn Linie
    Ordnung Kammer Lesung Bank Wand Tür Burg Geburt Partei Firma Kamera Mango Banane Kiwi Paprika Pause Kur Spur Prise Brezel Semmel Wurst Bratwurst Gans
    Nuss Maus Laus Axt Kunst Lust Last Luft Woche Arbeit Zeit Mahlzeit Amtszeit Dekade Ecke Decke Zelle Quelle Höhe Länge Breite Tiefe Stärke Größe
    Bestellung Rechnung Sendung Lieferung Buchung Chance Spritze Pille Kapsel Brücke Haltestelle Station Treppe Bühne Ebene Mannschaft Kategorie Garage
  `),
  n: words(`
    Konzert Klavierkonzert Violinkonzert Streichquartett Album Jahr Heft Kind Haus Zimmer Auto Stück Paket Mal Buch Ticket Bild Ergebnis Produkt Element Foto Video Ei Glas Blatt Konto Dokument Gramm
    Kilo Kilogramm Pfund Prozent Grad Byte Megabyte Gigabyte Watt Volt Jahrhundert Jahrtausend Quartal Kapitel Semester Tor Spiel Land
    Mitglied Gerät Angebot Fenster Bett Bier Brot Wort Zeichen Viertel Drittel Obergeschoss Stockwerk Lebensjahr Halbjahr Obergeschoß Untergeschoss
    Gleis Projekt Team Wunder Update Problem Tier Treffen Brötchen Wasser Getränk Gericht Gesicht Gewicht Licht Rezept Konzept Geschenk Hemd
    Kleid Kissen Handtuch Messer Feuer Fieber Opfer Muster Fach Dach Loch Netz Gesetz Werk Kraftwerk Stockwerk Werkzeug Flugzeug Fahrzeug Spielzeug Rad Fahrrad Motorrad
    Urteil Kabel Gewand Boot Schiff Pferd Huhn Schwein Schaf Tablet Handy Telefon Smartphone Display Passwort Postfach Formular Zertifikat Attest Medikament Hotel Restaurant
    Büro Studio Museum Kino Theater Kilowatt Megawatt Semikolon Komma Abo Abonnement Album Lied Stadion Rennen Turnier Match Finale Halbfinale Viertelfinale
    Achtelfinale Bundesland Dorf Gebiet Recht Amt Gebäude Tal Ufer Gespräch Interview Meeting Seminar Referat Zeugnis Schuljahr Geschäftsjahr Vierteljahr
    OG UG EG DG Jh Jhd Jhdt Geschoss Geschoß Mädchen Baby Ohr Auge Bein Knie Herz Ende Wochenende Vergehen Leben Essen Mittagessen Eis Steak Schnitzel Menü Exemplar
  `),
};

const BY_NAME = new Map<string, Gender>(
  (['m', 'f', 'n'] as const).flatMap((gender) =>
    Array.from(NOUNS[gender], (name): [string, Gender] => [name.toLowerCase(), gender]),
  ),
);

const FEMININE =
  /(?:ung|heit|keit|schaft|ion|tät|in|ei|ik|ur|enz|anz|age|ette|ade|ne|te|de|ge|le|re|se|ze|he|be|pe|fe|ie|ke|me)$/;
const NEUTER = /(?:chen|lein|ment|um|nis|tum)$/;
const MASCULINE = /(?:er|ling|or|ismus|ant|ent|ist|eur|tag|mann|platz|raum|anruf|termin)$/;
const SHORTEST_LAST = 4; // letters of the last word of a compound

/** Gender of a singular noun; undefined if unknown. A compound has the gender of its last word. */
export function genderOf(noun: string): Gender | undefined {
  const name = noun.toLowerCase();
  const whole = BY_NAME.get(name);
  if (whole !== undefined) return whole;
  for (let from = 1; from <= name.length - SHORTEST_LAST; from++) {
    const last = BY_NAME.get(name.slice(from));
    if (last !== undefined) return last;
  }
  if (NEUTER.test(noun)) return 'n';
  if (MASCULINE.test(noun)) return 'm';
  return FEMININE.test(noun) ? 'f' : undefined;
}

/** True if it is one of those that stand here in the singular, or ends in one. */
export function isKnown(noun: string): boolean {
  const name = noun.toLowerCase();
  return BY_NAME.has(name) || NEUTER.test(noun) || /(?:ung|heit|keit|schaft|tät|ion|in)$/.test(noun);
}

/** Behind "die": whether the noun is one of many. */
export function isPlural(noun: string): boolean {
  const known = BY_NAME.get(noun.toLowerCase());
  if (known !== undefined) return known !== 'f';
  if (noun.endsWith('en') && genderOf(noun.slice(0, -1)) === 'f') return true;
  const gender = genderOf(noun);
  return gender === 'm' || gender === 'n';
}

export function upper(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

export type Case = 'nominative' | 'accusative' | 'dative' | 'genitive';

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

const DATIVE = words(
  `mit nach bei von zu aus seit ab vor in an auf am im vom zum zur beim unter binnen innerhalb außer laut neben zwischen dem einem`,
);
const ACCUSATIVE = words(`
  für um ohne gegen bis durch pro je den einen kostet kosten kostete gekostet zahlen zahle zahlt bezahlen habe hat haben hatte hatten
  wiegt wog misst dauert dauerte brauche braucht brauchen benötigen benötigt gibt gab bekommen bekommt bekam bekamen erhielt erzielte erzielt macht machte schoss trank aß erhalten erhält kaufen kauft
  spart sparen verdient läuft lief fährt beträgt sie über ich du er es wir man mir dir ihm uns euch ihnen
  hätte hätten möchte möchten will wollen nehme nehmen nimmt suche suchen sucht finde finden findet bestelle bestellen bestellt buche buchen
  sehe sehen lese lesen schreibe schreiben esse essen trinke trinken gern gerne bitte wünsche wünschen reserviere reservieren verliert verlor
  enthält enthalten umfasst besitzt verkauft verkaufen hinzufügen erzielten schossen benötige gewann gewinnt
`);
const GENITIVE = words(`des eines wegen während trotz statt anstatt`);
/** Behind these an amount says how far, how long, how heavy: one kilometre wide takes the accusative. */
const MEASURED = words(
  `lang breit hoch tief weit entfernt alt schwer groß dick später früher weiter länger teurer billiger mehr weniger`,
);

const PLURAL_ARTICLE = words('die der den aller alle diese dieser beiden');

/** An earlier amount that the same word governs: "Sie haben 1 Nachricht und", "von 5 bis". */
const EARLIER =
  /(?<![\p{L}\d.,])(?:\d[\d.,]*(?: ?\p{Lu}\p{L}+| \p{Ll}+ \p{Lu}\p{L}+)?|eine?[nmrs]? (?:\p{Ll}+ )?\p{Lu}\p{L}+)(?:,| und| oder| bis) $/u;
const LONGEST_EARLIER = 64; // units in which it is looked for
const MOST_EARLIER = 4;
/** Adverbs that may stand between an amount and the word that governs it. */
const ADVERBS =
  /(?:^|(?<=\s))(?:(?:nur|noch|etwa|circa|ca\.|rund|genau|mindestens|mind\.|höchstens|max\.|maximal|knapp|fast|gut|bereits|schon|lediglich|bis zu|je|jeweils|auch) ){1,3}$/iu;
const LONGEST_ADVERBS = 28; // units
const NOT_GOVERNING = words(`
  ist sind bleibt bleiben fehlt fehlen kommt kommen war waren wird wurde folgt gilt reicht steht passt
  fehlte fehlten reichte lebte wohnte startete folgte meldete bitte heute weite zweite letzte erste
`);
const PAST = /\p{Ll}{2}ten?$/u; // er kaufte
/** With these one goes a kilometre, but a bus goes by itself. */
const MOTION = words('fährt läuft lief fuhr geht kommt');

interface Governor {
  /** In small letters; '' if nothing governs. */
  readonly word: string;
  /** An adverb stands between. */
  readonly isFar: boolean;
}

/** The word that governs an amount. */
function governorOf({ text, start }: Around): Governor {
  let near = text.slice(Math.max(0, start - LONGEST_EARLIER), start);
  for (let count = 0; count < MOST_EARLIER && /(?:,|und|oder|bis) $/.test(near); count++) {
    const earlier = EARLIER.exec(near);
    if (earlier === null) break;
    near = near.slice(0, earlier.index);
  }
  const far = near.endsWith(' ') ? ADVERBS.exec(near.slice(-LONGEST_ADVERBS)) : null;
  if (far !== null) near = near.slice(0, near.length - far[0].length);
  return { word: near.endsWith(' ') ? wordBefore(near, near.length).toLowerCase() : '', isFar: far !== null };
}

/** The case that the words around an amount ask for; `behind` is what follows the amount and its noun. */
export function caseOf(around: Around, behind = around.nextWord): Case {
  const { word, isFar } = governorOf(around);
  if (GENITIVE.has(word)) return 'genitive';
  if (DATIVE.has(word)) return 'dative';
  if (ACCUSATIVE.has(word) || MEASURED.has(behind)) return 'accusative';
  if (PAST.test(word) && !NOT_GOVERNING.has(word)) return 'accusative';
  return isFar && word !== '' && !NOT_GOVERNING.has(word) ? 'accusative' : 'nominative';
}

const DATIVE_OF_MANY = words('nach in mit von aus seit bei vor ab zwischen binnen außer');
const DIMENSION = /^(?:Höhe|Länge|Breite|Tiefe|Entfernung|Abstand|Durchmesser|Dicke|Umkreis|Reichweite)$/;

/** In 5 Kilometern, vor 3 Monaten; but "mit 5 Liter Wasser". */
export function takesDativeOfMany(around: Around): boolean {
  const next = around.nextWord;
  return DATIVE_OF_MANY.has(governorOf(around).word) && (!/^\p{Lu}/u.test(next) || DIMENSION.test(next));
}

const EIN: Readonly<Record<Gender, Readonly<Record<Case, string>>>> = {
  m: { nominative: 'ein', accusative: 'einen', dative: 'einem', genitive: 'eines' },
  f: { nominative: 'eine', accusative: 'eine', dative: 'einer', genitive: 'einer' },
  n: { nominative: 'ein', accusative: 'ein', dative: 'einem', genitive: 'eines' },
};

export function one(gender: Gender, grammatical: Case): string {
  return EIN[gender][grammatical];
}

/**
 * The 1 before a noun of the text: its adjective's ending tells, else its gender; undefined where no noun
 * follows.
 */
export function oneBeforeNoun(around: Around): string | undefined {
  const next = around.nextWord;
  const counted = /^\p{Lu}\p{Ll}/u.test(next);
  const moves = MOTION.has(around.previousWord);
  const grammatical = moves ? 'nominative' : caseOf(around, counted ? around.secondNextWord : '');
  if (counted) {
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
  deinem deinen eurem ihres seines meines unseres letzten ersten allen beiden welchem ihrer seiner meiner unserer deiner eurer
  keiner keinem keinen jener jenem jenen jenes nächsten einigen mehreren
`);
const WEAK_E = words(`die das diese jede jeder jedes welche welches jene`);
const DER = words('der dieser welcher');
const MIXED = words('ein kein mein sein ihr unser dein euer');
const MIXED_E = words('eine keine meine seine ihre unsere deine eure');
const STRONG_DATIVE = words('ab seit mit nach von zu bei aus in auf unter zwischen');
const STRONG_ACCUSATIVE = words('bis für um gegen ohne per über');

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

/** True if a number with a full stop at the end of a sentence is an ordinal. */
export function asksForOrdinal(before: string): boolean {
  return [WEAK_N, WEAK_E, DER, MIXED, MIXED_E, PLURAL_ARTICLE].some((list) => list.has(before));
}
