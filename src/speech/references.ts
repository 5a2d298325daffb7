// From a sample of a voice, as a request names or holds it, to a voice that an
// engine can speak with.
import { hash } from 'node:crypto';
import { ParleyError } from '../errors.js';
import type { VoiceReference } from './engine.js';
import type { ReferenceAudio } from './reference-audio.js';
import { REFERENCE_RATE } from './reference-sound.js';
import type { VoiceAbilities } from './routing.js';
import { fetchFile, type Network, SYSTEM_NETWORK } from './remote-file.js';
import { renderingKey } from './rendering-key.js';
import type { VoiceCache } from './voice-cache.js';

export interface SampleWish {
  /** The file itself, or a URL of it. */
  readonly source: string | Uint8Array;
  /** What is said in it. */
  readonly text?: string;
  readonly xVectorOnly?: boolean;
  /** BCP 47 tag that is to be spoken, where it is stated. */
  readonly language?: string;
}

export interface ReferencesOptions {
  readonly audio: Pick<ReferenceAudio, 'decode'>;
  readonly engines: Pick<VoiceAbilities, 'checkAble'>;
  readonly cache: VoiceCache;
  /** Bytes of one file. */
  readonly maxBytes: number;
  /** Files may be fetched from http(s) URLs. */
  readonly urls: boolean;
  readonly network?: Network;
}

const FIELD = 'ref_audio';
const DATA_URL = /^data:[^,]{0,200}?(;base64)?,/i;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

export class References {
  readonly #options: ReferencesOptions;

  constructor(options: ReferencesOptions) {
    this.#options = options;
  }

  /** Rejects with CAPABILITY_MISSING and LANGUAGE_UNAVAILABLE before anything is looked at, INVALID_FIELD, AUDIO_INVALID, TOO_LARGE, QUEUE_FULL or ABORTED. */
  async reference(
    { source, text, xVectorOnly, language }: SampleWish,
    signal: AbortSignal,
    field = FIELD,
  ): Promise<VoiceReference> {
    this.#options.engines.checkAble('sample', language, field);
    const bytes = await this.#bytesOf(source, field, signal);
    const content = hash('sha256', bytes, 'hex');
    const samples = await this.#samplesOf(content, bytes, field, signal);
    return {
      kind: 'sample',
      hash: sampleHash(content, text, xVectorOnly),
      samples,
      rate: REFERENCE_RATE,
      ...(text === undefined ? {} : { text }),
      ...(xVectorOnly === undefined ? {} : { xVectorOnly }),
    };
  }

  async #samplesOf(
    content: string,
    bytes: Uint8Array,
    field: string,
    signal: AbortSignal,
  ): Promise<Float32Array> {
    const { audio, cache } = this.#options;
    const key = `file ${content}`;
    const known = cache.find(key);
    if (known !== undefined) return known;
    const samples = await audio.decode(bytes, field, signal);
    cache.keep(key, samples);
    return samples;
  }

  async #bytesOf(source: string | Uint8Array, field: string, signal: AbortSignal): Promise<Uint8Array> {
    const { maxBytes, urls, network = SYSTEM_NETWORK } = this.#options;
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
}

/** Of everything that changes how the voice sounds. */
export function sampleHash(content: string, text?: string, xVectorOnly?: boolean): string {
  return renderingKey(['sample', content, text, xVectorOnly]);
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
