// The gender of German nouns: those that stand with numbers by name, all others by their ending.

export type Gender = 'm' | 'f' | 'n';

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

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

/** Whether it is one of those that stand here in the singular, or ends in one. */
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
