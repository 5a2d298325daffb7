// Writes items, responses and what happens in a conversation as the server events of OpenAI's Realtime API.
//
// https://platform.openai.com/docs/api-reference/realtime-server-events
import type { TalkItem } from '../../agents/talk-items.js';
import type { Output, TalkEvent, TalkResponse } from '../../agents/talk-response.js';
import type { ParleyError } from '../../errors.js';

export interface RealtimeEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

interface WriterParts {
  /** Id of the conversation. */
  readonly conversation: string;
  /** Milliseconds since 1970. */
  readonly unixMs: () => number;
  /** Id of the item before an item of the conversation. */
  readonly before: (item: string) => string | null;
  /** The words for an error of the server. */
  readonly wordsOf: (error: ParleyError) => { readonly code: string; readonly message: string };
}

const TRANSCRIPTION = 'conversation.item.input_audio_transcription';

export class RealtimeWriter {
  readonly #parts: WriterParts;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /** Undefined for what is an error. */
  write(event: Exclude<TalkEvent, { type: 'failed' }>): readonly RealtimeEvent[] {
    switch (event.type) {
      case 'speech.started':
        return [{ ...INPUT.started, audio_start_ms: event.atMs, item_id: event.item }];
      case 'speech.stopped':
        return [{ ...INPUT.stopped, audio_end_ms: event.atMs, item_id: event.item }];
      case 'turn.committed': {
        const { item, previous } = event;
        return [
          { ...INPUT.committed, previous_item_id: previous, item_id: item.id },
          ...added(item, previous),
        ];
      }
      case 'turn.text':
      case 'turn.failed':
        return this.#transcribed(event);
      case 'idle': {
        const times = { audio_start_ms: event.fromMs, audio_end_ms: event.atMs };
        return [{ ...INPUT.idle, ...times, item_id: event.item }];
      }
      case 'key':
        return [{ ...INPUT.key, event: event.digit, received_at: Math.floor(this.#parts.unixMs() / 1000) }];
      case 'item.added':
        return added(event.item, event.previous);
      case 'item.cut': {
        const { item, heard: transcript, soundMs } = event;
        const audio_end_ms = Math.round(soundMs);
        const cut = { item_id: item.id, content_index: 0, audio_end_ms, transcript };
        return [{ type: 'conversation.item.truncated', ...cut }];
      }
      default:
        return this.#response(event);
    }
  }

  #transcribed(event: Extract<TalkEvent, { type: 'turn.text' | 'turn.failed' }>): readonly RealtimeEvent[] {
    const of = { item_id: event.item.id, content_index: 0 };
    if (event.type === 'turn.failed') {
      const error = { type: 'server_error', ...this.#parts.wordsOf(event.error), param: null };
      return [{ type: `${TRANSCRIPTION}.failed`, ...of, error }];
    }
    const transcript = event.item.text ?? '';
    const usage = { type: 'duration', seconds: event.seconds };
    const delta = transcript === '' ? [] : [{ type: `${TRANSCRIPTION}.delta`, ...of, delta: transcript }];
    return [...delta, { type: `${TRANSCRIPTION}.completed`, ...of, transcript, usage }];
  }

  #response(event: ResponseEvent): readonly RealtimeEvent[] {
    switch (event.type) {
      case 'response.created':
      case 'response.done':
        return [{ type: event.type, response: this.#responseObject(event.response) }];
      case 'output.added':
        return this.#outputAdded(event.output, event.isNew);
      case 'output.text':
        return [{ type: `${textOf(event.output)}.delta`, ...partOf(event.output), delta: event.text }];
      case 'output.done':
        return this.#outputDone(event.output, event.text);
      case 'output.called':
        return this.#outputCalled(event);
      case 'sound.started':
      case 'sound.stopped':
      case 'sound.cleared': {
        const step = event.type.slice('sound.'.length);
        return [{ type: `output_audio_buffer.${step}`, response_id: event.response.id }];
      }
    }
  }

  #outputAdded(output: Output, isNew: boolean): readonly RealtimeEvent[] {
    const { response, item, index: output_index } = output;
    const open = { ...itemObject(item), status: 'in_progress' };
    const object = item.type === 'message' ? { ...open, content: [] } : { ...open, arguments: '' };
    const begun: RealtimeEvent[] = [
      { type: 'response.output_item.added', response_id: response.id, output_index, item: object },
    ];
    if (isNew && response.isKept) {
      const facts = { previous_item_id: this.#parts.before(item.id), item: object };
      for (const step of ['added', 'created']) begun.push({ type: `conversation.item.${step}`, ...facts });
    }
    if (item.type === 'message')
      begun.push({ type: 'response.content_part.added', ...partOf(output), part: contentPart(output, '') });
    return begun;
  }

  #outputDone(output: Output, text: string): readonly RealtimeEvent[] {
    const part = partOf(output);
    const words = output.response.isSpoken ? { transcript: text } : { text };
    return [
      { type: `${textOf(output)}.done`, ...part, ...words },
      { type: 'response.content_part.done', ...part, part: contentPart(output, text) },
      ...this.#itemDone(output),
    ];
  }

  #outputCalled({ output, call }: Extract<TalkEvent, { type: 'output.called' }>): readonly RealtimeEvent[] {
    const { response, item, index: output_index } = output;
    const of = { response_id: response.id, item_id: item.id, output_index, call_id: call.id };
    const type = 'response.function_call_arguments';
    return [
      { type: `${type}.delta`, ...of, delta: call.arguments },
      { type: `${type}.done`, ...of, name: call.name, arguments: call.arguments },
      ...this.#itemDone(output),
    ];
  }

  #itemDone({ response, item, index: output_index }: Output): readonly RealtimeEvent[] {
    const object = itemObject(item);
    const done = { type: 'response.output_item.done', response_id: response.id, output_index, item: object };
    if (!response.isKept) return [done];
    const previous_item_id = this.#parts.before(item.id);
    return [done, { type: 'conversation.item.done', previous_item_id, item: object }];
  }

  #responseObject(response: TalkResponse): object {
    const { id, status, reason, error, outputs, isKept, isSpoken, metadata } = response;
    const details =
      status === 'cancelled'
        ? { type: status, reason }
        : error === undefined
          ? null
          : { type: 'failed', error: { type: 'server_error', code: this.#parts.wordsOf(error).code } };
    return {
      id,
      object: 'realtime.response',
      status,
      status_details: details,
      output: outputs.map(({ item }) => itemObject(item)),
      conversation_id: isKept ? this.#parts.conversation : null,
      output_modalities: [isSpoken ? 'audio' : 'text'],
      max_output_tokens: 'inf',
      metadata,
    };
  }
}

type ResponseEvent = Extract<
  TalkEvent,
  { type: `response.${string}` | `output.${string}` | `sound.${string}` }
>;

const INPUT = {
  started: { type: 'input_audio_buffer.speech_started' },
  stopped: { type: 'input_audio_buffer.speech_stopped' },
  committed: { type: 'input_audio_buffer.committed' },
  idle: { type: 'input_audio_buffer.timeout_triggered' },
  key: { type: 'input_audio_buffer.dtmf_event_received' },
} as const;

/** An item that is complete at once. */
function added(item: TalkItem, previous_item_id: string | null): readonly RealtimeEvent[] {
  const facts = { previous_item_id, item: itemObject(item) };
  return ['added', 'created', 'done'].map((step) => ({ type: `conversation.item.${step}`, ...facts }));
}

export function itemObject(item: TalkItem): object {
  const { id, type } = item;
  const head = { id, object: 'realtime.item', type };
  switch (type) {
    case 'message':
      return { ...head, status: item.status, role: item.role, content: [contentOf(item)] };
    case 'function_call': {
      const { id: call_id, name, arguments: given } = item.call;
      return { ...head, status: 'completed', call_id, name, arguments: given };
    }
    case 'function_call_output':
      return { ...head, status: 'completed', call_id: item.call, output: item.output };
  }
}

function contentOf({ role, isSound, text }: Extract<TalkItem, { type: 'message' }>): object {
  const side = role === 'assistant' ? 'output' : 'input';
  if (isSound) return { type: `${side}_audio`, transcript: text ?? null };
  return { type: `${side}_text`, text: text ?? '' };
}

function textOf({ response }: Output): string {
  return response.isSpoken ? 'response.output_audio_transcript' : 'response.output_text';
}

export function partOf({ response, item, index: output_index }: Output) {
  return { response_id: response.id, item_id: item.id, output_index, content_index: 0 };
}

function contentPart({ response }: Output, text: string): object {
  return response.isSpoken ? { type: 'audio', transcript: text } : { type: 'text', text };
}
