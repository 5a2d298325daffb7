// Words of greetings, courtesies and short answers, as data: a text of a few
// words has no room for the small words of a sentence. They are known besides
// those of `language-words.ts`.
import type { LatinLanguage } from './language-words.js';

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

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

export const SHORT_TEXT_WORDS: Readonly<Record<LatinLanguage, ShortTextWords>> = {
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
export const HONORIFICS = words(`
  herr herrn frau monsieur madame mademoiselle señor señora señorita doña senhor senhora
  signor signora signorina
`);

/**
 * English words, abbreviations and usual names: as telling words they are good
 * enough for a sentence, where others stand beside them, but not for a short text.
 */
export const NEVER_TELLING = words(`
  als bin es hallo hast ja mir nie ob seine sie über unter vom wer wo
  ai avant car ce cet dans déjà doit elle encore entre est hier il ma mes mon nos nous ne par pas personne que
  qui sans sous ta tes ton tout tu va
  como debe ella era eran ese esta este favor hace han hasta lo mi mis mucho nada por ser sobre soy su sus te ti
  todo todos tus una unos unas ya yo
  ali ao bom boa deve dia é ele ela eu faz foi isto mais mas num numa pode qual quer sem sim sua tem ter uma vai
  alla alle che chi ci ciao dal dei della è fa fra gli hai io lei lui mai mio nel noi nulla ora quale sei sono
  tra uno vi voi
`);
