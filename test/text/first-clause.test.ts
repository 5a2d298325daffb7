// Speech of a text in tokens may begin with the first clause of a sentence that has not arrived whole.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../fakes/properties.js';
import { SentenceStream, type Sentence } from '../../src/text/sentences.js';
import { continuedForm, spokenForm } from '../../src/text/spoken-form.js';
import { behavioursOf, languagesWithCases } from './normalize/case-files.js';

function pieces(
  tokens: Iterable<string>,
  mayBegin = (_clause: string) => true,
  language?: string,
): Sentence[] {
  const stream = new SentenceStream({ mayBegin, language });
  return [...Array.from(tokens, (token) => stream.push(token)).flat(), ...stream.end()];
}

/** The pieces of a text that arrives character by character. */
function growing(text: string): string[] {
  return pieces(text).map((piece) => piece.text);
}

function sentences(text: string): string[] {
  const stream = new SentenceStream();
  return [...stream.push(text), ...stream.end()].map((piece) => piece.text);
}

const lettersOf = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, '');

/** "a | b" stands for the text "a b" and its pieces; "a || b" for "ab". */
function expectCut(written: string): void {
  const expected = written.split(/ \|\|? /);
  assert.deepEqual(growing(written.replaceAll(' || ', '').replaceAll(' | ', ' ')), expected);
}

test('speech begins with the first clause, and goes on in whole sentences', () => {
  for (const written of [
    'If you want to change your order, | please say so now, because it leaves today. | Good, then it stays, as you wish.',
    'Your order has shipped; | it should arrive on Tuesday morning, I think.',
    'Here is what you need to bring: | your passport, a photo and the form.',
    'The new plan — the one you asked about — | costs ten dollars more a month.',
    'Wenn Sie Ihre Bestellung ändern möchten, | sagen Sie es bitte gleich, denn sie geht heute ab.',
    'Si vous voulez changer votre commande, | dites-le maintenant, elle part ce soir.',
    'Если вы хотите изменить свой заказ, | скажите это сейчас, он уходит сегодня.',
  ]) {
    expectCut(written);
  }
});

test('Chinese, Japanese and Korean begin with their first clause', () => {
  expectCut('如果您想要更改订单， || 请您现在就告诉我们，因为它今天发货。 || 谢谢您，再见。');
  expectCut('ご注文を変更されたい場合は、 || 今すぐお知らせください、本日発送です。');
  expectCut('주문을 변경하고 싶으시면, | 지금 말씀해 주세요, 오늘 출발합니다.');
});

test('a beginning that is too short to sound by itself is no piece', () => {
  for (const written of ['Well, I can do that for you now.', 'Yes, sir, I will look at once.'])
    expectCut(written);
  expectCut('Well, I have looked at your order, | and it left our house this morning.');
});

test('no number, time, date, address, abbreviation, link or quotation is cut', () => {
  for (const written of [
    'The total of it comes to 1,000,000 dollars and 3.5 cents today.',
    'The train to the city leaves here at 10:30 and at 11:45 tomorrow.',
    'It is open from about the hour of 10 – 12 on every day of the week.',
    'Your appointment is on the day of March 3rd, 1987 at our main office.',
    'Please send the parcel to my house in Austin, TX 78701 tomorrow.',
    'You can bring some of the fruit e.g., apples or pears or plums for us.',
    'Please go and look at https://example.com/a,b;c:d—e/f?g=h,i for it all.',
    'Please write a letter to first,last@example.com about it this week.',
    'He said to us “I came here, I saw it all, and I conquered it” and left.',
    "He said to us 'I came here, I saw it all, and I conquered it' and left.",
    'Sie sagte „ich kam hierher, ich sah alles, und ich siegte hier“ und ging.',
    '他对我们说“如果明天下雨的话，我们大家就不去了吧”然后就走了。',
    '「明日は雨が降るらしいので、行きません」と彼は言った。',
    'Call the function `f(one, two, three, four, five)` with three numbers.',
  ]) {
    expectCut(written);
  }
});

test('an apostrophe, or inches, are no quotation', () => {
  expectCut("It's what you'd call the drivers' meeting, | and it's held at nine o'clock.");
  expectCut('The new screen is 27" wide and so heavy, | so you will need a strong table.');
});

test('a sentence that has arrived whole is not cut, whatever follows it', () => {
  const text = 'If you want to change your order, please say so now. It leaves to';
  assert.deepEqual(
    pieces([text, 'day.']).map((piece) => piece.text),
    ['If you want to change your order, please say so now.', 'It leaves today.'],
  );
});

test('a text that has arrived whole is not cut, even if its sentence has no certain end', () => {
  const stream = new SentenceStream({ mayBegin: () => true });
  stream.arrivesWhole();
  assert.deepEqual(stream.push('If you want to change your order, please say so now'), []);
  assert.equal(stream.end().length, 1);
});

test('a long beginning without a clause mark is cut between two plain words', () => {
  const words =
    'the blue train that we all know leaves from the old platform of the station near the river '.repeat(3);
  const [first = '', rest = ''] = growing(`${words}today.`);
  assert.ok(first.length >= 60 && first.length <= 120, first);
  assert.equal(`${first} ${rest}`.startsWith(words.slice(0, 200)), true);
  const [chinese = ''] = growing(
    '我们公司明天早上将会派遣一位非常有经验的技术人员到您的家里去检查并且修理您的那台旧的洗衣机然后再给您打电话并且告诉您修理需要多少钱。',
  );
  assert.ok(chinese.length >= 20 && chinese.length <= 40, chinese);
  assert.ok(/^\p{Script=Han}+$/u.test(chinese));
});

test('a long beginning with no safe place waits for its sentence', () => {
  const names =
    'Anna Berta Carla Doris Elena Frida Greta Hanna Irena Julia Klara Laura Maria Norma Paula Rosa Sonja Tina';
  expectCut(`${names} Ursula Vera Wanda.`);
});

test('the piece after a first clause says that it continues it, and all places are those of the text', () => {
  const text = '  If you want to change your order, please say so today. Thanks.';
  const found = pieces(text);
  assert.deepEqual(
    found.map(({ continues }) => continues),
    [undefined, true, undefined],
  );
  assert.equal(found[1]?.beginning, 'If you want to change your order, ');
  for (const { text: said, start, end } of found) assert.equal(text.slice(start, end), said);
});

test('a clause that is refused waits for the next one', () => {
  const refusals: string[] = [];
  const found = pieces(
    'When it rains in the early morning, the streets are wet and cold, and people stay.',
    (clause) => {
      refusals.push(clause);
      return clause.length > 40;
    },
  );
  assert.deepEqual(refusals, [
    'When it rains in the early morning,',
    'When it rains in the early morning, the streets are wet and cold,',
  ]);
  assert.equal(found[0]?.text, refusals[1]);
});

const SPLIT = [
  'Of course I can help you, 😀 but it costs 1,000.50 € at 10:30 with Dr. Lee, e.g. at https://a.example/b,c. And then, if you like it here, we go 👨‍👩‍👧‍👦 home.',
  '如果您想要更改订单，请您在10：30之前告诉我们𠮷，因为它今天发货。谢谢您，再见。',
];

test('a text that is split into two tokens anywhere is spoken whole, with the same sentences', () => {
  for (const text of SPLIT) {
    const whole = sentences(text);
    const [clause] = growing(text);
    for (let at = 0; at <= text.length; at++) {
      const found = pieces([text.slice(0, at), text.slice(at)]).map((piece) => piece.text);
      const isCut = found.length > whole.length;
      if (isCut) assert.equal(found[0], clause, `at ${at}`);
      const joint = /[，、]$/u.test(found[0] ?? '') ? '' : ' ';
      const joined = isCut ? [found.slice(0, 2).join(joint), ...found.slice(2)] : found;
      assert.deepEqual(joined, whole, `at ${at}`);
    }
  }
});

// prettier-ignore
const PARTS = [
  'If you want to change your order', 'please say so now', 'Hello', 'Dr', 'p.m', 'the', 'He', '3.14', '1,000', '10:30', 'e.g', 'example.com',
  '.', '.', '!', '?', '…', '。', ',', ',', ', ', ', ', ';', ': ', ' — ', '、', '，', '"', '”', '“', '(', ')', '「', '」', "'",
  ' ', ' ', ' ', ' ', '\n', '\n\n', '我们明天早上', 'ので', 'café', '👨‍👩‍👧‍👦', '\uD83D', '\uDE00',
];

test('however a text arrives, every letter is spoken once, and only the first sentence is cut, once', () => {
  const anyText = fc.array(fc.constantFrom(...PARTS), { maxLength: 30 }).map((parts) => parts.join(''));
  const anyLengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(anyText, anyLengths, (text, lengths) => {
      const tokens: string[] = [];
      for (let at = 0, turn = 0; at < text.length; turn++) {
        const length = lengths[turn % lengths.length] ?? 1;
        tokens.push(text.slice(at, at + length));
        at += length;
      }
      const found = pieces(tokens);
      const whole = sentences(text);
      assert.equal(lettersOf(found.map((piece) => piece.text).join('')), lettersOf(whole.join('')));
      const begun = found.filter(({ continues }) => continues !== true).map((piece) => piece.text);
      assert.ok(found.length - begun.length <= 1);
      if (text.length > 300) return;
      // The rest of a cut sentence is no piece if nothing in it is spoken.
      assert.ok((whole[0] ?? '').startsWith(begun[0] ?? ''));
      assert.deepEqual(begun.slice(1), whole.slice(1));
    }),
    { numRuns: 2000 },
  );
});

/** A clause to stand before a case, and one to stand behind it. */
const CLAUSES: Readonly<Record<string, readonly [before: string, after: string]>> = {
  de: ['Wenn Sie Ihre Bestellung heute ändern möchten, ', ', und dann rufen wir Sie morgen wieder an.'],
  en: ['If you would like to change your order today, ', ', and then we will call you back tomorrow.'],
  es: ['Si usted quiere cambiar su pedido de hoy, ', ', y luego lo llamamos mañana por la tarde.'],
  fr: ['Si vous voulez changer votre commande du jour, ', ', et puis nous vous rappelons demain matin.'],
  it: ['Se volete cambiare il vostro ordine di oggi, ', ', e poi vi richiamiamo domani mattina.'],
  ja: ['ご注文を変更されたい場合は、', '、明日の朝にまたお電話いたします。'],
  ko: ['오늘 주문을 변경하고 싶으시면, ', ', 그리고 내일 아침에 다시 전화하겠습니다.'],
  pt: ['Se quiser alterar a sua encomenda de hoje, ', ', e depois ligamos de novo amanhã de manhã.'],
  ru: ['Если вы хотите изменить свой сегодняшний заказ, ', ', а потом мы вам завтра перезвоним.'],
  zh: ['今天早上在公司，', '，明天早上再去公司上班。'],
};

function wordsOf(found: readonly Sentence[], language: string): string {
  const words = found.map(({ text, beginning }) =>
    beginning === undefined
      ? spokenForm(text, { language }).text
      : continuedForm(beginning, text, { language }).text,
  );
  return words.join('').replaceAll(/\s/g, '');
}

/** The pieces of a text for each place at which its first clause may end. */
function* cutsOf(
  text: string,
  language?: string,
  isAllowed = (_clause: string) => true,
): Generator<Sentence[]> {
  for (let place = 0; ; place++) {
    let offered = 0;
    const mayBegin = (clause: string) => isAllowed(clause) && offered++ === place;
    const found = pieces(text, mayBegin, language);
    if (found.some(({ continues }) => continues)) yield found;
    if (offered <= place) return;
  }
}

/** Each case alone, within clauses of its language, and with another case behind a comma. */
function* textsOf(tag: string): Generator<string> {
  const [before = '', after = ''] = CLAUSES[tag] ?? [];
  const cases = behavioursOf(tag).flatMap((behaviour) => behaviour.cases.map(({ written }) => written));
  const open = cases.map((written) => written.replace(/[.。!?！？]\s*$/u, ''));
  for (const [index, written] of cases.entries()) {
    const own = open[index] ?? '';
    yield* [written, before + written, own + after, before + own + after];
    yield own + (UNSPACED.has(tag) ? '，' : ', ') + (cases[(index + 7) % cases.length] ?? '');
  }
}

const UNSPACED = new Set(['ja', 'zh']);

for (const tag of languagesWithCases()) {
  test(`${tag}: wherever the first clause ends, it and the rest are spoken in the words of the whole text`, () => {
    let cut = 0;
    for (const text of textsOf(tag)) {
      let words: string | undefined;
      for (const found of cutsOf(text, tag)) {
        cut++;
        if (words === undefined) {
          const whole = new SentenceStream({ language: tag });
          words = wordsOf([...whole.push(text), ...whole.end()], tag);
        }
        assert.equal(wordsOf(found, tag), words, found[0]?.text ?? '');
      }
    }
    assert.ok(cut > behavioursOf(tag).length * 10, `${cut} cuts`);
  });
}

for (const [language, text] of [
  ['en', 'Press *1 to hear it again for free, or *press* another key of it.'],
  ['ko', '오늘 상담이 끝난 뒤에는 #을, 취소는 *을 눌러 주세요.'],
  ['zh', '打开report_2024.pdf文件，營收12,345萬元，佔50%。'],
] as const) {
  test(`${text} does not begin with a clause that what follows may change`, () => {
    const clauses = [...cutsOf(text, language)].map(([clause]) => clause?.text);
    assert.ok(!clauses.includes(text.slice(0, text.search(/[,，]/u) + 1)), clauses.join('\n'));
  });
}
