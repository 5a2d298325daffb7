import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import type { SpeechHint } from '../../src/engines/engine.js';
import { EspeakInput, phonemesOf } from '../../src/engines/espeak/espeak-input.js';
import { ESPEAK_PACKAGE, espeakEngine, installedPackage } from '../../src/engines/espeak/espeak.js';
import { readAll } from './read-ring.js';

const packageFile = installedPackage(ESPEAK_PACKAGE) ?? '';

test('IPA is written with the names that espeak has for phonemes', () => {
  assert.equal(phonemesOf('təˈmɑːtoʊ'), "t@'mA:toU");
  assert.equal(phonemesOf('tʃiːz'), 'tSi:z');
  assert.equal(phonemesOf('bɔ̃.ʒuʁ'), 'bO~Zur');
  assert.equal(phonemesOf('ɓa'), undefined);
  assert.equal(phonemesOf(' '), undefined);
});

test('hints become markup of espeak, and nothing of the text does', () => {
  const hints: SpeechHint[] = [
    { start: 5, end: 11, kind: 'phoneme', value: 'tɑ' },
    { start: 0, end: 16, kind: 'pitch', value: '+12st' },
    { start: 12, end: 16, kind: 'emphasis', value: 'strong' },
  ];
  assert.equal(
    new EspeakInput('<b>! tomato now& so', hints).input,
    '<prosody pitch="+100%"> b ! [[tA:]] <emphasis level="strong">now&</emphasis></prosody> so',
  );
});

test('a hint that espeak cannot follow leaves the text, and those within it count', () => {
  const hints: SpeechHint[] = [
    { start: 0, end: 5, kind: 'pitch', value: '120Hz' },
    { start: 0, end: 1, kind: 'phoneme', value: 'ɓ' },
    { start: 2, end: 5, kind: 'emphasis', value: 'reduced' },
  ];
  assert.equal(new EspeakInput('a bcd', hints).input, 'a <emphasis level="reduced">bcd</emphasis>');
});

test('the places of words are those of the text', () => {
  const hints: SpeechHint[] = [{ start: 3, end: 9, kind: 'phoneme', value: 'tɑ' }];
  const written = new EspeakInput('😀 tomato now', hints);
  const placed = (words: string) => {
    const at = Array.from(written.input).join('').indexOf(words) + 1;
    return written.placed({ text_position: at, word_length: words.length, audio_position: 0 });
  };
  assert.deepEqual(placed('tA:'), { text_position: 3, word_length: 6, audio_position: 0 });
  assert.deepEqual(placed('now'), { text_position: 10, word_length: 3, audio_position: 0 });
});

async function said(t: TestContext, hints: readonly SpeechHint[]) {
  const engine = espeakEngine({ maxWaiting: 4, renderTimeoutMs: 20_000, packageFile });
  t.after(() => engine.close());
  const rate = engine.sampleRate('espeak-fr');
  const ring = PcmRing.open(rate, rate / 4);
  const request = { text: 'Le bateau part.', voice: 'espeak-fr', language: 'fr', hints };
  const end = engine.synthesize(request, ring, new AbortController().signal);
  const { samples } = await readAll(ring).finally(() => ring.close());
  return { samples, words: (await end).words };
}

test('espeak speaks by the hints, and its words stay those of the text', async (t) => {
  const plain = await said(t, []);
  for (const [kind, value] of [
    ['phoneme', 'kaʁafɔ̃kaʁaf'],
    ['emphasis', 'strong'],
    ['pitch', '+80%'],
  ] as const) {
    const hinted = await said(t, [{ start: 3, end: 9, kind, value }]);
    assert.notDeepEqual(hinted.samples, plain.samples, kind);
    assert.deepEqual(
      hinted.words.map(({ word, textOffset }) => [word, textOffset]),
      [
        ['Le', 0],
        ['bateau', 3],
        ['part', 10],
      ],
      kind,
    );
  }
});
