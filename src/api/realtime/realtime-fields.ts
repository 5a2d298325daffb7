// Reads the client events of OpenAI's Realtime API on a data channel, and their items.
//
// https://platform.openai.com/docs/api-reference/realtime-client-events
import type { ItemReference, ResponseRequest } from '../../agents/steered-reply.js';
import type { NewItem } from '../../agents/talk-items.js';
import { choiceIn, type Fields, invalid, numberIn, stringIn } from '../http/message-fields.js';

export const MOST_MESSAGE_BYTES = 64 * 1024;
/** Limit of a message on connections whose sound goes in messages. */
export const MOST_SOUND_BYTES = 1024 * 1024;
const MOST_ID = 128; // characters
const MOST_NAME = 64;
const MOST_PARTS = 32; // of the content of an item
const MOST_INPUT = 100; // items of one response
const MOST_AUDIO_MS = 86_400_000;
const METADATA = { entries: 16, name: 64, value: 512 } as const;
const ROLES = ['user', 'assistant', 'system'] as const;

/** Null counts as absent, also within the object. Throws INVALID_FIELD. */
export function objectIn(fields: Fields, name: string): Fields | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'object' && !Array.isArray(value))
    return Object.fromEntries(Object.entries(value).filter(([at, field]) => field !== null || MEANS.has(at)));
  throw invalid(name, 'must be an object');
}

/** Fields of which null means something. */
const MEANS: ReadonlySet<string> = new Set(['turn_detection']);

export function listIn(fields: Fields, name: string, most: number): readonly unknown[] | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value) && value.length <= most) return value as unknown[];
  throw invalid(name, `must be a list of at most ${most}`);
}

/** An id that must be there. */
export function idIn(fields: Fields, name: string): string {
  const id = stringIn(fields, name, MOST_ID);
  if (id === undefined || id === '') throw invalid(name, 'must be an id');
  return id;
}

export function audioEndIn(fields: Fields): number {
  const ms = numberIn(fields, 'audio_end_ms', 0, MOST_AUDIO_MS);
  if (ms === undefined) throw invalid('audio_end_ms', 'must be milliseconds');
  return ms;
}

/** Throws INVALID_FIELD unless `content_index` names the only part of an item. */
export function checkPart(fields: Fields): void {
  if (fields['content_index'] !== 0) throw invalid('content_index', 'must be 0: an item has one part');
}

/** Null: the first place; undefined: the last one. */
export function placeIn(fields: Fields): string | null | undefined {
  const before = stringIn(fields, 'previous_item_id', MOST_ID);
  return before === 'root' ? null : before;
}

/** Throws INVALID_FIELD. `makeId` names a call of a function that has no id. */
export function readItem(fields: Fields, name: string, makeId: () => string): NewItem {
  const item = objectIn(fields, name);
  if (item === undefined) throw invalid(name, 'must be an object');
  const type = choiceIn(item, 'type', ['message', 'function_call', 'function_call_output']);
  const given = stringIn(item, 'id', MOST_ID);
  const id = given === undefined || given === '' ? {} : { id: given };
  switch (type) {
    case 'message': {
      const role = choiceIn(item, 'role', ROLES);
      if (role === undefined) throw invalid('role', `must be one of ${ROLES.join(', ')}`);
      return { type, ...id, role, text: readContent(item) };
    }
    case 'function_call': {
      const call = { id: stringIn(item, 'call_id', MOST_ID) ?? makeId() };
      const [called, given_] = [stringIn(item, 'name', MOST_NAME), stringIn(item, 'arguments')];
      if (called === undefined || called === '') throw invalid('name', 'must be the name of a function');
      return { type, ...id, call: { ...call, name: called, arguments: given_ ?? '{}' } };
    }
    case 'function_call_output': {
      const output = stringIn(item, 'output');
      if (output === undefined) throw invalid('output', 'must be a string');
      return { type, ...id, call: idIn(item, 'call_id'), output };
    }
    default:
      throw invalid('item.type', 'must be "message", "function_call" or "function_call_output"');
  }
}

/** The texts of the parts, joined as they are. */
function readContent(item: Fields): string {
  const parts = listIn(item, 'content', MOST_PARTS);
  if (parts === undefined || parts.length === 0) throw invalid('content', 'must be a list of parts');
  const texts = parts.map((given) => {
    const part = objectIn({ content: given }, 'content') ?? {};
    const type = stringIn(part, 'type') ?? '';
    if (['input_text', 'output_text', 'text'].includes(type)) return stringIn(part, 'text') ?? '';
    if (['input_audio', 'output_audio', 'audio'].includes(type) && part['audio'] === undefined)
      return stringIn(part, 'transcript') ?? '';
    throw invalid('content.type', 'must be "input_text" or "output_text": messages carry no sound or image');
  });
  return texts.join('');
}

/** The part of a response request that holds without a session. Throws INVALID_FIELD. */
export function readResponse(
  response: Fields,
  makeId: () => string,
): Pick<ResponseRequest, 'input' | 'isKept' | 'metadata'> {
  const conversation = choiceIn(response, 'conversation', ['auto', 'none']);
  const input = listIn(response, 'input', MOST_INPUT);
  return {
    isKept: conversation !== 'none',
    metadata: readMetadata(response),
    ...(input === undefined ? {} : { input: input.map((item) => readInput(item, makeId)) }),
  };
}

function readInput(given: unknown, makeId: () => string): NewItem | ItemReference {
  const item = objectIn({ input: given }, 'input') ?? {};
  if (item['type'] === 'item_reference') return { type: 'item_reference', id: idIn(item, 'id') };
  return readItem({ input: item }, 'input', makeId);
}

function readMetadata(response: Fields): Readonly<Record<string, string>> | null {
  const metadata = objectIn(response, 'metadata');
  if (metadata === undefined) return null;
  const entries = Object.entries(metadata);
  const isFit = entries.every(
    ([name, value]) =>
      name.length <= METADATA.name && typeof value === 'string' && value.length <= METADATA.value,
  );
  if (isFit && entries.length <= METADATA.entries) return metadata as Readonly<Record<string, string>>;
  const { entries: most, name, value } = METADATA;
  throw invalid('metadata', `must be at most ${most} strings of ${value} characters, with names of ${name}`);
}
