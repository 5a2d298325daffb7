// The judgement of a caller's text at a pause, and of a text over a voice, in each language.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completenessOf, isBackchannel } from '../../src/text/turn-end.js';

interface Cases {
  readonly finished: readonly string[];
  readonly unfinished: readonly string[];
  /** The silence of the settings decides. */
  readonly open: readonly string[];
  readonly backchannels: readonly string[];
  /** Short texts that stop a voice. */
  readonly words: readonly string[];
}

// prettier-ignore
const CASES: Readonly<Record<string, Cases>> = {
  en: {
    finished: ['Yes.', 'No', 'no, thanks', 'Yes, please.', "That's right.", 'I need a taxi to the airport.', 'Where are you from?',
      'I lost my card. Yes.', 'It costs 20 dollars.', 'We meet at 5.', 'I have lived here since 2019.', 'I know where it is.'],
    unfinished: ['My number is', 'My number is 0171.', 'zero one seven', 'Two.', 'Zero one, seven,', 'It is 555-123', '+49 171', 'double seven',
      'I would like a taxi and.', 'I want to go to', 'um', 'Well, I, um.', 'My name is S M I', 'S-M-I', 'S. M. I.', 'B as in Bravo.',
      '12 Baker Street.', 'john.smith@', 'john dot', "It's the", 'I was thinking...', 'Hold on.', 'My name is.', 'Twenty-one.'],
    open: ['Berlin', 'Tomorrow.', 'the blue one', 'Agent.', 'a taxi to the airport'],
    backchannels: ['Mhm.', 'uh-huh', 'Uh huh.', 'Okay.', 'okay, okay', 'Yeah.', 'Right.', 'I see.', 'Yes, I see.', 'Mm-hmm.', 'Oh, okay.', 'Hmm'],
    words: ['Stop.', 'No.', 'Yes.', 'Agent.', 'Wait.', 'Okay, stop.', 'Hello?', 'two', 'What?', 'Cancel'],
  },
  de: {
    finished: ['Ja.', 'Nein', 'Nein, danke.', 'Ja, bitte.', 'Das stimmt.', 'Ich brauche ein Taxi.', 'Wo sind Sie?', 'Ich rufe Sie morgen an.', 'Wir kommen um 5.'],
    unfinished: ['Meine Nummer ist', 'Meine Nummer ist 0171.', 'null eins sieben', 'einundzwanzig', 'Ich hätte gern ein Taxi und.', 'Ich möchte zum', 'äh',
      'Ja, ähm.', 'Ich heiße', 'B wie Berta', 'M, E, I', 'In der Hauptstraße', 'Hauptstraße 12.', 'Einen Moment.', 'info@'],
    open: ['Berlin', 'Morgen.'],
    backchannels: ['Mhm.', 'Ja.', 'ja, ja', 'Okay.', 'Genau.', 'Ach so.', 'Alles klar.', 'hm'],
    words: ['Stopp.', 'Nein.', 'Moment.', 'Mitarbeiter.', 'Halt', 'Ja, aber'],
  },
  fr: {
    finished: ['Oui.', 'Non', 'Non, merci.', "C'est ça.", "Je voudrais un taxi pour l'aéroport.", 'Vous êtes où ?', 'On se voit à 5.'],
    unfinished: ['Mon numéro est', 'Mon numéro est le 06.', 'zéro six douze', 'quatre-vingt-dix', 'Je voudrais un taxi et.', 'Je vais à', 'euh', 'Oui, euh.',
      'B comme Bernard', 'D U P', '12 rue de la Paix.', 'jean point', 'Un instant.', "Je m'appelle"],
    open: ['Paris', 'Demain.'],
    backchannels: ['Mhm.', "D'accord.", 'Ouais.', 'ok', 'Oui, oui.', 'Je vois.', 'hum'],
    words: ['Stop.', 'Non.', 'Attendez.', 'Agent', 'Arrêtez'],
  },
  es: {
    finished: ['Sí.', 'No', 'No, gracias.', 'Así es.', 'Necesito un taxi para mañana.', '¿Dónde están?', 'Nos vemos a las 5.'],
    unfinished: ['Mi número es', 'Mi número es el 600.', 'cero seis doce', 'veintidós', 'Quiero un taxi y.', 'Quiero ir a', 'eh', 'B de Barcelona', 'G A R',
      'Calle Mayor', 'Vivo en la calle Mayor 12.', 'juan arroba', 'Un momento.', 'Me llamo'],
    open: ['Madrid', 'Mañana.'],
    backchannels: ['Mhm.', 'Ajá.', 'Vale, vale.', 'ok', 'Claro.', 'Ya veo.'],
    words: ['Para.', 'No.', 'Espere.', 'Agente'],
  },
  it: {
    finished: ['Sì.', 'No', 'No, grazie.', 'Va bene.', 'Vorrei prenotare un taxi.', 'Dove siete?', 'Ci vediamo alle 5.'],
    unfinished: ['Il mio numero è', 'Il mio numero è 333.', 'tre tre tre', 'ventidue', 'Vorrei un taxi e.', 'Vorrei andare a', 'ehm', 'B come Bologna', 'R O S',
      'Via Roma', 'via Garibaldi 12.', 'mario chiocciola', 'Un attimo.', 'Mi chiamo'],
    open: ['Roma', 'Domani.'],
    backchannels: ['Mhm.', 'Ok.', 'Ho capito.', 'Certo.', 'eh sì'],
    words: ['Basta.', 'No.', 'Aspetti.', 'Operatore'],
  },
  pt: {
    finished: ['Sim.', 'Não', 'Não, obrigado.', 'Isso mesmo.', 'Preciso de um táxi amanhã.', 'Onde vocês estão?', 'Chego às 5.', 'É.'],
    unfinished: ['Meu número é', 'Meu número é 119.', 'nove um dois', 'vinte e dois', 'Quero um táxi e.', 'Quero ir para', 'hum', 'B de Bola', 'S I L',
      'Rua Augusta', 'rua das Flores 12.', 'joão arroba', 'Um momento.', 'Me chamo'],
    open: ['Lisboa', 'Amanhã.'],
    backchannels: ['Uhum.', 'Aham', 'Tá bom.', 'ok', 'Entendi.', 'Certo.'],
    words: ['Pare.', 'Não.', 'Espere.', 'Atendente'],
  },
  nl: {
    finished: ['Ja.', 'Nee', 'Nee, dank u.', 'Dat klopt.', 'Ik heb een taxi nodig.', 'Waar bent u?', 'Ik kom om 5.', 'Dank u.'],
    unfinished: ['Mijn nummer is 06.', 'nul zes twaalf', 'eenentwintig', 'Ik wil graag een taxi en.', 'Ik wil naar', 'eh', 'B van Bernard', 'J A N',
      'Kalverstraat', 'Kalverstraat 12.', 'jan apenstaartje', 'Een moment.', 'Ik heet'],
    open: ['Utrecht', 'Morgen.'],
    backchannels: ['Mhm.', 'Ja, ja.', 'Oké.', 'Precies.', 'hm'],
    words: ['Stop.', 'Nee.', 'Wacht.', 'Medewerker'],
  },
  ru: {
    finished: ['Да.', 'Нет', 'Нет, спасибо.', 'Правильно.', 'Мне нужно такси на завтра.', 'Где вы находитесь?', 'Я приеду к 5.'],
    unfinished: ['Мой номер', 'Мой номер 916.', 'девять один шесть', 'двадцать два', 'Мне нужно такси и.', 'Я хочу поехать в', 'э', 'Б как Борис', 'И В Н',
      'улица Ленина', 'улица Ленина 12.', 'иван собака', 'Минутку.', 'Меня зовут'],
    open: ['Москва', 'Завтра.'],
    backchannels: ['Угу.', 'Ага', 'Да, да.', 'Понятно.', 'хорошо'],
    words: ['Стоп.', 'Нет.', 'Подождите.', 'Оператор'],
  },
  zh: {
    finished: ['是的。', '不是', '好的。', '对。', '我要订一辆出租车。', '你们在哪里？'],
    unfinished: ['我的号码是', '我的号码是138。', '一三八', '幺三八零', '我想要一辆出租车，然后', '我想去', '呃', '我叫', '中山路', '中山路12号', '等一下。', 'A B'],
    open: ['北京', '明天。'],
    backchannels: ['嗯。', '嗯嗯', '好的。', '对对', '哦', '明白了。'],
    words: ['停。', '不。', '等等', '人工'],
  },
  ja: {
    finished: ['はい。', 'いいえ', 'はい、お願いします。', 'タクシーをお願いしたいです。', 'どこにありますか？'],
    unfinished: ['番号は', '番号は090です。090', '〇三一二', 'タクシーを', '明日から', 'えーと', '私の名前は', '銀座3丁目', 'ちょっと待って', 'A B'],
    open: ['東京', '明日。'],
    backchannels: ['はい。', 'うん、うん', 'ええ', 'なるほど。', 'そうですか。'],
    words: ['やめて。', 'いいえ。', '待って', 'オペレーター'],
  },
  ko: {
    finished: ['네.', '아니요', '네, 부탁드립니다.', '택시를 불러 주세요.', '어디에 있어요?'],
    unfinished: ['제 번호는', '제 번호는 010.', '공일공', '택시를', '서울에서', '음', '제 이름은', '강남대로 12', '잠깐만', 'A B', '그리고'],
    open: ['서울', '내일.'],
    backchannels: ['네.', '네, 네', '응', '그렇군요.', '알겠습니다.'],
    words: ['그만.', '아니요.', '잠깐만요', '상담원'],
  },
};

for (const [language, { finished, unfinished, open, backchannels, words }] of Object.entries(CASES)) {
  const judge = (text: string) => completenessOf(text, language);
  test(`${language}: complete sentences and answers are finished`, () => {
    for (const text of finished) assert.equal(judge(text), 'finished', text);
  });

  test(`${language}: numbers, spelling, addresses, conjunctions and thinking sounds are unfinished`, () => {
    for (const text of unfinished) assert.equal(judge(text), 'unfinished', text);
  });

  test(`${language}: other texts leave it to the silence of the settings`, () => {
    for (const text of open) assert.equal(judge(text), undefined, text);
  });

  test(`${language}: back-channels are told from words that stop a voice`, () => {
    for (const text of backchannels) assert.equal(isBackchannel(text, language), true, text);
    for (const text of words) assert.equal(isBackchannel(text, language), false, text);
  });
}

test('the region of a language tag does not matter, and Cantonese has the words of Chinese', () => {
  assert.equal(completenessOf('Meine Nummer ist', 'de-AT'), 'unfinished');
  assert.equal(isBackchannel('Ja.', 'de_CH'), true);
  assert.equal(completenessOf('我想去', 'yue'), 'unfinished');
});

test('the language of a text is found if nobody states it', () => {
  assert.equal(completenessOf('Ich hätte gern ein Taxi für morgen und', undefined), 'unfinished');
  assert.equal(completenessOf('我的号码是', undefined), 'unfinished');
  assert.equal(isBackchannel('Ja.', undefined), true);
  assert.equal(isBackchannel('Stop.', undefined), false);
});

test('in a language without tables only marks, digits and spelling decide', () => {
  assert.equal(completenessOf('Numerem on 600', 'pl'), 'unfinished');
  assert.equal(completenessOf('Gdzie to jest?', 'pl'), 'finished');
  assert.equal(completenessOf('To jest bardzo dobre.', 'pl'), undefined);
  assert.equal(isBackchannel('mhm', 'pl'), true);
});

test('a text without words shows nothing', () => {
  for (const text of ['', '  ', '...', '。']) {
    assert.equal(completenessOf(text, 'en'), undefined, text);
    assert.equal(isBackchannel(text, 'en'), false, text);
  }
});

test('only the end of a long text decides, in bounded time', () => {
  const long = 'a '.repeat(200_000);
  assert.equal(completenessOf(`${long} my number is 0171.`, 'en'), 'unfinished');
  assert.equal(isBackchannel(`${long} stop`, 'en'), false);
});
