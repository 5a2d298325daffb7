import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SpeechRouting } from '../../src/engines/routing.js';
import { ParleyError } from '../../src/errors.js';
import { isStatedLanguage, tagOfStated } from '../../src/speaking/language-plan.js';
import { atOnce } from '../../src/speaking/text-source.js';
import { VoicePlan } from '../../src/speaking/voice-plan.js';
import { ScriptedEngine } from '../fakes/engines.js';

/** Answers with the language it was asked for; `xx` where none was. Speaks all but Italian. */
const routing: SpeechRouting = {
  resolve: ({ voice = 'any', language = 'xx' }) => {
    if (language === 'it') throw new ParleyError('LANGUAGE_UNAVAILABLE', 'no Italian here');
    return { engine: new ScriptedEngine(), voice, language };
  },
  voices: () => Promise.resolve([]),
};

function languages(texts: readonly string[], language?: string): string[] {
  const plan = new VoicePlan(routing, language === undefined ? {} : { language });
  return atOnce(plan.whole(texts.map((text) => ({ text })))).map(({ voice }) => voice.language);
}

test('English takes the default voice', () => {
  assert.deepEqual(languages(['How can I help you today?', 'Yes.']), ['xx', 'xx']);
});

test('a language that was stated wins over every guess', () => {
  assert.deepEqual(languages(['Bonjour tout le monde, comment allez-vous ?'], 'de'), ['de']);
});

test('a sentence that is clearly foreign is spoken by its own language, and unclear ones follow it', () => {
  assert.deepEqual(languages(['Votre commande est partie ce matin, elle arrive mardi.', 'Oui.', 'Paris.']), [
    'fr',
    'fr',
    'fr',
  ]);
});

test('an unclear beginning of a text is part of what follows it', () => {
  assert.deepEqual(languages(['OK.', 'Berlin.', 'Ich habe das gefunden und schicke es Ihnen.']), [
    'de',
    'de',
    'de',
  ]);
  assert.deepEqual(
    languages(['OK.', 'I found it and will send it over.', 'Ich schicke es Ihnen heute noch.']),
    ['xx', 'xx', 'de'],
  );
});

test('a whole sentence of English comes back to the default voice', () => {
  assert.deepEqual(
    languages([
      'Votre commande est partie ce matin, elle arrive mardi.',
      'Is there anything else I can do for you?',
    ]),
    ['fr', 'xx'],
  );
});

test('a courtesy alone is spoken by its own language, one before English is part of it', () => {
  assert.deepEqual(languages(['Merci beaucoup.']), ['fr']);
  assert.deepEqual(languages(['Hola!', 'How can I help you today?']), ['xx', 'xx']);
});

test('a clearly foreign sentence that nobody speaks refuses the whole text', () => {
  assert.throws(() => languages(['One moment.', 'Il suo ordine è partito questa mattina.']), {
    code: 'LANGUAGE_UNAVAILABLE',
  });
});

test('sentences that arrive are judged as they come', async () => {
  const plan = new VoicePlan(routing, {});
  async function* arriving() {
    yield { text: 'Hola!', isOnly: false };
    yield { text: 'Votre commande est partie ce matin, elle arrive mardi.', isOnly: false };
  }
  const heard: string[] = [];
  for await (const { voice } of plan.arriving(arriving())) heard.push(voice.language);
  assert.deepEqual(heard, ['xx', 'fr']);
});

test('a language is stated by its tag, its English name, or as what the text turns out to be', () => {
  for (const [stated, tag] of [
    ['en', 'en'],
    ['pt-BR', 'pt-BR'],
    ['zh_CN', 'zh_CN'],
    ['English', 'en'],
    ['chinese', 'zh'],
    ['Hebrew', 'he'],
    ['Auto', undefined],
    ['auto', undefined],
    ['Klingonish', 'Klingonish'],
  ] as const) {
    assert.equal(isStatedLanguage(stated), true, stated);
    assert.equal(tagOfStated(stated), tag, stated);
  }
  for (const stated of ['', 'e', 'en US', '../..', `en${'-abcdefgh'.repeat(4)}`, 'x'.repeat(21)]) {
    assert.equal(isStatedLanguage(stated), false, stated);
  }
});
