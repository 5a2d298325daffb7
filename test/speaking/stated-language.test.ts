import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStatedLanguage, tagOfStated } from '../../src/speaking/language-plan.js';

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
