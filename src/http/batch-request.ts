// The body of POST /v1/audio/speech/batch, as vLLM-Omni has it: a list of
// speech requests, and fields of the body itself where an item states none.
import { ParleyError } from '../errors.js';
import { readSpeechRequest, type SpeechWish } from './speech-request.js';
import { renamedFields } from './spoken-reply.js';

/** What an item asks for, or why it cannot be had. */
export type BatchItem = { readonly place: string } & (
  { readonly wish: SpeechWish } | { readonly refusal: unknown }
);

export const MAX_ITEMS = 32;
const DEFAULT_FORMAT = 'wav'; // of this address only: its clients write what comes as .wav

/** Throws where the list itself is wrong; what is wrong with an item is the item's own. */
export function readBatchRequest(body: unknown): BatchItem[] {
  if (!isObject(body)) {
    throw new ParleyError('MALFORMED', 'the body must be a JSON object with the list "items"');
  }
  const { items: named, requests, ...shared } = body;
  const field = named === undefined && requests !== undefined ? 'requests' : 'items';
  const items = named ?? requests;
  if (!Array.isArray(items) || items.length < 1 || items.length > MAX_ITEMS) {
    throw new ParleyError('INVALID_FIELD', `"${field}" must be a list of 1 to ${MAX_ITEMS} speech requests`, {
      field,
    });
  }
  return items.map((item: unknown, index) => readItem(shared, item, `${field}[${index}]`));
}

function readItem(shared: object, item: unknown, place: string): BatchItem {
  if (!isObject(item)) {
    throw new ParleyError('INVALID_FIELD', `"${place}" must be an object with at least "input"`, {
      field: place,
    });
  }
  const fields = { response_format: DEFAULT_FORMAT, ...stated(shared), ...stated(item) };
  try {
    return { place, wish: readSpeechRequest({ ...fields, stream: null, stream_format: null }) };
  } catch (error) {
    return { place, refusal: error };
  }
}

/** Null is how some clients leave a field out. */
function stated(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/** The error with the item's place before the field, as the service names it or the client does. */
export function placed(error: unknown, place: string): unknown {
  if (!(error instanceof ParleyError) || error.field === undefined) return error;
  const field = error.field === 'text' ? 'input' : error.field;
  return renamedFields(error, { [error.field]: `${place}.${field}` });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
