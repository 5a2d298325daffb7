import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TokenStream } from '../../src/speaking/text-source.js';

async function allOf(tokens: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const token of tokens) all.push(token);
  return all;
}

test('what waits is read in one piece, what comes later as it comes', async () => {
  const tokens = new TokenStream();
  tokens.push('One ');
  tokens.push('two ');
  const iterator = tokens[Symbol.asyncIterator]();
  assert.equal((await iterator.next()).value, 'One two ');
  const next = iterator.next();
  tokens.push('three');
  assert.equal((await next).value, 'three');
  tokens.end();
  tokens.push('too late');
  assert.equal((await iterator.next()).done, true);
});

test('a text that is refused drops what was not read of it', async () => {
  const tokens = new TokenStream();
  tokens.push('One');
  tokens.fail(new Error('refused'));
  await assert.rejects(allOf(tokens), /refused/);
});
