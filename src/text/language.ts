// Names the language of a text, and states whether the answer is beyond doubt.
// A doubtful text follows the voice that speaks already. A certain one may be refused if no engine speaks
// its language. A certain answer therefore needs proof: a script that only that language uses; or, among
// Latin letters, several words that are all known in one language; or agreement of two judges, the n-gram
// statistics of eld and the small words of a sentence.
// A short text is proved only if every word is known in that language, one of them (or a phrase) is neither
// English nor a usual name, and no other language meets this as well.
// The identifier may lead clearly although nothing is proved. Its language is then spoken if no other is
// known, and no such text is refused.
import { eld } from 'eld/extrasmall';
import { identifyHan } from './han.js';
import { fold } from './normalize/characters.js';
import { decodeEntities } from './normalize/entities.js';

// These small words tell the European languages apart.
//
// Telling words are those that a sentence can hardly do without (pronouns,
// auxiliaries, negation, question words, courtesies) and that neither English
// nor a name, dish or company borrows. Linking words also appear in names
// ("de la", "der"), so alone they prove nothing.

type LatinLanguage = 'de' | 'fr' | 'pt' | 'es' | 'it';

interface LanguageWords {
  readonly telling: ReadonlySet<string>;
  readonly linking: ReadonlySet<string>;
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

const LANGUAGE_WORDS: Readonly<Record<LatinLanguage, LanguageWords>> = {
  de: {
    telling: words(`
      ich wir ihr ihnen ihm ihre ihren ihrem ihrer mein meine meinen meiner dein deine deinen unser unsere unseren
      sie du dich mich mir dir uns euch sich ist sind bin bist sein seine seinen seit wird werden wurde wurden worden
      habe haben hast hatte hatten kann können konnte konnten muss müssen musste soll sollte sollten möchte möchten
      nicht kein keine keinen keiner nichts nie niemand und oder aber sondern denn weil dass ob wenn als wie wo wer
      warum wann wohin welche welcher welches auch noch schon nur sehr immer heute morgen gestern jetzt hier dort dann
      bitte danke guten gute tag hallo ja nein es er einen einem einer eines dieser diese dieses diesen jeder jede
      gibt geht gehen macht machen kommt kommen sagt sagen weiß viel viele mehr wieder durch über unter nach vor
      beim zum zur vom hinter zwischen gegen ohne um
    `),
    linking: words(`der die das den dem des ein eine und von mit für auf bei aus zu im am an in`),
  },
  fr: {
    telling: words(`
      je tu il elle nous vous ils elles j' c' n' qu' s' m' t' ça cela ceci ce cet cette ces c'est est sont suis êtes
      sommes était étaient être été ai avons avez ont avait avoir fait faire fais font peux peut peuvent pouvez pouvoir
      veux veut voulez voudrais dois doit devez faut va vais allez vont aller ne pas jamais rien personne plus que qui
      quoi quand où comment pourquoi combien quel quelle quels quelles mais donc car parce si alors puis aussi encore
      déjà toujours très trop beaucoup peu bien ici là maintenant aujourd'hui hier demain merci bonjour bonsoir salut
      monsieur madame oui mon ma mes ton ta tes notre nos votre vos leur leurs tout tous toute toutes avec sans dans
      pour par sur sous chez depuis pendant avant après entre autre autres même chaque une
    `),
    linking: words(`le la les un une des du de et à au aux en a l' d' ou dans sur pour avec`),
  },
  es: {
    telling: words(`
      yo tú él ella nosotros ustedes usted ellos ellas mí ti le les lo nos se te es está están estoy estás estamos son
      soy eres somos era eran fue fueron ser estar hay había tengo tiene tienes tienen tenemos tener ha han hemos
      puedo puede pueden puedes poder quiero quiere quieres quisiera debe deben hacer hace hago va voy van vamos qué
      que quién quien cuándo cuando dónde donde cómo como cuál cuánto cuánta por porque pero si sí también ya muy más
      menos mucho mucha muchos muchas todo toda todos todas nada nunca siempre aquí allí ahora hoy ayer mañana gracias
      hola buenos buenas días noches favor mi mis tu tus su sus nuestro nuestra este esta esto estos estas ese esa eso
      una unos unas sin sobre hasta desde entre me gusta gustaría llegó llega señor señora
    `),
    linking: words(`el la los las un una de del y en con para al a o no`),
  },
  pt: {
    telling: words(`
      eu você vocês ele ela eles elas nós lhe isso isto aquilo é são está estão estou estamos era foi foram ser estar
      há tenho tem têm temos ter tinha posso pode podem poder quero quer queria deve devem fazer faz vai vou vão vamos
      não nunca nada sempre que quem quando onde como qual quanto quantos por porque mas se sim também já muito muita
      muitos muitas mais menos tudo todo toda todos todas aqui ali lá agora hoje ontem amanhã obrigado obrigada olá
      bom boa dia noite favor meu minha meus minhas seu sua seus suas nosso nossa este esta esse essa uma umas sem
      sobre até desde entre pelo pela pelos pelas num numa ao aos às gosto gostaria fala falo senhor senhora
    `),
    linking: words(`o a os as um uma de do da dos das e em no na nos nas com para à`),
  },
  it: {
    telling: words(`
      io tu lui lei noi voi loro mi ti si lo gli è sono sei siamo siete era erano stato stata essere ho hai ha
      abbiamo avete hanno aveva avere posso può puoi possono potere voglio vuole vuoi vorrei deve devo devono fare fa
      faccio va vado vanno andare non mai niente nulla sempre che chi quando dove come quale quanto quanti perché ma
      se sì anche già molto molta molti molte più meno tutto tutta tutti tutte qui lì là adesso ora oggi ieri domani
      grazie ciao buongiorno buonasera prego favore mio mia miei mie tuo tua suo sua nostro nostra questo questa
      questi queste quello quella una uno senza sopra fino fra tra c'è dov'è cos'è piace signor signora nel nella nei
      nelle sul sulla dal dalla al alla ai alle del della dei delle degli
    `),
    linking: words(
      `il lo la i gli le un una di da in con su per e ed o a del della l' d' dell' all' un' ci vi`,
    ),
  },
};

/** Words of English sentences; those that another language shares are left out of its proof. */
const ENGLISH_WORDS = words(`
  i you he she it we they me him her us them my your his its our their mine yours this that these those
  is are was were be been being am do does did done have has had having can could will would shall should may might must
  not no yes and or but if then else because although while when where who what which why how than as so
  the a an of to in on at by for from with without about into over under between after before during through up down out
  there here all any both each few more most other some such only own same too very just also now again once
  please thank thanks hello hi ha ho er um let's don't i'm it's that's
  baby one two three four five six seven eight nine ten first second last next new
  die war hat man also art an was see tag mal so gut du or pour son on comment pain chat champ come male sale
  me no sin pan red as do no se a dove fare fine more pasta mia via per vs dame notes note page table plus si
  van hay font dir vie et al non la le les los las el del
`);

// Words of greetings, courtesies and short answers, besides those of `LANGUAGE_WORDS`. A text of a few words
// has no room for the small words of a sentence.

interface ShortTextWords {
  /** Prove the language even as the only word. */
  readonly alone: ReadonlySet<string>;
  /** Prove it where every other word is known as well. */
  readonly telling: ReadonlySet<string>;
  /** Known, but prove nothing: English, names or other languages have them too. */
  readonly common: ReadonlySet<string>;
  /** Prove it together, though their words may not; in small letters, an elided word apart. */
  readonly phrases: readonly string[];
}

const SHORT_TEXT_WORDS: Readonly<Record<LatinLanguage, ShortTextWords>> = {
  de: {
    alone: words(`
      danke dankeschön bitte bitteschön nein entschuldigung verzeihung tschüss tschüß natürlich willkommen
      selbstverständlich wirklich vielleicht verstanden einverstanden genau
    `),
    telling: words(`
      vielen dank schönen schönes frohe frohes herzlich herzlichen herzliche wiedersehen wiederhören geht's gern
      gerne geschehen grüß leid klar besserung wochenende weihnachten geburtstag glückwunsch spaß glück ahnung
      stimmt verstehe liebt brauche kannst willst hilfe später schön schlecht fertig richtig falsch alles
      etwas zusammen zurück bahnhof uhr lautet fürs warten
    `),
    common: words(`
      gut abend nacht reise appetit moment augenblick problem bis bald da los mal was gott jahr neues tut liebe
      herr herrn frau hotel taxi bett zeit haus auto euro eins zwei drei name zimmer wasser bier kaffee code nummer
    `),
    phrases: ['auf wiedersehen', 'auf wiederhören', 'bis bald', 'was ist los', 'wer ist da'],
  },
  fr: {
    alone: words(`
      bonjour bonsoir merci oui salut désolé désolée bienvenue félicitations entendu volontiers allô
      évidemment absolument exactement
    `),
    telling: words(`
      bonne bonnes revoir bientôt journée soirée année nuit plaisir excusez pardonnez sûr sais sait comprends
      compris attendez écoutez regardez voici aime appelle appelles marche heure noël anniversaire
      problème quelqu'un gare vrai prêt prête parfait français patienté patienter
    `),
    common: words(`
      non joyeux vie ca vu on bon chance service mal instant moment soir matin jour jours accord moi toi lui
      chat pain train hotel hôtel taxi mademoiselle messieurs mesdames mille temps table vite deux trois
      monde nom chambre eau vin café
    `),
    phrases: [
      'de rien',
      "d' accord",
      'et moi',
      'et toi',
      'comment ca va',
      'bien sur',
      'joyeux noël',
      'bonne année',
    ],
  },
  es: {
    alone: words(`
      gracias hola adiós perdón sí bienvenido bienvenida bienvenidos bienvenidas disculpe disculpa
      felicidades igualmente claramente también encantado encantada
    `),
    telling: words(`
      buen tardes siento luego vemos supuesto acuerdo cuesta cumpleaños navidad año años pasa llamo sé sabe
      entiendo hablo inglés español viaje suerte salud permiso ayuda espere bueno buena tarde entonces nadie
      alguien mismo esperar código entendido
    `),
    common: words(`
      feliz tal bien dias claro momento minuto nuevo verdad pronto vista casa tiempo mundo problema hotel
      taxi tres dos nombre agua vino café baño estación mesa mil señorita doña día noche gusto listo vale
      llama he
    `),
    phrases: [
      'por favor',
      'de nada',
      'mucho gusto',
      'hasta pronto',
      'que tal',
      'claro que si',
      'no hay problema',
      'buenos días',
      'buenas tardes',
      'buenas noches',
      'feliz navidad',
    ],
  },
  pt: {
    alone: words(`
      obrigado obrigada olá não desculpe desculpa tchau parabéns também perdão adeus
    `),
    telling: words(`
      bem prazer licença vindo vinda vindos certeza sorte viagem aniversário entendo espere ajuda inglês
      português ninguém alguém feliz aí então esperar entendi código
    `),
    common: words(`
      tarde logo breve natal sei claro momento problema oi ano novo novamente casa tempo mundo pena
      hotel taxi táxi nome água vinho café mesa dois três mil
    `),
    phrases: [
      'por favor',
      'de nada',
      'bom dia',
      'boa tarde',
      'boa noite',
      'não sei',
      'sim claro',
      'sim senhor',
      'sim senhora',
      'sem problema',
      'feliz natal',
    ],
  },
  it: {
    alone: words(`
      grazie buongiorno buonasera buonanotte arrivederci scusi scusate sì certo certamente benvenuto
      benvenuta benvenuti auguri esatto perfetto piacere
    `),
    telling: words(`
      buon buona giorno sera notte giornata serata stai bene dispiace scusa capisco capito vediamo attimo
      compleanno viaggio appetito stazione bagno aiuto inglese italiano chiama chiami chiamo giusto allora
      aspetti conoscerla nessun codice attesa
    `),
    common: words(`
      no amo mille presto sta ore so costa momento problema anno nuovo tempo mondo natale casa bello vero
      ecco accordo hotel taxi c' nome acqua vino caffè conto tavolo due tre signore signorina dottore
    `),
    phrases: [
      "d' accordo",
      'come va',
      'come sta',
      'a presto',
      'non lo so',
      'che ore sono',
      'chi è',
      'è vero',
      'ti amo',
      'buona sera',
      'buon natale',
    ],
  },
};

/** Forms of address: a name may follow. */
const HONORIFICS = words(`
  herr herrn frau monsieur madame mademoiselle señor señora señorita doña senhor senhora
  signor signora signorina
`);

/**
 * English words, abbreviations and usual names: as telling words they are good
 * enough for a sentence, where others stand beside them, but not for a short text.
 */
const NEVER_TELLING = words(`
  als bin es hallo hast ja mir nie ob seine sie über unter vom wer wo
  ai avant car ce cet dans déjà doit elle encore entre est hier il ma mes mon nos nous ne par pas personne que
  qui sans sous ta tes ton tout tu va
  como debe ella era eran ese esta este favor hace han hasta lo mi mis mucho nada por ser sobre soy su sus te ti
  todo todos tus una unos unas ya yo
  ali ao bom boa deve dia é ele ela eu faz foi isto mais mas num numa pode qual quer sem sim sua tem ter uma vai
  alla alle che chi ci ciao dal dei della è fa fra gli hai io lei lui mai mio nel noi nulla ora quale sei sono
  tra uno vi voi
`);

const MOST_WORDS = 5; // elided ones and names included; more words are judged as a sentence
const SPANISH_MARK = /[¿¡]/; // no other language opens a question or an exclamation

interface Vocabulary {
  readonly language: LatinLanguage;
  readonly alone: ReadonlySet<string>;
  readonly telling: ReadonlySet<string>;
  readonly known: ReadonlySet<string>;
  readonly phrases: readonly string[];
}

const VOCABULARIES = (['de', 'fr', 'es', 'pt', 'it'] as const).map(vocabularyOf);

function vocabularyOf(language: LatinLanguage): Vocabulary {
  const sentence = LANGUAGE_WORDS[language];
  const { alone, telling, common, phrases } = SHORT_TEXT_WORDS[language];
  const own = [...sentence.telling, ...telling];
  const shared = [ENGLISH_WORDS, NEVER_TELLING, HONORIFICS];
  return {
    language,
    alone,
    telling: new Set([...own.filter((word) => !shared.some((list) => list.has(word))), ...alone]),
    known: new Set([...own, ...sentence.linking, ...alone, ...common]),
    phrases: phrases.map((phrase) => ` ${phrase} `),
  };
}

/** The only language that the words can be of; undefined where that is in doubt. */
function identifyShortText(text: string, words: readonly string[]): LatinLanguage | undefined {
  if (words.length === 0 || words.length > MOST_WORDS) return undefined;
  const spanish = SPANISH_MARK.test(text);
  const proved = VOCABULARIES.filter(
    (own) => (!spanish || own.language === 'es') && isProvedBy(own, words, spanish),
  );
  return proved.length === 1 ? proved[0]?.language : undefined;
}

function isProvedBy(own: Vocabulary, words: readonly string[], spanish: boolean): boolean {
  const small = words.map((word) => word.toLowerCase());
  const names = countNames(own, words, small, spanish);
  if (names === undefined) return false;
  if (spanish && names === 0) return true;
  if (small.length === 1) return own.alone.has(small[0] ?? '');
  // Its first word is no name for standing before a capital.
  const sentenceCase = spanish || own.language === 'de';
  const proved = small.some(
    (word, index) => own.telling.has(word) && !isNameIn(own, words, index, sentenceCase),
  );
  const line = ` ${small.join(' ')} `;
  return proved || own.phrases.some((phrase) => line.includes(phrase));
}

/** Unknown words that must be names, by what stands before them; undefined where another word is unknown. */
function countNames(
  own: Vocabulary,
  words: readonly string[],
  small: readonly string[],
  spanish: boolean,
): number | undefined {
  let names = 0;
  let addressed = false;
  for (const [index, word] of small.entries()) {
    if (own.known.has(word)) {
      addressed = index < words.length - 1 && (spanish || HONORIFICS.has(word));
    } else {
      if (!addressed || !isCapital(words[index])) return undefined;
      names++;
    }
  }
  return names;
}

/** Written as names, titles and abbreviations are: Hotel Merci, but not Merci Madame. */
function isNameIn(own: Vocabulary, words: readonly string[], index: number, sentenceCase: boolean): boolean {
  const word = words[index] ?? '';
  if (/^\p{Lu}[\p{Lu}']*\p{Lu}$/u.test(word)) return true;
  if (!isCapital(word)) return false;
  if (index > 0) return !isCourtesy(own, words[index - 1], word);
  return !sentenceCase && isCapital(words[1]) && !isCourtesy(own, word, words[1]);
}

/** Two words that prove each other, one of them even alone. */
function isCourtesy({ alone, telling }: Vocabulary, word = '', next = ''): boolean {
  const [first, second] = [word.toLowerCase(), next.toLowerCase()];
  if (alone.has(first)) return telling.has(second) || HONORIFICS.has(second);
  return alone.has(second) && telling.has(first);
}

function isCapital(word = ''): boolean {
  return /^\p{Lu}/u.test(word);
}

interface IdentifiedLanguage {
  /** BCP 47 primary tag; of a doubtful text the best guess. */
  readonly language: string;
  readonly confident: boolean;
  /** Known as a greeting or courtesy: sure of these few words, not of what stands around them. */
  readonly courtesy?: true;
  /** The text is doubtful, but the identifier leads clearly. */
  readonly leads?: true;
}

const MOST_TEXT = 600; // units; more text proves nothing more and costs time
const MOST_KNOWN = 500; // sentences
eld.setLanguageSubset(['en', 'de', 'fr', 'pt', 'es', 'it']); // the only use of it in this process
const FEWEST_WORDS = 4; // a name, a title or a dish is shorter
const KNOWN_SHARE = 0.2; // minimum share of function words in a sentence
const ENGLISH_COST = 3; // foreign small words that outweigh one English small word
const PROSE_WORDS = 5; // from this many words on, statistics suffice if they meet the three thresholds below:
const PROSE_SCORE = 0.74;
const PROSE_LEAD = 0.2; // over English
const PROSE_CONTENT = 2; // words in small letters that no name is made of

/** The identifier leads clearly if the second language is so far behind, by the number of words. */
const LEADS = [
  { words: 6, lead: 0.05 },
  { words: 4, lead: 0.1 },
  { words: 3, lead: 0.15 },
] as const;
const PROVED_LEAD = 0.03; // with less, words that the second language has as well prove nothing
const ENGLISH_LEAD = 0.1; // a guess with less lead yields to English words
const ENGLISH_ALONE = 3; // so many more English words outweigh any lead

// Scripts that name the language at once. Those of languages that no engine
// here speaks are listed so that their text is refused and never mumbled.
const SCRIPTS: readonly (readonly [language: string, letters: RegExp])[] = [
  ['ja', /[\p{Script=Hiragana}\p{Script=Katakana}]/gu],
  ['zh', /\p{Script=Han}/gu],
  ['ko', /\p{Script=Hangul}/gu],
  ['ru', /\p{Script=Cyrillic}/gu],
  ['el', /\p{Script=Greek}/gu],
  ['ar', /\p{Script=Arabic}/gu],
  ['he', /\p{Script=Hebrew}/gu],
  ['hi', /\p{Script=Devanagari}/gu],
  ['th', /\p{Script=Thai}/gu],
];
const NOT_PROSE = /\S*(?:[/\\@_<>=[\]{}|#\d]|\p{L}\.\p{L})\S*/gu; // addresses, code, product numbers
const LATIN_LETTERS = /\p{Script=Latin}/gu;
const LATIN_WEIGHT = 0.5; // a Latin letter says about half as much as a letter of another script

const FEWEST_LETTERS = 4; // minimum of letters in another script, if most of the text is Latin

function holdsSmallWord(text: string): boolean {
  const lists = [
    ENGLISH_WORDS,
    ...Object.values(LANGUAGE_WORDS).flatMap(({ telling, linking }) => [telling, linking]),
  ];
  return wordsOf(text).some((word) => lists.some((list) => list.has(word.toLowerCase())));
}

// Some tens of microseconds a sentence, and prompts are spoken again in every call.
const known = new Map<string, IdentifiedLanguage>();

export function identifyLanguage(text: string): IdentifiedLanguage {
  const sample = text.slice(0, MOST_TEXT);
  const before = known.get(sample);
  if (before !== undefined) return before;
  const plain = fold(decodeEntities(sample, () => false)?.text ?? sample);
  const identified = byScript(plain) ?? byWords(plain);
  known.set(sample, identified);
  const [oldest] = known.keys();
  if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
  return identified;
}

function byScript(text: string): IdentifiedLanguage | undefined {
  const counts = SCRIPTS.map(([language, letters]) => [language, text.match(letters)?.length ?? 0] as const);
  const foreign = counts.reduce((sum, [, count]) => sum + count, 0);
  const latin = text.match(LATIN_LETTERS)?.length ?? 0;
  if (foreign === 0) return undefined;
  // "iPhone에서 WhatsApp을 여세요": names alone make no sentence of a Latin language.
  if (foreign <= latin * LATIN_WEIGHT && (foreign < FEWEST_LETTERS || holdsSmallWord(text))) return undefined;
  const best = counts.toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? 'zh';
  const kana = counts[0]?.[1] ?? 0;
  const confident = foreign > 1 || latin === 0;
  // Kana stand between the Han characters of nearly any Japanese sentence.
  if (best !== 'zh') return { language: best, confident };
  if (kana > 0) return { language: 'ja', confident };
  const { language, certain } = identifyHan(text);
  return certain ? { language, confident } : { language, confident: false, leads: true };
}

function byWords(text: string): IdentifiedLanguage {
  const words = wordsOf(text);
  const short = holdsCode(text) ? undefined : identifyShortText(text, words);
  if (short !== undefined) return { language: short, confident: true, courtesy: true };
  const scores = eld.detect(text.replace(NOT_PROSE, ' ')).getScores();
  const [[language, score] = ['en', 0], [rival, second] = ['', 0]] = Object.entries(scores);
  const lead = score - second;
  if (!isLatinLanguage(language)) return doubtful('en', lead, words);
  const clear = score >= PROSE_SCORE && score - (scores['en'] ?? 0) >= PROSE_LEAD;
  const isProse = clear && holdsProse(language, words);
  const isShared = lead < PROVED_LEAD && knownWords(rival, words) >= knownWords(language, words);
  if (!isShared && (isProse || isProved(language, words))) return { language, confident: true };
  const english = englishBalance(language, words);
  if (english >= ENGLISH_ALONE || (english > 0 && lead < ENGLISH_LEAD))
    return { language: 'en', confident: false };
  return english > 0 ? { language, confident: false } : doubtful(language, lead, words);
}

function doubtful(
  language: LatinLanguage | 'en',
  lead: number,
  words: readonly string[],
): IdentifiedLanguage {
  const judged = new Set(words.filter((word) => word.length > 1));
  const needed = LEADS.find(({ words: least }) => judged.size >= least);
  const leads = needed !== undefined && lead >= needed.lead && !isOfNames(language, [...judged]);
  return { language, confident: false, ...(leads ? { leads } : {}) };
}

/** Without two words in small letters, one of them other than an article or preposition: Rio de Janeiro. */
function isOfNames(language: LatinLanguage | 'en', words: readonly string[]): boolean {
  const small = new Set(words.filter((word) => /^\p{Ll}/u.test(word)));
  if (language === 'en') return small.size < 2;
  const { linking } = LANGUAGE_WORDS[language];
  const least = language === 'de' ? 1 : 2; // German nouns have capitals
  return small.size < least || [...small].every((word) => linking.has(word));
}

/** Whole sentences whose small words are too common to prove anything: Die Aktien fielen am Freitag. */
function holdsProse(language: LatinLanguage, words: readonly string[]): boolean {
  const own = LANGUAGE_WORDS[language];
  if (words.length < PROSE_WORDS || isEnglish(language, words)) return false;
  const content = words.filter((word) => /^\p{Ll}{3}/u.test(word) && !own.linking.has(word));
  return content.length >= PROSE_CONTENT && words.some((word) => belongs(own, word.toLowerCase()));
}

/** Words of the text that are English and not of the other language, less those of that language alone. */
function englishBalance(language: LatinLanguage, words: readonly string[]): number {
  const own = LANGUAGE_WORDS[language];
  let balance = 0;
  for (const word of words) {
    const small = word.toLowerCase();
    const [english, foreign] = [ENGLISH_WORDS.has(small), belongs(own, small)];
    if (english !== foreign) balance += english ? 1 : -1;
  }
  return balance;
}

/** English words that the other language does not have: Please pronounce "entschuldigung" for me. */
function isEnglish(language: LatinLanguage, words: readonly string[]): boolean {
  const own = LANGUAGE_WORDS[language];
  return words.some((word) => ENGLISH_WORDS.has(word.toLowerCase()) && !belongs(own, word.toLowerCase()));
}

function isLatinLanguage(language: string): language is LatinLanguage {
  return Object.hasOwn(LANGUAGE_WORDS, language);
}

function holdsCode(text: string): boolean {
  return (text.match(NOT_PROSE) ?? []).some((piece) => /\p{L}/u.test(piece));
}

/** An elided article or pronoun (l', j') is a word of its own. */
function wordsOf(text: string): string[] {
  const plain = text.normalize('NFC').replaceAll('’', "'").replace(NOT_PROSE, ' ');
  return (
    plain.match(/(?<!\p{L})(?:[cdjlmnst]|qu|dell|all|un)'(?=\p{L})|[\p{L}\p{M}]+(?:'[\p{L}\p{M}]+)?/giu) ?? []
  );
}

function isProved(language: LatinLanguage, words: readonly string[]): boolean {
  const own = LANGUAGE_WORDS[language];
  const small = words.map((word) => word.toLowerCase());
  if (new Set(small).size < FEWEST_WORDS) return false; // nor is "Fa la la la la" a sentence
  const english = small.filter((word) => ENGLISH_WORDS.has(word) && !belongs(own, word)).length;
  const telling = small.some(
    (word, index) =>
      own.telling.has(word) &&
      !ENGLISH_WORDS.has(word) &&
      (!isName(words, index) || isPolite(language, word)),
  );
  const known = small.filter((word) => belongs(own, word)).length;
  return telling && known >= Math.max(2, words.length * KNOWN_SHARE) && known > english * ENGLISH_COST;
}

/** A capital within the text, or at its beginning where another one follows: São Paulo, Son Heung-min. */
function isName(words: readonly string[], index: number): boolean {
  const capital = (word = ''): boolean => /^\p{Lu}/u.test(word);
  return capital(words[index]) && (index > 0 || capital(words[1]));
}

/** The German Sie has a capital wherever it stands. */
function isPolite(language: LatinLanguage, word: string): boolean {
  return language === 'de' && /^(?:sie|ihnen|ihr|ihre[mnrs]?)$/.test(word);
}

/** Number of words that are small words of the language. */
function knownWords(language: string, words: readonly string[]): number {
  if (!isLatinLanguage(language)) return 0;
  return words.filter((word) => belongs(LANGUAGE_WORDS[language], word.toLowerCase())).length;
}

function belongs({ telling, linking }: LanguageWords, word: string): boolean {
  return telling.has(word) || linking.has(word);
}
