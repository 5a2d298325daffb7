// The fields `twiml` and `program` of requests: the program that conducts a call.
import {
  DOCUMENT_URL_RULE,
  isDocumentUrl,
  MOST_DOCUMENT_URL,
  type ProgramSource,
} from '../../config/ivr-config.js';
import { ParleyError } from '../../errors.js';
import type { JsonSchema } from '../http/json-schema.js';

const METHODS = ['GET', 'POST'] as const;

export interface ProgramFields {
  readonly twiml?: { readonly url: string; readonly method?: 'GET' | 'POST' };
  readonly program?: string;
}

export const TWIML_FIELD: JsonSchema = {
  type: 'object',
  required: ['url'],
  description: 'the TwiML document that conducts the call, at a host that the operator allows',
  examples: [{ url: 'https://ivr.example.com/voice' }],
  properties: {
    url: { type: 'string', minLength: 1, maxLength: MOST_DOCUMENT_URL, description: 'an http or https URL' },
    method: { type: 'string', enum: [...METHODS], default: 'POST', description: 'how it is fetched' },
  },
};

export const PROGRAM_FIELD: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 100,
  description: 'the program of IVR_FILE that conducts the call',
  examples: ['main'],
};

/** Undefined without a program. Throws INVALID_FIELD. */
export function readProgramFields({ twiml, program: name }: ProgramFields): ProgramSource | undefined {
  if (name !== undefined) return { kind: 'program', name };
  if (twiml === undefined) return undefined;
  if (!isDocumentUrl(twiml.url))
    throw new ParleyError('INVALID_FIELD', `"twiml.url" must be ${DOCUMENT_URL_RULE}`, {
      field: 'twiml.url',
    });
  return { kind: 'twiml', url: twiml.url, method: twiml.method ?? 'POST' };
}
