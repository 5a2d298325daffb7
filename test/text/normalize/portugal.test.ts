// Portuguese of Portugal: what is not said as in Brazil.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languageOf } from '../../../src/text/normalize/languages.js';
import { normalize } from '../../../src/text/normalize/normalize.js';

function spokenIn(tag: string, text: string): string {
  const language = languageOf(tag);
  assert.ok(language !== undefined);
  return normalize(text, language).text;
}

const CASES: readonly (readonly [written: string, portugal: string, brazil: string])[] = [
  ['São 16, 17 ou 19.', 'São dezasseis, dezassete ou dezanove.', 'São dezesseis, dezessete ou dezenove.'],
  ['Em 2016 e 1917.', 'Em dois mil e dezasseis e mil novecentos e dezassete.', 'Em dois mil e dezesseis e mil novecentos e dezessete.'],
  ['O comboio sai às 19h16.', 'O comboio sai às dezanove e dezasseis.', 'O comboio sai às dezenove e dezesseis.'],
  ['Faltam 16 km, ao km 17.', 'Faltam dezasseis quilómetros, ao quilómetro dezassete.', 'Faltam dezesseis quilômetros, ao quilômetro dezessete.'],
  ['Vai a 19 km/h.', 'Vai a dezanove quilómetros por hora.', 'Vai a dezenove quilômetros por hora.'],
  ['Custa 16,17 €.', 'Custa dezasseis euros e dezassete cêntimos.', 'Custa dezesseis euros e dezessete cêntimos.'],
  ['São 2.000.000.000 de euros.', 'São dois mil milhões de euros.', 'São dois bilhões de euros.'],
  ['São 1.000.000.000 de euros.', 'São mil milhões de euros.', 'São um bilhão de euros.'],
  ['São 2.500.000.000 de euros.', 'São dois mil e quinhentos milhões de euros.', 'São dois bilhões e quinhentos milhões de euros.'],
  ['A mensagem é de ana_19@sapo.pt.', 'A mensagem é de ana underscore dezanove arroba sapo ponto P T.', 'A mensagem é de ana underline dezenove arroba sapo ponto P T.'],
  ['No séc. XVI e no séc. XIX.', 'No século dezasseis e no século dezanove.', 'No século dezesseis e no século dezenove.'],
  ['TV de 17" e caps. XVI e XIX.', 'T V de dezassete polegadas e capítulos dezasseis e dezanove.', 'T V de dezessete polegadas e capítulos dezesseis e dezenove.'],
  ['A pressão é 16/9, 16x mais.', 'A pressão é dezasseis por nove, dezasseis vezes mais.', 'A pressão é dezesseis por nove, dezesseis vezes mais.'],
  ['No dia 16/12, das 9h às 17h.', 'No dia dezasseis de dezembro, das nove horas às dezassete horas.', 'No dia dezesseis de dezembro, das nove horas às dezessete horas.'],
  ['Rua Augusta, 16, 1100-048 Lisboa.', 'Rua Augusta, dezasseis, um um zero zero, zero quatro oito Lisboa.', 'Rua Augusta, dezesseis, um um zero zero, zero quatro oito Lisboa.'],
]; // prettier-ignore

test('a Portuguese text is said with the words of the region that its tag names, else with those of Brazil', () => {
  for (const [written, portugal, brazil] of CASES) {
    assert.equal(spokenIn('pt-PT', written), portugal);
    assert.equal(spokenIn('pt_ao', written), portugal);
    assert.equal(spokenIn('pt-BR', written), brazil);
    assert.equal(spokenIn('pt', written), brazil);
  }
});
