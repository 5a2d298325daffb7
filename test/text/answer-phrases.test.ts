import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerPhraseOf } from '../../src/text/answer-phrases.js';
import { GREETINGS } from '../call/answer-greetings.js';

for (const [language, { hello, machine, screening }] of Object.entries(GREETINGS)) {
  test(`greetings in ${language}: what people say is no machine, what screening services ask is known`, () => {
    for (const text of hello) assert.ok([undefined, 'person'].includes(answerPhraseOf(text)), text);
    assert.ok(hello.filter((text) => answerPhraseOf(text) === 'person').length * 2 > hello.length);
    for (const sentences of screening)
      assert.equal(answerPhraseOf(sentences.join(' ')), 'screening', sentences.join(' '));
    const known = machine.filter((sentences) => answerPhraseOf(sentences.join(' ')) === 'voicemail');
    assert.ok(known.length * 3 >= machine.length * 2, `${known.length} of ${machine.length}`);
  });
}

for (const [text, kind] of [
  ['', undefined],
  ['...', undefined],
  ['Hello?', 'person'],
  ['HELLO', 'person'],
  ["Hello, you've reached Anna", undefined],
  ["Hi, you've reached Anna. I can’t take your call right now", 'voicemail'],
  ['Please leave your name after the tone.', 'voicemail'],
  ['Acme Dental, this is Anna speaking.', 'person'],
  ['Blue Lake Hotel, how may I help you today?', 'person'],
  ['How may I help you is our motto', undefined],
  ['Thanks. Please stay on the line.', 'waiting'],
  ["If you record your name and reason for calling, I'll see if this person is available.", 'screening'],
  ['Bitte hinterlassen Sie eine Nachricht', 'voicemail'],
  ['The mailboxes of our town', undefined],
  [`${'a '.repeat(2000)}voicemail`, undefined],
] as const) {
  test(`${JSON.stringify(text.slice(0, 60))} is ${kind ?? 'nothing in particular'}`, () => {
    assert.equal(answerPhraseOf(text), kind);
  });
}
