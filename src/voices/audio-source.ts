// The bytes of a file of sound that a request holds or names.
import { ParleyError } from '../errors.js';
import { fetchFile, type Network, SYSTEM_NETWORK } from './remote-file.js';

export interface AudioSourceOptions {
  /** Bytes of one file. */
  readonly maxBytes: number;
  /** Files may be fetched from http(s) URLs. */
  readonly urls: boolean;
  readonly network?: Network;
}

const DATA_URL = /^data:[^,]{0,200}?(;base64)?,/i;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/**
 * Of the file itself, or of a URL of it. Rejects with INVALID_FIELD, AUDIO_INVALID (it cannot be had), TOO_LARGE or ABORTED.
 * @param field of the request, for what is wrong with it
 */
export async function audioBytes(
  source: string | Uint8Array,
  { maxBytes, urls, network = SYSTEM_NETWORK }: AudioSourceOptions,
  field: string,
  signal: AbortSignal,
): Promise<Uint8Array> {
  if (typeof source !== 'string') return withinLimit(source, maxBytes, field);
  if (/^data:/i.test(source)) return withinLimit(ofDataUrl(source, maxBytes, field), maxBytes, field);
  const taken = `a data: URL in base64${urls ? ', or an http(s) URL' : ''}`;
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(source)?.[0].toLowerCase();
  const isWeb = scheme === 'http:' || scheme === 'https:';
  if (!isWeb)
    throw invalid(field, `"${field}" must be ${taken}${scheme === undefined ? '' : `, not ${scheme}`}`);
  if (!urls)
    throw invalid(field, `"${field}" must be ${taken}; this server fetches no URLs (REFERENCE_URLS)`);
  if (!URL.canParse(source)) throw invalid(field, `"${field}" is no valid URL`);
  return fetchFile(new URL(source), { network, maxBytes, field }, signal);
}

function ofDataUrl(url: string, maxBytes: number, field: string): Uint8Array {
  const head = DATA_URL.exec(url);
  if (head === null || head[1] === undefined)
    throw invalid(field, `the data: URL in "${field}" must hold base64`);
  const text = url.slice(head[0].length);
  if (text.length * 3 > (maxBytes + 3) * 4) throw tooLarge(maxBytes, field);
  if (!BASE64.test(text)) throw invalid(field, `the data: URL in "${field}" is not valid base64`);
  return Buffer.from(text, 'base64');
}

export function withinLimit(bytes: Uint8Array, maxBytes: number, field: string): Uint8Array {
  if (bytes.length > maxBytes) throw tooLarge(maxBytes, field);
  return bytes;
}

function tooLarge(maxBytes: number, field: string): ParleyError {
  return new ParleyError('TOO_LARGE', `the audio in "${field}" may have ${maxBytes} bytes at most`, {
    field,
  });
}

function invalid(field: string, message: string): ParleyError {
  return new ParleyError('INVALID_FIELD', message, { field });
}
