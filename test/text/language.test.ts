import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { identifyLanguage } from '../../src/text/language.js';

const CLEAR: Readonly<Record<string, readonly string[]>> = {
  zh: [
    '你好，今天天气很好。',
    '您的订单已经发货了。',
    '我想订一张去北京的票。',
    '请在 Amazon 上查看您的订单。',
  ],
  ja: [
    'こんにちは、元気ですか。',
    '東京駅はどこですか？',
    'ご注文の商品は発送されました。',
    '東京駅発',
    'カフェで会いましょう',
  ],
  ko: ['안녕하세요, 반갑습니다.', '주문하신 상품이 배송되었습니다.', '오늘 날씨가 좋네요.'],
  ru: ['Привет, как дела?', 'Ваш заказ уже отправлен.', 'Где находится вокзал?', 'Спасибо'],
  de: [
    'Wo ist der Bahnhof?',
    'Guten Morgen, wie geht es Ihnen?',
    'Ihre Bestellung wurde heute verschickt.',
    'Ich möchte einen Tisch für zwei Personen reservieren.',
    'Das Wetter ist heute sehr schön.',
    'Wir können Ihnen leider nicht helfen.',
    'Bitte rufen Sie uns morgen zwischen acht und zehn Uhr an.',
    'Der Zug nach München fährt um 15.30 Uhr vom Gleis 4 ab.',
    'Die App ist noch nicht im Store, aber wir arbeiten daran.',
  ],
  fr: [
    'Bonjour tout le monde, ça va ?',
    'Où est la gare, s’il vous plaît ?',
    "J'aime beaucoup le chocolat.",
    'Votre commande a été expédiée hier.',
    'Je ne comprends pas ce que vous dites.',
    'Il fait très beau aujourd’hui.',
    'Nous vous remercions de votre patience.',
    "C'est une bonne idée, merci beaucoup.",
    'Le train pour Paris part à huit heures du matin, mais il est en retard.',
  ],
  es: [
    '¿Dónde está la estación de tren?',
    'Me gusta mucho el vino.',
    'Su pedido ha sido enviado hoy.',
    'Buenos días, ¿cómo está usted?',
    'No entiendo lo que dice.',
    'Queremos reservar una mesa para dos personas.',
    'El tiempo es muy bueno hoy.',
  ],
  pt: [
    'Eu não falo inglês muito bem.',
    'Onde fica a estação de trem?',
    'O seu pedido foi enviado hoje.',
    'Bom dia, como você está?',
    'Obrigado pela sua paciência, até amanhã.',
    'Nós não podemos ajudar você agora.',
  ],
  it: [
    "Dov'è la stazione, per favore?",
    'Il suo ordine è stato spedito oggi.',
    'Buongiorno, come sta oggi?',
    'Non capisco che cosa vuole dire.',
    'Mi piace molto il caffè.',
    'Vorrei prenotare un tavolo per due persone.',
    'Grazie mille per la vostra pazienza, a domani.',
  ],
};

for (const [language, sentences] of Object.entries(CLEAR)) {
  test(`clear sentences in ${language} are named without doubt`, () => {
    for (const sentence of sentences) {
      const { courtesy: _, ...found } = identifyLanguage(sentence);
      assert.deepEqual(found, { language, confident: true }, sentence);
    }
  });
}

// Each would be spoken by an English voice, and none may be refused.
const ENGLISH = [
  'Hello',
  'Hello there, how are you today?',
  'Your order number 4711 has shipped and arrives on Monday.',
  'Café Olé',
  'We had lunch at Café Olé on Rue de la Paix in Paris.',
  'Dr. Müller',
  'Dr. Müller lives in Berlin',
  'Jürgen Klopp and Xabi Alonso met in Leverkusen.',
  'Crème brûlée and a café au lait, please.',
  'The film “À la recherche du temps perdu” is three hours long.',
  'Rio de Janeiro, São Paulo e Belo Horizonte',
  'El Camino de la Costa 12, La Jolla, California',
  'La Casa de las Flores',
  'Museo de Arte Moderno de Buenos Aires',
  'Leonardo da Vinci, Michelangelo and Raffaello Sanzio da Urbino',
  'Ludwig van Beethoven, Johann Sebastian Bach',
  'Universität der Künste Berlin, Hardenbergstraße 33',
  'Volkswagen AG, Berliner Ring 2, 38440 Wolfsburg',
  'He has a certain je ne sais quoi, you know.',
  'C’est la vie, my friend.',
  'Hasta la vista, baby!',
  'The word “Schadenfreude” has no English counterpart.',
  'My name is José María García Fernández.',
  'Order A4-B77, SKU 90-1123-XZ',
  'OK',
  '12, 15, 18 and 21',
  '3.14159',
  'iPhone 15 Pro Max 256 GB',
  'Spaghetti alle vongole, tiramisù and a bottle of Chianti Classico',
  'Die another day, said no man in a war.',
  'I saw the doctor; she said no, come on Tuesday.',
  'Angela Merkel, Gerhard Schröder, Helmut Kohl',
  'Please pronounce “entschuldigung” for me.',
  'São Tomé and Príncipe is an island nation.',
  'Visit the Champs-Élysées, the Louvre and Notre-Dame.',
  'Turn left on Avenida Paulista, then right on Rua Augusta.',
  'Les Misérables opens in New York.',
  'Cirque du Soleil, Las Vegas',
  'Give me ten minutes.',
  'Go to https://example.com/de/uber-uns now.',
  'Los Angeles, San Francisco, San Diego and Las Vegas',
  'De La Soul, Los Lobos, Die Ärzte',
  'The symbol π is a Greek letter, and привет means hello.',
  'Say 你好 to your grandmother.',
  'Error code E_CONN_RESET',
  'a b c d e f g',
  'Vitamin B, no sugar',
  'Piña colada or mojito?',
  'Il Divo and Andrea Bocelli sang “Con te partirò”.',
  'Hors d’oeuvres are served at 6 p.m. in the foyer.',
];

test('no English text, however foreign its words, is taken for another language', () => {
  for (const text of ENGLISH) {
    const found = identifyLanguage(text);
    assert.equal(found.confident, false, `${text}: ${found.language}`);
  }
});

// Greetings, courtesies and answers have no room for the small words of a sentence.
const SHORT: Readonly<Record<string, readonly string[]>> = {
  de: [
    'Guten Tag.',
    'Vielen Dank!',
    'Danke.',
    'Danke, Frau Dr. Meier.',
    'Guten Morgen!',
    'Gute Nacht.',
    'Guten Tag, Herr Müller.',
    'Auf Wiedersehen.',
    'Bis bald.',
    'Alles klar.',
    'Kein Problem.',
    "Wie geht's?",
    'Einen Moment, bitte.',
    'Tut mir leid.',
    'Nein, danke.',
    'Ja, bitte.',
    'Herzlichen Glückwunsch!',
    'Tschüss!',
  ],
  fr: [
    'Merci beaucoup.',
    'Merci.',
    'Bonjour madame.',
    'Bonjour, Monsieur Dupont.',
    'Comment ça va ?',
    "C'est la vie.",
    'C’est la vie.',
    'Au revoir.',
    'À bientôt !',
    'Bonne journée !',
    "D'accord.",
    'De rien.',
    'Bien sûr.',
    "Je t'aime.",
    'Excusez-moi.',
    'Salut, ça va ?',
    'Oui, oui.',
    'Joyeux Noël !',
    "S'il vous plaît.",
  ],
  es: [
    'Buenos días.',
    'Buenos Días',
    'Muchas gracias.',
    'Hola, ¿qué tal?',
    '¡Hola, Juan!',
    'Adiós.',
    'Hasta luego.',
    'Lo siento.',
    '¿Qué pasa?',
    '¿Quién es?',
    '¿Dónde está Juan?',
    '¡No!',
    '¡De nada!',
    'Buenas tardes, señor García.',
    'Por favor, señora.',
    'Mucho gusto.',
    'No, gracias.',
    '¡Feliz cumpleaños!',
  ],
  pt: [
    'Obrigado.',
    'Obrigada!',
    'Muito obrigado.',
    'Bom dia.',
    'Boa tarde.',
    'Boa noite.',
    'Olá, tudo bem?',
    'Até logo.',
    'Não, obrigado.',
    'Não sei.',
    'Com licença.',
    'Sim, senhor.',
    'Bom dia, senhor Silva.',
    'De nada, senhora.',
  ],
  it: [
    'Grazie mille.',
    'Grazie.',
    'Buongiorno.',
    'Buonasera, signora.',
    'Buona notte.',
    'Va bene.',
    'Mi dispiace.',
    'Come stai?',
    'Come va?',
    'A presto.',
    "D'accordo.",
    "Dov'è il bagno?",
    'Buongiorno, signor Rossi.',
    'Sì, grazie.',
    'Non capisco.',
  ],
};

for (const [language, texts] of Object.entries(SHORT)) {
  test(`a few words in ${language}, all known, are named without doubt`, () => {
    for (const text of texts) {
      const { courtesy: _, ...found } = identifyLanguage(text);
      assert.deepEqual(found, { language, confident: true }, text);
    }
  });
}

const SHORT_ENGLISH = [
  'Pain',
  'Chat',
  'Gift',
  'Die',
  'Sale',
  'No',
  'Hotel',
  'Taxi',
  'Son',
  'Come',
  'War',
  'Hat',
  'Van',
  'Era',
  'Nada',
  'Uno',
  'Note',
  'Encore!',
  'Bravo!',
  'Voilà!',
  'Gesundheit!',
  'Prost!',
  'Ciao',
  'Ciao ciao',
  'Adios amigos',
  'Hasta la vista',
  'Mañana',
  'Mamma mia',
  'Bon voyage',
  'Bon appétit',
  'Déjà vu',
  'It was déjà vu.',
  "That's déjà vu again.",
  "It was, c'est la vie, over.",
  'Merci, John, see you',
  'Merci, John',
  'Hola, Captain!',
  'Bonjour Tristesse',
  'Bonjour Tristesse is a novel',
  'San José',
  'El Niño',
  'Mi Casa',
  'Café Merci',
  'Hotel Danke',
  'Hola Taxi',
  'Sur La Table',
  'Sans serif',
  'Entre nous',
  'Chez Nous',
  'Mon Dieu',
  'Mon ami',
  'Madame Bovary',
  'Monsieur',
  'Herr Müller',
  'Don Juan',
  "Señor Frog's",
  'No, monsieur',
  'Lake Como',
  'Ella',
  'Mia',
  'No AI',
  'No EU',
  'VA, EST',
  'Mon',
  'Um, er',
  'Um, no',
  'Er, um, er, um',
  'Ha ha ha ha ha',
  'Ho ho ho ho',
  'Fa la la la la',
  'No van',
  'No hay',
  'No logo',
  'La llama',
  'En accord',
  'A vi bug in vi',
  '¡Olé!',
  '¡Three Amigos!',
  '¡Happy birthday!',
  'Das Auto',
  'Mein Kampf',
  'Über cool',
  'Der Spiegel',
  'Le Monde',
  'La Stampa',
  'El País',
  "S'more",
  "D'oh!",
  "T's and C's",
  "O'Neill",
  'Merci: merci.example.com',
  'Danke @anna',
  'Gracias A4',
];

test('no few English words, names or loans are taken for another language', () => {
  for (const text of SHORT_ENGLISH) {
    const found = identifyLanguage(text);
    assert.equal(found.confident, false, `${text}: ${found.language}`);
  }
});

test('a few words that two languages share are in doubt', () => {
  for (const text of ['De nada.', 'Por favor.', 'Sempre.', 'No.'])
    assert.equal(identifyLanguage(text).confident, false, text);
});

test('a text without words is never certain', () => {
  for (const text of ['', ' ', '...', '👍', '\uD800', '12:30', '+49 30 123456']) {
    assert.equal(identifyLanguage(text).confident, false, text);
  }
});

test('text in a script that no embedded voice speaks is named by its script', () => {
  assert.deepEqual(identifyLanguage('Καλημέρα, τι κάνεις;'), { language: 'el', confident: true });
  assert.deepEqual(identifyLanguage('مرحبا، كيف حالك؟'), { language: 'ar', confident: true });
});

test('a long text costs no more than its beginning', () => {
  const startedAt = performance.now();
  identifyLanguage('Das Wetter ist heute sehr schön. '.repeat(30_000));
  assert.ok(performance.now() - startedAt < 500);
});

// The samples are prompts, answers of assistants and mixed text. The floors are promised rates of correct
// answers.

const FILE = join(import.meta.dirname, '..', '..', '..', 'test', 'text', 'language.samples.tsv');
const LANGUAGES = ['de', 'en', 'es', 'fr', 'it', 'ja', 'ko', 'pt', 'ru', 'zh'];
const FEWEST = 20; // sentences per language
const GUESSED = 0.98; // share of all sentences
const GUESSED_EACH = 0.95; // share of the sentences of each language
const SURE_EACH = 0.8; // likewise without doubt; English is never beyond it
const DECIDED_EACH = 0.9; // likewise without doubt, or with a clear lead of the identifier
const GUESSED_CUT = 0.85; // share of the sentences of each language that are cut to their first three words

const samples = readFileSync(FILE, 'utf8')
  .trim()
  .split('\n')
  .map((line) => line.split('\t'))
  .map(([language = '', text = '']) => ({ language, text, found: identifyLanguage(text) }));

function of(language: string): typeof samples {
  return samples.filter((sample) => sample.language === language);
}

function share(list: typeof samples, is: (sample: (typeof samples)[number]) => boolean): number {
  return list.filter(is).length / list.length;
}

function missed(list: typeof samples, is: (sample: (typeof samples)[number]) => boolean): string {
  return list
    .filter((sample) => !is(sample))
    .map(({ text, found }) => `${found.language} ${text}`)
    .join('\n');
}

test('the language of a sentence is guessed right at least 98 times of 100', () => {
  const right = ({ language, found }: (typeof samples)[number]): boolean => found.language === language;
  assert.deepEqual([...new Set(samples.map(({ language }) => language))].toSorted(), LANGUAGES);
  assert.ok(share(samples, right) >= GUESSED, missed(samples, right));
  for (const language of LANGUAGES) {
    assert.ok(of(language).length >= FEWEST, language);
    assert.ok(share(of(language), right) >= GUESSED_EACH, missed(of(language), right));
  }
});

test('most sentences are named without doubt, and none wrongly', () => {
  for (const { language, text, found } of samples) {
    assert.ok(!found.confident || found.language === language, `${text}: ${found.language}`);
  }
  for (const language of LANGUAGES.filter((tag) => tag !== 'en')) {
    const sure = ({ found }: (typeof samples)[number]): boolean => found.confident;
    assert.ok(share(of(language), sure) >= SURE_EACH, missed(of(language), sure));
  }
});

test('where nothing is proved, the identifier leads in nearly all sentences, and never wrongly', () => {
  const decided = ({ found }: (typeof samples)[number]): boolean => found.confident || found.leads === true;
  for (const language of LANGUAGES) {
    assert.ok(share(of(language), decided) >= DECIDED_EACH, missed(of(language), decided));
  }
  const wrong = samples.filter((one) => decided(one) && one.found.language !== one.language);
  const kanji = wrong.filter(({ language, text }) => language === 'ja' && /^\p{Script=Han}+$/u.test(text));
  assert.deepEqual(wrong, kanji);
  assert.ok(
    kanji.length <= 2,
    missed(kanji, () => false),
  );
});

test('the first three words of a sentence show its language', () => {
  for (const language of LANGUAGES.filter((tag) => !['zh', 'ja'].includes(tag))) {
    const cut = of(language).map(({ text }) => text.split(/\s+/u).slice(0, 3).join(' '));
    const right = cut.filter((text) => identifyLanguage(text).language === language);
    const others = cut.filter((text) => !right.includes(text));
    assert.ok(right.length >= cut.length * GUESSED_CUT, others.join('\n'));
  }
});

test('names and loans in an English text give no other language a lead', () => {
  const led = [...ENGLISH, ...SHORT_ENGLISH].filter((text) => {
    const { language, leads = false } = identifyLanguage(text);
    return leads && language !== 'en';
  });
  assert.ok(led.length <= 3, led.join('\n'));
});

// The characters decide where a text has neither kana nor an alphabet.
for (const [text, language, confident] of [
  ['残疾人专用通道', 'zh', true],
  ['残酷的现实', 'zh', true],
  ['浅谈健康饮食', 'zh', true],
  ['由浅入深', 'zh', false],
  ['營業時間變更', 'zh', true],
  ['請問您的學號', 'zh', true],
  ['东京大学', 'zh', true],
  ['東京大学', 'ja', true],
  ['営業時間', 'ja', true],
  ['予約完了', 'ja', true],
  ['新宿駅東口', 'ja', true],
  ['気象情報', 'ja', true],
  ['図書館', 'ja', true],
  ['経済産業省', 'ja', true],
  ['山本', 'zh', false],
] as const) {
  test(`${text} is ${confident ? 'surely' : 'perhaps'} ${language}`, () => {
    const found = identifyLanguage(text);
    assert.deepEqual([found.language, found.confident], [language, confident]);
    assert.equal(found.leads ?? false, !confident);
  });
}
