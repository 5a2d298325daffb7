import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseModel } from '../../src/talk/model-choice.js';

const server = (name: string, ...models: string[]) => ({ name, baseUrl: 'x', apiKey: undefined, models });
const OLLAMA = server('Ollama', 'qwen3:4b', 'llama3.2:latest');
const VLLM = server('vLLM', 'Qwen/Qwen3-8B');
const MANY = server('vLLM', ...Array.from({ length: 500 }, (_, index) => `model-${index + 1}`));

/** Answers the questions in turn; then gives up. */
function person(...answers: string[]) {
  const questions: string[] = [];
  let said = '';
  const ask = async (question: string) => {
    questions.push(question);
    return answers.shift();
  };
  return { ask, out: (text: string) => void (said += text), questions, said: () => said };
}

test('the only model is used without a question', async () => {
  const nobody = person();
  assert.deepEqual(await chooseModel([VLLM], undefined, nobody), {
    choice: { server: VLLM, model: 'Qwen/Qwen3-8B' },
  });
  assert.deepEqual([nobody.questions, nobody.said()], [[], '']);
});

test('a stated model is used, at the server that has it', async () => {
  assert.deepEqual(await chooseModel([OLLAMA, VLLM], 'qwen/qwen3-8b', person()), {
    choice: { server: VLLM, model: 'Qwen/Qwen3-8B' },
  });
  assert.deepEqual(await chooseModel([OLLAMA], 'llama3.2', person()), {
    choice: { server: OLLAMA, model: 'llama3.2:latest' },
  });
});

test('a stated model that nobody lists is refused with those that there are', async () => {
  assert.deepEqual(await chooseModel([OLLAMA], 'gpt', person()), {
    trouble: 'no model is called "gpt"; there are qwen3:4b, llama3.2:latest.',
    isGivenUp: false,
  });
  const many = await chooseModel([MANY], 'gpt', person());
  assert.match('trouble' in many ? many.trouble : '', /model-20 and 480 more\.$/);
});

test('a server without a list gets the stated model, and needs one', async () => {
  const silent = server('gpu.local');
  assert.deepEqual(await chooseModel([silent], 'mine', person()), {
    choice: { server: silent, model: 'mine' },
  });
  assert.deepEqual(await chooseModel([silent], undefined, person()), {
    trouble: 'gpu.local lists no models: name one with --model NAME.',
    isGivenUp: false,
  });
});

test('a person chooses by number, by name, or the first with Enter', async () => {
  for (const [answer, model] of [
    ['', 'qwen3:4b'],
    ['2', 'llama3.2:latest'],
    ['Qwen/Qwen3-8B', 'Qwen/Qwen3-8B'],
  ] as const) {
    const one = person(answer);
    const chosen = await chooseModel([OLLAMA, VLLM], undefined, one);
    assert.equal('choice' in chosen && chosen.choice.model, model);
    assert.equal(
      one.said(),
      '   1  qwen3:4b (Ollama)\n   2  llama3.2:latest (Ollama)\n   3  Qwen/Qwen3-8B (vLLM)\n',
    );
  }
});

test('five hundred models are shown as twenty, and each can be chosen', async () => {
  const one = person('500');
  const chosen = await chooseModel([MANY], undefined, one);
  assert.equal('choice' in chosen && chosen.choice.model, 'model-500');
  assert.equal(one.said().split('\n').length, 22);
  assert.match(
    one.said(),
    / {2}20 {2}model-20 \(vLLM\)\n {6}and 480 more, by number or by a part of the name\n$/,
  );
});

test('three answers that name nothing end the choice, and so does giving up', async () => {
  const wrong = person('0', '4', 'nothing', '1');
  assert.deepEqual(await chooseModel([OLLAMA, VLLM], undefined, wrong), {
    trouble: 'no model was chosen: answer with a number from 1 to 3, or with a part of a name.',
    isGivenUp: false,
  });
  assert.equal(wrong.questions.length, 3);
  assert.deepEqual(await chooseModel([OLLAMA], undefined, person()), { trouble: '', isGivenUp: true });
});

test('without a terminal the first model is used, and said to be', async () => {
  let said = '';
  const out = (text: string) => void (said += text);
  assert.deepEqual(await chooseModel([OLLAMA, VLLM], undefined, { out, ask: undefined }), {
    choice: { server: OLLAMA, model: 'qwen3:4b' },
  });
  assert.equal(said, 'qwen3:4b is the first of 3 models; --model NAME chooses another.\n');
});
