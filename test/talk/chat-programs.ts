// Answers of the chat servers that people run, as their programs send them: lists, streams and refusals.
import type { ServerResponse } from 'node:http';
import type { FakeChatServer } from './fake-chat-server.js';
import { status } from './fake-chat-server.js';

type Answers = Parameters<typeof FakeChatServer.open>[1];
type Answer = Answers[string];

interface Question {
  readonly model?: string;
  readonly reasoning_effort?: string;
  readonly chat_template_kwargs?: { readonly enable_thinking?: boolean };
}

const CREATED = 1_795_000_000;

/** A stream with `deltas`, then its end as OpenAI writes it. */
function streamed(response: ServerResponse, common: object, deltas: readonly object[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const event = (delta: object, finish: string | null) => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    response.write(
      `data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', created: CREATED, choices })}\n\n`,
    );
  };
  for (const delta of deltas) event(delta, null);
  event({}, 'stop');
  response.end('data: [DONE]\n\n');
}

/** Ollama: models think unless `reasoning_effort` is none; `cloud` models run at another host. */
export function ollama(models: readonly string[], cloud: Readonly<Record<string, string>> = {}): Answers {
  const all = [...models, ...Object.keys(cloud)];
  const tags = all.map((name) => ({
    name,
    model: name,
    ...(name in cloud ? { remote_model: name, remote_host: cloud[name] } : {}),
    modified_at: '2026-11-01T08:00:00.000000000Z',
    size: 2_497_293_931,
    digest: 'e'.repeat(64),
    details: { format: 'gguf', family: 'qwen3', parameter_size: '4.0B', quantization_level: 'Q4_K_M' },
  }));
  const data = all.map((id) => ({ id, object: 'model', created: CREATED, owned_by: 'library' }));
  return {
    'GET /api/tags': status(200, { models: tags }),
    'GET /v1/models': status(200, { object: 'list', data }),
    'POST /v1/chat/completions': (response, body) => {
      const { model = '', reasoning_effort: effort } = JSON.parse(body) as Question;
      const common = { id: 'chatcmpl-563', model, system_fingerprint: 'fp_ollama' };
      if (!all.includes(model)) {
        const error = { message: `model '${model}' not found`, type: 'not_found_error', param: null };
        return status(404, { error: { ...error, code: null } })(response, body);
      }
      const thought = { role: 'assistant', content: '', reasoning: 'Okay, so' };
      const thoughts = effort === 'none' ? [] : Array.from({ length: 12 }, () => thought);
      return streamed(response, common, [...thoughts, { role: 'assistant', content: 'Yes' }]);
    },
  };
}

/** LM Studio: an unknown address gets 200 and an error. It lists an embedding model of its own. */
export function lmStudio(models: readonly string[]): Answers {
  const all = [...models, 'text-embedding-nomic-embed-text-v1.5'];
  const data = all.map((id) => ({ id, object: 'model', owned_by: 'organization_owner' }));
  return {
    'GET /v1/models': status(200, { data, object: 'list' }),
    'GET /models': status(200, { error: 'Unexpected endpoint or method. (GET /models)' }),
    'POST /v1/chat/completions': (response, body) => {
      const { model = '' } = JSON.parse(body) as Question;
      const common = { id: 'chatcmpl-x', model, system_fingerprint: model };
      return streamed(response, common, [{ role: 'assistant', content: 'Yes' }, { content: '.' }]);
    },
  };
}

/** llama.cpp: one model under both paths. It answers 503 to the first `loading` questions. */
export function llamaCpp(path: string, loading = 0, isListLoading = false): Answers {
  let left = loading;
  const error = { code: 503, message: 'Loading model', type: 'unavailable_error' };
  const busy = status(503, { error });
  const when =
    (isWaiting: boolean, answer: Answer): Answer =>
    (response, body) =>
      isWaiting && left-- > 0 ? busy(response, body) : answer(response, body);
  const list = status(200, {
    models: [{ name: path, model: path, type: 'model', capabilities: ['completion'] }],
    object: 'list',
    data: [
      { id: path, object: 'model', created: CREATED, owned_by: 'llamacpp', meta: { n_ctx_train: 40_960 } },
    ],
  });
  return {
    'GET /v1/models': when(isListLoading, list),
    'GET /models': when(isListLoading, list),
    'POST /v1/chat/completions': when(!isListLoading, (response, body) => {
      const { chat_template_kwargs: template } = JSON.parse(body) as Question;
      const thoughts = template?.enable_thinking === false ? [] : [{ reasoning_content: 'Hm.' }];
      const first = { role: 'assistant', content: null };
      return streamed(response, { id: 'chatcmpl-y', model: path }, [
        first,
        ...thoughts.flatMap((one) => Array.from({ length: 12 }, () => one)),
        { content: 'Yes' },
      ]);
    }),
  };
}

/** vLLM: it knows the path /v1 only. A model that embeds is listed as any other, and refuses to chat. */
export function vllm(model: string, { embeds = false, wantsKey = false } = {}): Answers {
  const card = { id: model, object: 'model', created: CREATED, owned_by: 'vllm', root: model, parent: null };
  const refused = status(401, { error: 'Unauthorized' });
  const message = 'The model does not support Chat Completions API';
  return {
    'GET /v1/models': wantsKey
      ? refused
      : status(200, { object: 'list', data: [{ ...card, max_model_len: 40_960, permission: [] }] }),
    'GET /models': status(404, { detail: 'Not Found' }),
    'POST /v1/chat/completions': embeds
      ? status(400, { error: { message, type: 'BadRequestError', param: null, code: 400 } })
      : (response) =>
          streamed(response, { id: 'chatcmpl-z', model }, [
            { role: 'assistant', content: '' },
            { content: 'Yes' },
          ]),
  };
}
