// This file lists what people and machines say when they answer a telephone, by language. Parameters were
// chosen with every second text only; the bench draws from all of them.

interface Greetings {
  /** Voices of espeak, by their BCP 47 tags; those of flite speak English, too. */
  readonly voices: readonly string[];
  readonly hello: readonly string[];
  readonly named: readonly string[];
  readonly business: readonly string[];
  /** Each sentence is spoken alone. The last ones ask for a message. */
  readonly machine: readonly (readonly string[])[];
  readonly screening: readonly (readonly string[])[];
}

export const GREETINGS: Readonly<Record<string, Greetings>> = {
  en: {
    voices: ['en-GB', 'en-US'],
    hello: [
      'Hello?',
      'Hello.',
      'Hi.',
      'Yes?',
      'Hello, hello?',
      'Yes, hello?',
      'Speaking.',
      'Hey.',
      'Yeah?',
      'Good morning.',
    ],
    named: [
      'Hello, Anna here.',
      'John Miller.',
      'Hi, this is Peter.',
      'Hello, this is Mary Jones.',
      'Miller residence, good evening.',
    ],
    business: [
      'Good morning, Blue Lake Hotel.',
      'Acme support, this is Anna speaking.',
      'Miller and Sons, how can I help you?',
      'Good afternoon, dental practice, how may I help?',
      'City library, Peter speaking, hello?',
    ],
    machine: [
      ['Leave a message.'],
      ["Hi, it's Bob.", 'Leave a message.'],
      [
        "Hi, you've reached Anna.",
        "I can't take your call right now.",
        'Please leave a message after the beep.',
      ],
      [
        'This is the voicemail of Peter Smith.',
        'Please leave your name and number after the tone, and I will call you back.',
      ],
      [
        'Hello, you have reached the Miller family.',
        'We are not at home right now, or we are in the garden.',
        'If you leave your name, your number and a short message, we will call you back as soon as we can.',
        'Have a nice day.',
      ],
      [
        'Thank you for calling the Blue Lake Hotel.',
        'All of our colleagues are busy, or you are calling outside of business hours.',
        'Our office is open from Monday to Friday, from nine to five.',
        'Please leave a message with your name and the dates of your stay, and we will return your call on the next working day.',
      ],
      [
        'The person you are calling is not available.',
        'At the tone, please record your message.',
        'When you have finished recording, you may hang up, or press one for more options.',
      ],
      [
        'Your call has been forwarded to an automatic voice message system.',
        'Two zero six, five five five, zero one four two, is not available.',
        'At the tone, please record your message.',
      ],
      ['Yo, you know what to do.'],
      [
        'You have reached the law office of Smith, Brown and Partners.',
        'Nobody is available to take your call at the moment.',
        'If this is an emergency, please hang up, and dial the number that you find on our website.',
        'Otherwise leave your name, your telephone number, and the best time to reach you.',
        'We listen to our messages three times a day.',
      ],
      [
        'Hi there, this is Mary.',
        'I am either on another call, or away from my desk.',
        'You can also send me a text message, which I read much sooner.',
        'Or leave me a message here, and I will get back to you soon.',
        'Thank you, and goodbye.',
      ],
    ],
    screening: [
      ['Hi, if you record your name and reason for calling, I will see if this person is available.'],
      [
        'Hello, the person you are calling is using a screening service.',
        'Go ahead and say your name, and why you are calling.',
      ],
    ],
  },
  de: {
    voices: ['de'],
    hello: ['Hallo?', 'Ja?', 'Ja, hallo?', 'Guten Tag.', 'Ja bitte?'],
    named: ['Müller.', 'Hier ist Anna Schmidt.', 'Peter Meier, hallo?', 'Schneider am Apparat.'],
    business: [
      'Praxis Doktor Weber, guten Tag.',
      'Autohaus Krause, was kann ich für Sie tun?',
      'Stadtwerke, mein Name ist Fischer.',
    ],
    machine: [
      [
        'Hier ist der Anschluss von Familie Müller.',
        'Wir sind im Moment nicht da.',
        'Bitte hinterlassen Sie eine Nachricht nach dem Signalton.',
      ],
      ['Hallo, hier ist die Mailbox von Anna.', 'Sprich einfach drauf.'],
      [
        'Der gewünschte Gesprächspartner ist zurzeit nicht erreichbar.',
        'Bitte sprechen Sie nach dem Signalton.',
      ],
    ],
    screening: [
      [
        'Hallo, wenn Sie Ihren Namen und den Grund Ihres Anrufs nennen, sehe ich nach, ob die Person verfügbar ist.',
      ],
    ],
  },
  fr: {
    voices: ['fr'],
    hello: ['Allô ?', 'Oui ?', 'Oui, allô ?', 'Bonjour.'],
    named: ['Marie Dupont.', "Oui, Pierre à l'appareil.", 'Bonjour, Jean Martin.'],
    business: ['Hôtel du Lac, bonjour.', 'Cabinet du docteur Leroy, je vous écoute.'],
    machine: [
      [
        'Bonjour, vous êtes bien chez Pierre et Marie.',
        'Nous ne sommes pas disponibles.',
        'Laissez un message après le bip sonore.',
      ],
      ['Vous êtes sur la messagerie de Jean.', 'Laissez-moi un message, je vous rappelle.'],
    ],
    screening: [
      [
        'Bonjour, indiquez votre nom et la raison de votre appel, et je vais voir si la personne est disponible.',
      ],
    ],
  },
  es: {
    voices: ['es', 'es-419'],
    hello: ['¿Diga?', '¿Sí?', 'Hola.', '¿Hola?', '¿Bueno?'],
    named: ['Sí, soy Carmen.', 'Habla Pedro García.'],
    business: ['Hotel Mirador, buenos días.', 'Clínica Santa Ana, ¿en qué puedo ayudarle?'],
    machine: [
      ['Hola, soy Carmen.', 'Ahora no puedo atenderte.', 'Deja tu mensaje después de la señal.'],
      ['Este es el buzón de voz del número marcado.', 'Por favor, deje su mensaje después del tono.'],
    ],
    screening: [['Hola, diga su nombre y el motivo de la llamada y veré si la persona está disponible.']],
  },
  it: {
    voices: ['it'],
    hello: ['Pronto?', 'Sì?', 'Pronto, chi parla?', 'Buongiorno.'],
    named: ['Pronto, sono Marco.', 'Giulia Rossi.'],
    business: ['Albergo del Sole, buongiorno.', 'Studio Bianchi, come posso aiutarla?'],
    machine: [
      [
        'Ciao, sono Marco.',
        'In questo momento non posso rispondere.',
        'Lasciate un messaggio dopo il segnale acustico.',
      ],
      [
        'Segreteria telefonica.',
        'Il cliente da lei chiamato non è al momento raggiungibile.',
        'Lasci un messaggio dopo il bip.',
      ],
    ],
    screening: [
      ['Ciao, se mi dici il tuo nome e il motivo della chiamata, vedo se la persona è disponibile.'],
    ],
  },
  pt: {
    voices: ['pt-BR', 'pt'],
    hello: ['Alô?', 'Oi?', 'Sim?', 'Está lá?', 'Olá.'],
    named: ['Fala o João.', 'Aqui é a Maria.'],
    business: ['Hotel do Mar, bom dia.', 'Clínica Boa Vista, em que posso ajudar?'],
    machine: [
      ['Olá, aqui é a Maria.', 'Não posso atender agora.', 'Deixe o seu recado após o sinal.'],
      [
        'Sua chamada está sendo encaminhada para a caixa postal.',
        'Grave a sua mensagem depois do sinal sonoro.',
      ],
    ],
    screening: [['Olá, diga o seu nome e o motivo da ligação, e vou ver se a pessoa está disponível.']],
  },
};
