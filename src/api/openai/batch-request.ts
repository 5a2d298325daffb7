// The body of POST /v1/audio/speech/batch, as vLLM-Omni has it: a list of
// speech requests, and fields of the body itself where an item states none.
import { ParleyError } from '../../errors.js';
import { MAX_ITEMS } from './batch-schema.js';
import type { SpeechRequest } from '../../speaking/speech-request.js';
import type { FieldNames } from './field-names.js';
import { fieldNamesOf, readSpeechRequest, type SpeechBody } from './speech-request.js';

/** As its schema lets it through. */
export interface BatchBody extends Omit<SpeechBody, 'input'> {
  readonly items?: readonly object[];
  readonly requests?: readonly object[];
}

/** An item of the list as a request, or why it is refused. */
export type BatchItem = {
  /** Of the item in the body. */
  readonly place: string;
} & ({ readonly request: SpeechRequest; readonly names: FieldNames } | { readonly refusal: unknown });

/** The body of one request, held against its schema; throws what is wrong with it. */
export type CheckBody = (body: object) => SpeechBody;

const DEFAULT_FORMAT = 'wav'; // of this address only: its clients write what comes as .wav

/** Throws where the list itself is missing; what is wrong with an item is the item's own. */
export function readBatchRequest(body: BatchBody, check: CheckBody, client: string): BatchItem[] {
  const { items: named, requests, ...shared } = body;
  const field = named === undefined && requests !== undefined ? 'requests' : 'items';
  const items = named ?? requests;
  if (items === undefined) {
    throw new ParleyError('INVALID_FIELD', `"items" must be a list of 1 to ${MAX_ITEMS} speech requests`, {
      field: 'items',
    });
  }
  return items.map((item, index) => {
    const place = `${field}[${index}]`;
    const fields = withoutDelivery({ response_format: DEFAULT_FORMAT, ...shared, ...item });
    try {
      const checked = check(fields);
      return { place, request: readSpeechRequest(checked, client), names: fieldNamesOf(checked) };
    } catch (refusal) {
      return { place, refusal };
    }
  });
}

/** How a sound is sent is no question where all of them are sent in one answer. */
function withoutDelivery(fields: Readonly<Record<string, unknown>>): object {
  const { stream: _stream, stream_format: _form, non_streaming_mode: _whole, ...rest } = fields;
  return rest;
}
