// `parley talk` with the answers of Ollama, LM Studio, llama.cpp and vLLM.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { talkCommand, type TalkSurroundings } from '../../src/talk/talk-command.js';
import { systemTime, type Time } from '../../src/time.js';
import { llamaCpp, lmStudio, ollama, vllm } from './chat-programs.js';
import { FakeChatServer } from './fake-chat-server.js';

type Answers = Parameters<typeof FakeChatServer.open>[1];

interface Situation {
  readonly args?: readonly string[];
  readonly answers?: readonly string[];
  readonly time?: Time;
}

/** The server listens where `name` usually does. */
async function talk(t: TestContext, name: string, program: Answers, situation: Situation = {}) {
  const server = await FakeChatServer.open(t, program);
  let [out, err] = ['', ''];
  const [questions, answers]: [string[], string[]] = [[], [...(situation.answers ?? [])]];
  const surroundings: TalkSurroundings = {
    fetch: globalThis.fetch,
    time: situation.time ?? systemTime,
    usualServers: [{ name, port: server.port }],
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    ask:
      situation.answers &&
      (async (question) => {
        questions.push(question);
        return answers.shift();
      }),
    pull: async () => 0,
    openBrowser: async () => true,
    isFreePort: async () => true,
    ownAddresses: [],
  };
  const result = talkCommand(situation.args ?? [], { HF_HOME: '/nowhere' }, surroundings);
  const env = async () => {
    const ended = await result;
    return 'env' in ended ? ended.env : {};
  };
  return { server, result, env, questions, out: () => out, err: () => err };
}

const MODEL = 'AGENT_LLM_MODEL';

test('each program is found where it usually listens, with its thinking off', async (t) => {
  const template = '{"chat_template_kwargs":{"enable_thinking":false}}';
  const effort = '{"reasoning_effort":"none"}';
  for (const [name, program, model, options] of [
    ['Ollama', ollama(['qwen3:4b']), 'qwen3:4b', effort],
    ['LM Studio', lmStudio(['qwen/qwen3-4b']), 'qwen/qwen3-4b', effort],
    ['llama.cpp', llamaCpp('/models/Qwen3-4B-Q4_K_M.gguf'), '/models/Qwen3-4B-Q4_K_M.gguf', template],
    ['vLLM', vllm('Qwen/Qwen3-4B'), 'Qwen/Qwen3-4B', template],
  ] as const) {
    const { server, env, out } = await talk(t, 'a chat server', program);
    const { AGENT_LLM_URL: url, AGENT_LLM_MODEL: found, AGENT_LLM_OPTIONS: fields } = await env();
    assert.deepEqual([url, found, fields], [`${server.url}/v1`, model, options], name);
    assert.match(out(), new RegExp(`^Model: ${model.replaceAll('/', '.')} at ${name} `));
    assert.doesNotMatch(out(), /thinks/);
  }
});

test('each program is found at a stated address, with and without /v1', async (t) => {
  for (const program of [ollama(['a']), lmStudio(['a']), llamaCpp('a'), vllm('a')])
    for (const path of ['', '/', '/v1']) {
      const server = await FakeChatServer.open(t, program);
      const { env } = await talk(t, 'x', {}, { args: ['--llm', `${server.url}${path}`] });
      assert.deepEqual([(await env())['AGENT_LLM_URL'], (await env())[MODEL]], [`${server.url}/v1`, 'a']);
    }
});

test('a model of the cloud in a list of Ollama is not asked without a yes that names its host', async (t) => {
  const cloud = { 'gpt-oss:120b-cloud': 'https://ollama.com:443', mine: 'https://gpu.example.com:443' };
  const local = await talk(t, 'Ollama', ollama(['qwen3:4b'], cloud));
  assert.equal((await local.env())[MODEL], 'qwen3:4b', 'what runs here goes before');
  for (const [model, host] of [
    ['gpt-oss:120b-cloud', 'ollama.com'],
    ['mine', 'gpu.example.com'],
  ] as const) {
    const args = ['--model', model, '--yes'];
    const refused = await talk(t, 'Ollama', ollama(['qwen3:4b'], cloud), { args });
    assert.deepEqual(await refused.result, { status: 1 });
    assert.equal(
      refused.err(),
      `parley: ${model} runs at ${host}, which is not this machine, and what you say would be sent to it; --allow-host ${host} agrees to that, --model NAME chooses another one.\n`,
    );
    assert.ok(!refused.server.asked.some(({ method }) => method === 'POST'), 'it was asked nothing');
    const allowed = await talk(t, 'Ollama', ollama([], cloud), { args: [...args, '--allow-host', host] });
    assert.equal((await allowed.env())[MODEL], model);
    const agreed = await talk(t, 'Ollama', ollama([], cloud), { args: ['--model', model], answers: ['y'] });
    await agreed.env();
    assert.equal(
      agreed.questions[0],
      `${model} runs at ${host}, which is not this machine. What you say would be sent to it. Use it? [y/N] `,
    );
  }
});

test('a model of the cloud is known by its name where Ollama does not tell its host', async (t) => {
  const { 'GET /api/tags': _tags, ...older } = ollama(['gpt-oss:20b-cloud', 'deepseek:cloud']);
  const { result, err } = await talk(t, 'Ollama', older);
  assert.deepEqual(await result, { status: 1 });
  assert.match(err(), /^parley: gpt-oss:20b-cloud runs at ollama\.com, which is not this machine/);
});

test('a person sees which models run elsewhere, after those of this machine', async (t) => {
  const { env, out } = await talk(t, 'Ollama', ollama(['a:cloud', 'b', 'c']), { answers: ['', 'n'] });
  assert.equal((await env())[MODEL], 'b');
  assert.match(
    out(),
    /^ {3}1 {2}b \(Ollama\)\n {3}2 {2}c \(Ollama\)\n {3}3 {2}a:cloud \(Ollama, runs at ollama\.com\)\n/,
  );
});

/** Time in which only the pauses of a second go by, and at once. */
function secondsGoBy() {
  const pauses: number[] = [];
  const after = (ms: number, action: () => void) => {
    if (ms !== 1000) return () => undefined;
    pauses.push(ms);
    const immediate = setImmediate(action);
    return () => clearImmediate(immediate);
  };
  return { pauses, time: { now: () => 0, after } };
}

for (const isListLoading of [true, false])
  test(`llama.cpp is waited for while it loads its model, and lists ${isListLoading ? 'nothing' : 'it'}`, async (t) => {
    const { pauses, time } = secondsGoBy();
    const { env, out } = await talk(t, 'llama.cpp', llamaCpp('m', 3, isListLoading), { time });
    assert.equal((await env())[MODEL], 'm');
    assert.equal(pauses.length, 3);
    assert.equal(out().includes('is loading its model. Waiting up to 60 s.'), isListLoading);
  });

test('a server that never ends to load its model is named with what to do', async (t) => {
  const { pauses, time } = secondsGoBy();
  const { server, env, out } = await talk(t, 'llama.cpp', llamaCpp('m', 1000, true), { time });
  assert.equal((await env())[MODEL], 'parley-demo');
  assert.deepEqual([server.asked.length, pauses.length], [60, 59]);
  assert.match(
    out(),
    /\(usually llama\.cpp\) is still loading its model: run this command again when it is ready\.\n/,
  );
});

test('an embedding model whose name does not tell it ends the command with its words', async (t) => {
  const { result, err } = await talk(t, 'vLLM', vllm('acme/vectors', { embeds: true }));
  assert.deepEqual(await result, { status: 1 });
  assert.equal(
    err(),
    'parley: acme/vectors at vLLM cannot be talked with: it answers 400 (The model does not support Chat Completions API); try another model with --model NAME, or another server with --llm URL.\n',
  );
});

test('a server that wants a key is named with the variable for it', async (t) => {
  const { env, out } = await talk(t, 'vLLM', vllm('a', { wantsKey: true }));
  assert.equal((await env())[MODEL], 'parley-demo');
  assert.match(out(), /\(usually vLLM\) wants a key: set AGENT_LLM_API_KEY, and state --llm http:/);
});

test('LM Studio with nothing but its embedding model is named with what to do', async (t) => {
  const { env, out } = await talk(t, 'LM Studio', lmStudio([]));
  assert.equal((await env())[MODEL], 'parley-demo');
  assert.match(
    out(),
    /has no model that can chat \(1 listed\): load one there, or fetch one with: lms get qwen3-4b\.\n/,
  );
});

test('of five hundred models one is found by a part of its name', async (t) => {
  const names = Array.from({ length: 500 }, (_, index) => `model-${index}`);
  const { env, out } = await talk(t, 'vLLM', ollama([...names, 'Qwen3:4b', 'qwen3:8b', 'llama:3b']), {
    answers: ['QWEN', '2', 'n'],
  });
  assert.equal((await env())[MODEL], 'qwen3:8b');
  assert.match(
    out(),
    /and 483 more, by number or by a part of the name\n {3}1 {2}Qwen3:4b .*\n {3}2 {2}qwen3:8b/,
  );
  const one = await talk(t, 'vLLM', ollama([...names, 'llama:3b']), { answers: ['llama', 'n'] });
  assert.equal((await one.env())[MODEL], 'llama:3b');
});
