import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canChat, isModelName, modelMeant, thinkingOff } from '../../src/talk/chat-models.js';

test('models for embeddings, ranking, sound and pictures are told by their names', () => {
  for (const name of [
    'nomic-embed-text:latest',
    'text-embedding-3-small',
    'bge-m3',
    'BAAI/bge-reranker-v2-m3',
    'Qwen/Qwen3-Reranker-0.6B',
    'all-minilm:22m',
    'intfloat/multilingual-e5-large',
    'whisper-1',
    'tts-1-hd',
    'gpt-4o-mini-tts',
    'gpt-4o-transcribe',
    'gpt-4o-realtime-preview',
    'dall-e-3',
    'gpt-image-1',
    'omni-moderation-latest',
    'davinci-002',
    'Qwen/Qwen3-ASR-0.6B',
  ])
    assert.equal(canChat(name), false, name);
});

test('names of chat models are left in', () => {
  for (const name of [
    'qwen3:4b',
    'llama3.2:latest',
    'gpt-5-mini',
    'openai/gpt-oss-20b',
    'google/gemma-3-4b-it',
    'mistral-small3.2',
    'deepseek-r1:8b',
    '/models/Qwen3-4B-Q4_K_M.gguf',
    'HuggingFaceTB/SmolLM3-3B',
    'imagenary-chat',
  ])
    assert.equal(canChat(name), true, name);
});

test('a name that could write over a terminal is none', () => {
  assert.equal(isModelName('qwen3:4b'), true);
  assert.equal(isModelName('Modell für Gespräche'), true);
  for (const name of [
    '',
    ' ',
    'a\n',
    'a\u001b[31m',
    'a\u202eb',
    'a\u2028b',
    ' a',
    'x'.repeat(201),
    1,
    undefined,
  ])
    assert.equal(isModelName(name), false, JSON.stringify(name));
});

test('thinking is switched off as each program takes it', () => {
  assert.deepEqual(thinkingOff('Ollama'), [{ reasoning_effort: 'none' }]);
  assert.deepEqual(thinkingOff('LM Studio'), [{ reasoning_effort: 'none' }]);
  const template = { chat_template_kwargs: { enable_thinking: false } };
  for (const program of ['vLLM', 'llama.cpp', 'vLLM or llama.cpp'])
    assert.deepEqual(thinkingOff(program), [template]);
  assert.deepEqual(thinkingOff('api.openai.com'), [
    { reasoning_effort: 'none' },
    { reasoning_effort: 'minimal' },
  ]);
  assert.deepEqual(thinkingOff('gpu.local:9000'), [template, { reasoning_effort: 'none' }]);
});

test('a model is meant by its name in any case, and without the tag of Ollama', () => {
  const models = ['qwen3:4b', 'qwen3:latest', 'Llama'];
  assert.equal(modelMeant('QWEN3:4B', models), 'qwen3:4b');
  assert.equal(modelMeant('qwen3', models), 'qwen3:latest');
  assert.equal(modelMeant('llama', models), 'Llama');
  assert.equal(modelMeant('llama:latest', models), undefined);
});
