import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChatModel } from '../../src/agents/chat-model.js';
import { DEMO_MODEL, openDemoModel } from '../../src/talk/demo-model.js';
import { systemTime } from '../../src/time.js';

const baseUrl = await openDemoModel();

test('the demo repeats the last words of the caller, to the client of every agent', async () => {
  const model = new ChatModel({
    server: { baseUrl, apiKey: undefined, model: DEMO_MODEL },
    time: systemTime,
  });
  const parts = [];
  for await (const part of model.answer({
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Good morning.' },
      { role: 'assistant', content: 'You said: Good morning.' },
      { role: 'user', content: 'Do you sell tea?' },
    ],
    tools: [],
    signal: new AbortController().signal,
  }))
    parts.push(part);
  assert.deepEqual(parts, [{ text: 'You said: Do you sell tea?' }]);
});

test('the demo lists its model', async () => {
  const { data } = (await (await fetch(`${baseUrl}/models`)).json()) as { data: { id: string }[] };
  assert.deepEqual(
    data.map(({ id }) => id),
    [DEMO_MODEL],
  );
});

test('the demo refuses what is no question, and other addresses', async () => {
  const post = async (body: string) =>
    (await fetch(`${baseUrl}/chat/completions`, { method: 'POST', body })).status;
  for (const body of ['', '{', '7', '{}', '{"messages": 7}', '{"messages": [{"role": "user"}, null]}'])
    assert.equal(await post(body), 400, body);
  assert.equal((await fetch(`${baseUrl}/completions`)).status, 404);
});

test('the demo repeats a thousand characters at most', async () => {
  const messages = [{ role: 'user', content: 'a'.repeat(5000) }];
  const body = JSON.stringify({ messages });
  const answer = await (await fetch(`${baseUrl}/chat/completions`, { method: 'POST', body })).text();
  assert.equal(/You said: (a+)/.exec(answer)?.[1]?.length, 1000);
});
