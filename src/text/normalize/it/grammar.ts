// Italian grammar around a number: gender of the noun that follows, un/uno/una/un', the words of a range.
import { valueOf, type Numeral } from '../numerals.js';
import type { Around } from '../reading.js';
import type { Gender } from './numbers.js';

export function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

const FEMININE = words(`
  mano foto moto auto radio eco dinamo libido notte voce parte mente fonte chiave classe frase legge luce madre moglie nave neve pace
  pelle rete sede torre valle vite volpe carne croce fine gente nube base fase chance febbre sete fame morte corte arte sorte ragione
  email mail app chat password gang hall star slide newsletter chiocciola specie serie superficie crisi analisi tesi ipotesi sintesi
  oasi paralisi prognosi diagnosi dose estate immagine pagine origine polvere cenere tigre lepre cute canzone
  stagione regione azione stazione opinione unione riunione pensione mansione religione milizia virtù gioventù gru tribù
  capitale cattedrale cambiale filiale vocale morale centrale parete quiete siepe trave nave chiave patente corrente mozione
  card smart tv sim vittime sorella figlia squadra iarda yard risposta domanda richiesta
`);
const FEMININE_ENDINGS = /(?:a|zione|sione|gione|nione|tudine|gine|trice|tà|tù|ice|ie)$/;
const MASCULINE = words(`
  problema programma sistema tema clima dramma diploma poeta pianeta sisma schema dilemma enigma dopoguerra anteguerra panorama aroma stemma fantasma
  telegramma diagramma grafema cinema delta koala papa gorilla boia vaglia papà sofà telegrafista pilota giudice codice indice
  vertice vortice calice pollice carnefice artefice orefice pontefice apice giga mega tera plasma carisma karma coma
  comma prisma teorema emblema assioma idioma aggettivo margine argine
  podestà baccalà yoga sherpa panda puma messia patriarca monarca duca profeta atleta pigiama
`);
const EITHER_ADJECTIVES = words(
  'grande semplice breve nuovo nuova piccola piccolo seconda sola solo unica unico bella bello altra altro vecchia vecchio grossa grosso buona buon gran',
);

export function isFeminine(word: string): boolean {
  if (FEMININE.has(word)) return true;
  return word.length > 2 && FEMININE_ENDINGS.test(word) && !MASCULINE.has(word);
}

const NO_NOUN = words(`
  e ed o oppure ma di del dello della dei degli delle da dal dallo dalla dai dagli dalle a al allo alla ai agli alle in nel nello nella nei negli
  nelle con su sul sullo sulla sui sugli sulle per tra fra il lo la i gli le un uno una che chi come se non è sono era ha hanno più meno
  poi anche perché quando dove qui qua là ogni circa contro ci si mi ti vi ne resta rimane più per cento oltre entro oggi domani ieri fino verso nord sud
  est ovest all dall sull nell
`);
const NUMBERED = words(`
  numero numeri pagina pagine capitolo capitoli articolo articoli comma commi linea linee fase binario binari stanza camera aula uscita porta
  gate tavolo canale volume tomo parte versione livello punto punti figura tabella allegato opzione tasto passo passaggio piano scala interno
  anno anni autobus bus tram volo treno lotto gruppo girone classe formula under euro esercizio lezione puntata episodio stagione
  modulo sezione art pag pagg pp quota settore edificio padiglione box tipo premere preme prema premi premete digitare digiti digita digitate
`);

/** Nouns that take a fraction in recipes and the like: 2/3 tazza. */
export const MEASURES_OF = words(
  'tazza bicchiere cucchiaio cucchiaino bottiglia bustina pastiglia compressa cipolla mela limone confezione panetto litro chilo etto pagina giornata dose stecca porzione lattina spicchio',
);

/** Behind "pagina" or "numero" a number names one thing and counts nothing. */
export function isNumbered(around: Around): boolean {
  return NUMBERED.has(around.previousShort);
}

/** The gender of what is counted; undefined where nothing is. */
export function genderAhead(around: Around): Gender | undefined {
  const next = around.nextWord.toLowerCase();
  if (next === '' || NO_NOUN.has(next) || /^\p{L}['’]/u.test(next)) return undefined;
  const noun = around.secondNextWord.toLowerCase();
  const ambiguous = EITHER_ADJECTIVES.has(next) && next.endsWith('e') && noun !== '';
  return isFeminine(ambiguous ? noun : next) ? 'f' : 'm';
}

const HEAVY = /^(?:s[^aeiouàèéìòù]|z|gn|ps|pn|x|y|i[aeou])/iu; // lo zaino, uno studente
const VOWEL = /^h?[aeiouàèéìòù]/iu;

/** Un libro, uno studente, una casa, un'ora: with the space behind it where there is one. */
export function one(noun: string, gender: Gender): string {
  if (gender === 'f') return VOWEL.test(noun) && !/^i[aeou]/iu.test(noun) ? "un'" : 'una ';
  return HEAVY.test(noun) ? 'uno ' : 'un ';
}

/** Only one is singular: 0 chilometri, 1,5 litri. */
export function isPlural(numeral: Numeral): boolean {
  return Math.abs(valueOf(numeral)) !== 1 || numeral.decimals !== '';
}

/** Dall'otto, al dodici: the preposition before a number. */
export function before(preposition: 'al' | 'dal' | 'alle' | 'dalle', word: string): string {
  const vowel = preposition.endsWith('e')
    ? word === 'una' || word.startsWith('una ')
    : /^(?:uno|otto|ott|und)/.test(word);
  return vowel ? `${preposition.startsWith('d') ? "dall'" : "all'"}${word}` : `${preposition} ${word}`;
}

const AFTER_FROM = words('da dai dal dalle dagli dalla');
const TO: Readonly<Record<string, string>> = {
  dai: 'ai',
  dal: 'al',
  dalle: 'alle',
  dagli: 'agli',
  dalla: 'alla',
};
const PREPOSITIONS =
  words(`in entro dopo per ogni circa con di su a del della il lo la al sul almeno oltre quasi altri altre
  ultimi ultime prossimi prossime primi prime soli sole`);
const ARTICLES = words('i gli le dei degli delle ai agli alle nei negli nelle sui sugli sulle');

/** Da cinque a dieci, tra cinque e dieci, due o tre; `neighbours` are numbers that follow each other. */
export function betweenNumbers(from: string, to: string, around: Around, neighbours: boolean): string {
  const word = around.previousWord;
  if (word === 'tra' || word === 'fra') return `${from} e ${to}`;
  if (AFTER_FROM.has(word)) return `${from} ${TO[word] ?? 'a'} ${to}`;
  if (isNumbered(around)) return neighbours ? `${from} e ${to}` : `da ${from} a ${to}`;
  if (neighbours) return `${from} o ${to}`;
  if (word === 'a') return `${from}-${to}`; // a 2-8 gradi
  if (PREPOSITIONS.has(word)) return `${from} o ${to}`;
  return ARTICLES.has(word) ? `${from}-${to}` : `da ${from} a ${to}`;
}
