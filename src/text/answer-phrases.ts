// Finds what a far end that has answered a call is, by its words: a voicemail, a service that screens calls,
// or a person. Native speakers correct the table.
//
// Phrases stand between `|`, in lower case and without marks. They are looked for in every language, because
// a recogniser may take a short greeting for another language.

/** The kinds of phrases that the text of a far end has. */
export type AnswerPhrase =
  /** A voicemail asks for a message. */
  | 'voicemail'
  /** A screening service asks for the caller's name. */
  | 'screening'
  /** It asks the caller to wait. */
  | 'waiting'
  /** A person greets, or asks for what the caller wants. */
  | 'person';

interface AnswerWords {
  readonly voicemail: string;
  readonly screening: string;
  readonly waiting: string;
  /** Greetings of a person, where they are the whole text. */
  readonly greetings: string;
  /** A person's greeting of a business ends with these. */
  readonly offers: string;
}

// prettier-ignore
const ANSWER_WORDS: Readonly<Record<string, AnswerWords>> = {
  en: {
    voicemail: `leave a message|leave me a message|leave us a message|leave your message|leave a brief message|leave a short message|
      leave your name|leave me your name|leave your number|record your message|record a message|after the tone|after the beep|
      at the tone|at the beep|sound of the tone|sound of the beep|can't come to the phone|cannot come to the phone|can't take your call|
      cannot take your call|unable to take your call|unable to answer|unable to come to the phone|can't answer the phone|
      is not available|isn't available|not available right now|not available at the moment|away from my phone|away from my desk|
      voicemail|voice mail|voice mailbox|mailbox|answering machine|get back to you|call you back as soon|return your call|
      our office is closed|our offices are closed|outside of business hours|when you have finished recording|
      you have reached the voice|forwarded to an automatic`,
    screening: `record your name and reason|state your name and reason|say your name and reason|your name and the reason|
      your name and why you're calling|your name and why you are calling|name and reason for calling|reason for your call after|
      using a screening service|screening service from google|call assist|google assistant|what you're calling about and i'll|
      tell me who's calling and why|i'll see if this person is available|i'll see if they're available|see if they are available`,
    waiting: `stay on the line|please hold|hold on while i|one moment while i|i'll try to connect you|i'll ask if they are available|
      try to reach them|let them know you're calling`,
    greetings: `hello|hello hello|hi|hey|yes|yeah|yes hello|hello yes|hi there|good morning|good afternoon|good evening|
      hello who is this|who is this|who's this|hello who's this|speaking`,
    offers: `how can i help|how can i help you|how may i help you|how can i help you today|how may i help you today|
      how may i assist you|how can i assist you|what can i do for you|how can we help you|how may i direct your call|
      speaking|can i help you|may i help you`,
  },
  de: {
    voicemail: `hinterlassen sie|hinterlasse eine nachricht|hinterlasst|eine nachricht hinterlassen|nachricht nach dem|nach dem signalton|
      nach dem ton|nach dem piepton|nach dem pfeifton|nach dem piep|nicht erreichbar|nicht zu erreichen|zurzeit nicht|im moment nicht da|
      gerade nicht ans telefon|nicht ans telefon gehen|nicht persönlich erreichbar|anrufbeantworter|mailbox|sprachbox|
      rufe sie zurück|rufen sie zurück|rufe zurück|rufe dich zurück|außerhalb unserer|unserer öffnungszeiten|geschäftszeiten`,
    screening: `namen und den grund|name und grund|deinen namen und den grund|nennen sie ihren namen|nenne deinen namen|
      ihren namen und ihr anliegen|deinen namen und dein anliegen|ob die person verfügbar ist|ob die person erreichbar ist|
      anruf filter|anruffilter|google assistant`,
    waiting: 'bleiben sie in der leitung|bleib in der leitung|bleib dran|bleiben sie dran|einen moment bitte|ich versuche zu verbinden',
    greetings: 'hallo|ja|ja hallo|hallo ja|ja bitte|bitte|guten tag|guten morgen|grüß gott|hallo wer ist da|wer ist da|am apparat',
    offers: `was kann ich für sie tun|wie kann ich ihnen helfen|wie kann ich helfen|womit kann ich ihnen helfen|wie darf ich ihnen helfen|
      am apparat|mein name ist`,
  },
  fr: {
    voicemail: `laissez un message|laissez moi un message|laissez-moi un message|laissez nous un message|laissez-nous un message|
      laisser un message|laissez votre message|après le bip|après le signal|après la tonalité|bip sonore|signal sonore|messagerie|
      boîte vocale|répondeur|pas disponible|n'est pas joignable|ne suis pas joignable|indisponible|ne peux pas répondre|
      ne peut pas répondre|ne pouvons pas répondre|en mon absence|je vous rappelle|je vous rappellerai|nous vous rappellerons|
      nos bureaux sont fermés`,
    screening: `votre nom et la raison|votre nom et le motif|indiquez votre nom|dites votre nom|le motif de votre appel|
      la raison de votre appel|si la personne est disponible|si cette personne est disponible|filtrage d'appels|filtrer les appels`,
    waiting: 'restez en ligne|ne quittez pas|veuillez patienter|un instant s\'il vous plaît',
    greetings: 'allô|allo|oui|oui allô|oui allo|allô oui|allo oui|bonjour|bonsoir|oui bonjour|allô bonjour|qui est à l\'appareil',
    offers: 'que puis-je faire pour vous|que puis je faire pour vous|je vous écoute|comment puis-je vous aider|comment puis je vous aider|à votre service',
  },
  es: {
    voicemail: `deja un mensaje|deje un mensaje|deja tu mensaje|deje su mensaje|dejar un mensaje|dejarme un mensaje|deja tu nombre|deje su nombre|
      después de la señal|después del tono|tras la señal|al oír la señal|al escuchar el tono|después del pitido|buzón de voz|
      contestador|no está disponible|no estoy disponible|no puedo atenderte|no puedo atenderle|no puedo contestar|no podemos atender|
      no se encuentra disponible|te llamaré|le llamaré|le devolveré la llamada|te devolveré la llamada|fuera de horario`,
    screening: `tu nombre y el motivo|su nombre y el motivo|su nombre y la razón|tu nombre y la razón|motivo de la llamada|
      motivo de tu llamada|motivo de su llamada|si la persona está disponible|si esta persona está disponible|filtro de llamadas|
      servicio de filtrado`,
    waiting: 'no cuelgue|no cuelgues|manténgase en línea|permanezca en línea|espere en línea|un momento por favor',
    greetings: 'hola|sí|si|sí hola|hola sí|diga|dígame|bueno|aló|alo|sí diga|sí dígame|buenos días|buenas tardes|quién es|quién habla|al habla',
    offers: 'en qué puedo ayudarle|en qué puedo ayudarte|en qué le puedo ayudar|en qué puedo servirle|le atiende|al habla|cómo puedo ayudarle',
  },
  it: {
    voicemail: `lascia un messaggio|lasciate un messaggio|lasci un messaggio|lasciare un messaggio|lasciate il vostro messaggio|
      lascia il tuo messaggio|dopo il segnale|dopo il bip|dopo il tono|segnale acustico|segreteria telefonica|segreteria|
      casella vocale|non è raggiungibile|non è al momento raggiungibile|non è disponibile|non sono disponibile|
      non posso rispondere|non possiamo rispondere|non sono in casa|richiamerò|vi richiamerò|ti richiamerò|la richiameremo`,
    screening: `il tuo nome e il motivo|il suo nome e il motivo|nome e motivo|motivo della chiamata|motivo della tua chiamata|
      se la persona è disponibile|se questa persona è disponibile|filtro chiamate`,
    waiting: 'resti in linea|rimani in linea|rimanga in linea|attenda in linea|un momento per favore|un attimo per favore',
    greetings: 'pronto|sì|si|sì pronto|pronto chi parla|chi parla|buongiorno|buonasera|pronto buongiorno',
    offers: 'come posso aiutarla|come posso aiutarti|in cosa posso aiutarla|in che cosa posso esserle utile|mi dica',
  },
  pt: {
    voicemail: `deixe uma mensagem|deixe sua mensagem|deixe a sua mensagem|deixe o seu recado|deixe seu recado|deixe um recado|deixar uma mensagem|
      após o sinal|depois do sinal|após o bip|depois do bip|sinal sonoro|caixa postal|caixa de mensagens|correio de voz|
      não está disponível|não estou disponível|não posso atender|não podemos atender|não se encontra disponível|
      ligo de volta|ligarei de volta|retorno a ligação|retornarei a sua ligação|secretária eletrônica|atendedor de chamadas`,
    screening: `seu nome e o motivo|o seu nome e o motivo|teu nome e o motivo|nome e motivo|motivo da ligação|motivo da chamada|
      motivo da sua ligação|se a pessoa está disponível|se esta pessoa está disponível|filtro de chamadas|filtro de ligações`,
    waiting: 'aguarde na linha|permaneça na linha|fique na linha|não desligue|um momento por favor',
    greetings: 'alô|alo|oi|olá|sim|estou|está lá|estou sim|pois não|bom dia|boa tarde|boa noite|quem fala|quem é',
    offers: 'em que posso ajudar|como posso ajudar|como posso ajudá-lo|em que posso ser útil|posso ajudar',
  },
  nl: {
    voicemail: `spreek een bericht in|spreek uw bericht in|spreek je bericht in|laat een bericht achter|bericht achterlaten|na de toon|na de piep|
      na de pieptoon|voicemail|antwoordapparaat|niet bereikbaar|niet beschikbaar|niet aan de telefoon komen|bel ik u terug|
      bel ik je terug|bellen wij u terug`,
    screening: 'uw naam en de reden|je naam en de reden|naam en reden|of de persoon beschikbaar is|of deze persoon beschikbaar is',
    waiting: 'blijf aan de lijn|een ogenblik geduld|een moment alstublieft',
    greetings: 'hallo|ja|ja hallo|hallo ja|goedemorgen|goedemiddag|met wie spreek ik',
    offers: 'waarmee kan ik u helpen|wat kan ik voor u doen|hoe kan ik u helpen|waarmee kan ik u van dienst zijn',
  },
};

const MOST_TEXT = 2000; // UTF-16 units that are looked at
const LONGEST_GREETING = 40; // UTF-16 units of a text that only greets
const KINDS = ['screening', 'voicemail', 'waiting'] as const;
const MARKS = /[^\p{L}\p{M}\p{N}\s'-]+/gu;

interface Phrases extends Readonly<Record<(typeof KINDS)[number], readonly string[]>> {
  readonly greetings: ReadonlySet<string>;
  readonly offers: readonly string[];
}

const PHRASES = joinedPhrases();

/** The kind of phrase in a text, which may not be whole yet; undefined: it has none. */
export function answerPhraseOf(text: string): AnswerPhrase | undefined {
  const small = text.slice(0, MOST_TEXT).normalize('NFKC').toLowerCase().replaceAll('’', "'");
  const said = small.replaceAll(MARKS, ' ').trim().replaceAll(/\s+/g, ' ');
  if (said === '') return undefined;
  const padded = ` ${said} `;
  const kind = KINDS.find((name) => PHRASES[name].some((phrase) => padded.includes(phrase)));
  if (kind !== undefined) return kind;
  const greets = said.length <= LONGEST_GREETING && PHRASES.greetings.has(said);
  return greets || PHRASES.offers.some((offer) => padded.endsWith(offer)) ? 'person' : undefined;
}

/** Phrases with a space on both sides, so that only whole words match. */
function joinedPhrases(): Phrases {
  const all = (name: keyof AnswerWords) =>
    Object.values(ANSWER_WORDS).flatMap((words) => words[name].split('|').map((phrase) => phrase.trim()));
  const padded = (name: keyof AnswerWords) => all(name).map((phrase) => ` ${phrase} `);
  return {
    screening: padded('screening'),
    voicemail: padded('voicemail'),
    waiting: padded('waiting'),
    greetings: new Set(all('greetings')),
    offers: padded('offers'),
  };
}
