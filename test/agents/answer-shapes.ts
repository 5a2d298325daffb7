// Answers of chat servers in the shapes that their sources and trackers show; the words are ours. Each server
// differs from OpenAI in a way of its own:
//
//   Ollama      openai/openai.go, middleware/openai.go: role and content in each delta, thoughts in
//               `reasoning`, whole calls at index 0 (ollama#15457); older versions have an empty
//               finish_reason (ollama#4357); an error within the stream is an empty event without an end
//   LM Studio   lmstudio-bug-tracker#649, #1318, #618: names that are empty, lists of calls that are empty,
//               errors that are a string, and status 200 for a wrong path
//   llama.cpp   tools/server/server-task.cpp: content null at first, thoughts in `reasoning_content`, timings
//   vLLM        vllm/entrypoints/openai: thoughts in `reasoning`, formerly in `reasoning_content`; errors
//               within the stream, with [DONE] behind them
import type { AnswerPart } from '../../src/agents/chat-model.js';

interface Shape {
  readonly server: 'Ollama' | 'LM Studio' | 'llama.cpp' | 'vLLM';
  readonly what: string;
  /** Body of the answer. */
  readonly body: string;
  /** What is made of it: parts, or the message of an error. */
  readonly gives: readonly AnswerPart[] | RegExp;
}

interface Refusal extends Omit<Shape, 'gives'> {
  readonly status: number;
  /** The server's words in the error. */
  readonly says: string;
}

const DONE = 'data: [DONE]\n\n';

type Choice = object | undefined;

/** Events of one server: each choice becomes one, with the fields that this server has around it. */
function eventsOf(around: object, ...choices: readonly Choice[]): string {
  return choices
    .map((choice) => ({ ...around, choices: choice === undefined ? [] : [{ index: 0, ...choice }] }))
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .join('');
}

const CHUNK = { object: 'chat.completion.chunk', created: 1_790_000_000 };

function ollama(...deltas: readonly object[]): string {
  const around = { id: 'chatcmpl-417', ...CHUNK, model: 'qwen3:4b', system_fingerprint: 'fp_ollama' };
  const choices = deltas.map((delta) => ({
    delta: { role: 'assistant', content: '', ...delta },
    finish_reason: null,
  }));
  return eventsOf(around, ...choices);
}

function ollamaEnd(reason: string): string {
  return ollama({}).replace('"finish_reason":null', `"finish_reason":"${reason}"`);
}

function lmStudio(...deltas: readonly object[]): string {
  const model = 'qwen/qwen3-4b';
  const around = { id: 'chatcmpl-p5h2vq8y0c', ...CHUNK, model, system_fingerprint: model };
  return eventsOf(around, ...deltas.map((delta) => ({ delta, logprobs: null, finish_reason: null })));
}

function lmStudioEnd(reason: string): string {
  return lmStudio({}).replace('"finish_reason":null', `"finish_reason":"${reason}"`);
}

const LLAMA = { id: 'chatcmpl-Vq3', ...CHUNK, model: 'qwen3-4b.gguf', system_fingerprint: 'b9000-0a1b2c3' };

function llama(...deltas: readonly object[]): string {
  return eventsOf(LLAMA, ...deltas.map((delta) => ({ delta, finish_reason: null })));
}

function llamaEnd(reason: string): string {
  const timings = { prompt_n: 21, prompt_ms: 40.2, predicted_n: 9, predicted_ms: 95.7 };
  return eventsOf({ ...LLAMA, timings }, { delta: {}, finish_reason: reason });
}

const VLLM = { id: 'chatcmpl-8f2c', ...CHUNK, model: 'Qwen/Qwen3-8B' };

function vllm(...deltas: readonly object[]): string {
  const choices = deltas.map((delta) => ({ delta, logprobs: null, finish_reason: null, token_ids: null }));
  return eventsOf(VLLM, ...choices);
}

function vllmEnd(reason: string): string {
  const delta = { content: '', reasoning_content: null };
  return eventsOf(VLLM, { delta, logprobs: null, finish_reason: reason, stop_reason: null });
}

const USAGE = { prompt_tokens: 21, completion_tokens: 9, total_tokens: 30 };

function call(id: string, name: string, given: string, index = 0): object {
  return { id, index, type: 'function', function: { name, arguments: given } };
}

const PARIS = '{"city":"Paris"}';
const ROME = '{"city":"Rome"}';
const MORNING = [{ text: 'Good ' }, { text: 'morning.' }];
const TWO_CALLS = (first: string, second: string) => [
  {
    toolCalls: [
      { id: first, name: 'weather', arguments: PARIS },
      { id: second, name: 'weather', arguments: ROME },
    ],
  },
];

export const SHAPES: readonly Shape[] = [
  {
    server: 'Ollama',
    what: 'thoughts, empty deltas and the count of tokens',
    body:
      ollama({ reasoning: 'She ' }, { reasoning: 'greets.' }, {}, { content: 'Good ' }) +
      ollama({ content: 'morning.' }) +
      ollamaEnd('stop') +
      eventsOf({ id: 'chatcmpl-417', ...CHUNK, usage: USAGE }, undefined) +
      DONE,
    gives: MORNING,
  },
  {
    server: 'Ollama',
    what: 'parallel functions at index 0',
    body:
      ollama(
        { tool_calls: [call('call_k2m4', 'weather', PARIS)] },
        { tool_calls: [call('call_x7p1', 'weather', ROME)] },
      ) +
      ollamaEnd('tool_calls') +
      DONE,
    gives: TWO_CALLS('call_k2m4', 'call_x7p1'),
  },
  {
    server: 'Ollama',
    what: 'parallel functions in one delta',
    body:
      ollama({ tool_calls: [call('call_k2m4', 'weather', PARIS), call('call_x7p1', 'weather', ROME)] }) +
      ollamaEnd('tool_calls') +
      DONE,
    gives: TWO_CALLS('call_k2m4', 'call_x7p1'),
  },
  {
    server: 'Ollama',
    what: 'an empty reason to finish in each event',
    body:
      (ollama({ content: 'Good ' }) + ollama({ content: 'morning.' })).replaceAll(
        '"finish_reason":null',
        '"finish_reason":""',
      ) +
      ollamaEnd('stop') +
      DONE,
    gives: MORNING,
  },
  {
    server: 'Ollama',
    what: 'an error within it',
    body: ollama({ content: 'Good ' }, {}),
    gives: /the answer broke off/,
  },
  {
    server: 'LM Studio',
    what: 'thoughts in the text, and an empty list of calls',
    body:
      lmStudio({ role: 'assistant', content: '<think>' }, { content: '\nShe greets.\n' }) +
      lmStudio({ content: '</think>' }, { content: '\n\n' }, { content: 'Good ', tool_calls: [] }) +
      lmStudio({ content: 'morning.' }) +
      lmStudioEnd('stop') +
      DONE,
    gives: MORNING,
  },
  {
    server: 'LM Studio',
    what: 'thoughts of their own',
    body:
      lmStudio({ role: 'assistant', reasoning_content: 'She greets.' }, { content: 'Good ' }) +
      lmStudio({ content: 'morning.' }) +
      lmStudioEnd('stop') +
      DONE,
    gives: MORNING,
  },
  {
    server: 'LM Studio',
    what: 'functions whose name is empty in later parts',
    body:
      lmStudio({ role: 'assistant', tool_calls: [call('365174485', 'weather', '')] }) +
      lmStudio(
        { tool_calls: [{ index: 0, type: 'function', function: { name: '', arguments: '{"city":' } }] },
        { tool_calls: [{ index: 0, type: 'function', function: { name: '', arguments: '"Paris"}' } }] },
        { tool_calls: [call('365174486', 'weather', '', 1)] },
        { tool_calls: [{ index: 1, type: 'function', function: { name: '', arguments: ROME } }] },
      ) +
      lmStudioEnd('tool_calls') +
      DONE,
    gives: TWO_CALLS('365174485', '365174486'),
  },
  {
    server: 'LM Studio',
    what: 'functions with another id in each part',
    body:
      lmStudio(
        { role: 'assistant', tool_calls: [call('1', 'weather', '')] },
        { tool_calls: [call('2', '', '{"city":')] },
        { tool_calls: [call('3', '', '"Paris"}')] },
      ) +
      lmStudioEnd('tool_calls') +
      DONE,
    gives: [{ toolCalls: [{ id: '1', name: 'weather', arguments: PARIS }] }],
  },
  {
    server: 'LM Studio',
    what: 'status 200 for a path without /v1',
    body: JSON.stringify({ error: 'Unexpected endpoint or method. (POST /chat/completions)' }),
    gives: /an error in place of an answer: Unexpected endpoint or method\. \(POST \/chat\/completions\)$/,
  },
  {
    server: 'LM Studio',
    what: 'an error within it',
    body:
      lmStudio({ role: 'assistant', content: 'Good ' }) +
      `event: error\ndata: ${JSON.stringify({ error: { message: 'The model has crashed.' } })}\n\n`,
    gives: /an error in the middle of its answer: The model has crashed\.$/,
  },
  {
    server: 'llama.cpp',
    what: 'thoughts, and timings in place of a count of tokens',
    body:
      llama({ role: 'assistant', content: null }, { reasoning_content: 'She greets.' }) +
      llama({ content: 'Good ' }, { content: 'morning.' }) +
      llamaEnd('stop') +
      DONE,
    gives: MORNING,
  },
  {
    server: 'llama.cpp',
    what: 'a thought in the text without an opening tag, and no [DONE]',
    body:
      llama({ role: 'assistant', content: null }, { content: 'She greets.\n' }, { content: '</th' }) +
      llama({ content: 'ink>\n\n' }, { content: 'Good ' }, { content: 'morning.' }) +
      llamaEnd('stop'),
    gives: [{ text: 'She greets.\n' }, { isThought: true }, ...MORNING],
  },
  {
    server: 'llama.cpp',
    what: 'functions in parts',
    body:
      llama(
        { role: 'assistant', content: null },
        { tool_calls: [call('Hq81', 'weather', '{')] },
        { tool_calls: [{ index: 0, function: { arguments: '"city":"Paris"}' } }] },
        { tool_calls: [call('Zt40', 'weather', '{', 1)] },
        { tool_calls: [{ index: 1, function: { arguments: '"city":"Rome"}' } }] },
      ) +
      llamaEnd('tool_calls') +
      DONE,
    gives: TWO_CALLS('Hq81', 'Zt40'),
  },
  {
    server: 'llama.cpp',
    what: 'an error within it',
    body:
      llama({ role: 'assistant', content: null }, { content: 'Good ' }) +
      `data: ${JSON.stringify({ error: { code: 500, message: 'Context size has been exceeded.', type: 'server_error' } })}\n\n`,
    gives: /an error in the middle of its answer: Context size has been exceeded\.$/,
  },
  {
    server: 'vLLM',
    what: 'thoughts, empty deltas, and the count of tokens in an event of its own',
    body:
      vllm({ role: 'assistant', content: '', reasoning: null }, { reasoning: 'She greets.' }) +
      vllm({ reasoning_content: 'And waits.' }, { content: 'Good ' }, { content: '' }) +
      vllm({ content: 'morning.' }) +
      vllmEnd('stop') +
      eventsOf({ ...VLLM, usage: USAGE }, undefined) +
      DONE,
    gives: MORNING,
  },
  {
    server: 'vLLM',
    what: 'functions in parts, of which only the first has id and name',
    body:
      vllm(
        { role: 'assistant', content: '' },
        {
          tool_calls: [{ id: 'chatcmpl-tool-1', type: 'function', index: 0, function: { name: 'weather' } }],
        },
        { tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] },
        { tool_calls: [{ index: 0, function: { arguments: ' "Paris"}' } }] },
      ) +
      vllmEnd('tool_calls') +
      DONE,
    gives: [{ toolCalls: [{ id: 'chatcmpl-tool-1', name: 'weather', arguments: '{"city": "Paris"}' }] }],
  },
  {
    server: 'vLLM',
    what: 'an error within it, and [DONE]',
    body:
      vllm({ role: 'assistant', content: '' }, { content: 'Good ' }) +
      `data: ${JSON.stringify({ error: { message: 'Internal server error', type: 'InternalServerError', param: null, code: 500 } })}\n\n${DONE}`,
    gives: /an error in the middle of its answer: Internal server error$/,
  },
];

export const REFUSALS: readonly Refusal[] = [
  {
    server: 'Ollama',
    what: 'a model that was not pulled',
    status: 404,
    body: '{"error":{"message":"model \'qwen3:4b\' not found","type":"not_found_error","param":null,"code":null}}',
    says: "model 'qwen3:4b' not found",
  },
  {
    server: 'LM Studio',
    what: 'a model that cannot be loaded',
    status: 400,
    body: '{"error":"Failed to load model \\"qwen/qwen3-4b\\"."}',
    says: 'Failed to load model "qwen/qwen3-4b".',
  },
  {
    server: 'llama.cpp',
    what: 'a text that is too long',
    status: 400,
    body: '{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}',
    says: 'the request exceeds the available context size',
  },
  {
    server: 'vLLM',
    what: 'an unknown model',
    status: 404,
    body: '{"error":{"message":"The model `small` does not exist.","type":"NotFoundError","param":"model","code":404}}',
    says: 'The model `small` does not exist.',
  },
  {
    server: 'vLLM',
    what: 'an unknown model, in older versions',
    status: 404,
    body: '{"object":"error","message":"The model `small` does not exist.","type":"NotFoundError","param":null,"code":404}',
    says: 'The model `small` does not exist.',
  },
];
