// The TwiML door of one call: it fetches the call's documents, reads them as programs, and gives the results
// of verbs to the next document.
import { asParleyError, isAborted, ParleyError } from '../../errors.js';
import {
  type Door,
  type OpenDoor,
  type Program,
  type ProgramCall,
  ProgramError,
  type VerbMistake,
} from '../../ivr/door.js';
import type { Notice, Target, VerbResult } from '../../ivr/verbs.js';
import type { PlayedSound } from '../../speaking/speech-piece.js';
import type { Time } from '../../time.js';
import { callParameters, errorParameters, noticeParameters, resultParameters } from './call-parameters.js';
import { CallbackQueue } from './callback-queue.js';
import { CookieJar } from './cookie-jar.js';
import type { DocumentFetcher, Fetched, FetchRequest } from './document-fetch.js';
import type { DocumentSounds } from './document-sounds.js';
import { shownUrl } from './document-url.js';
import { callSid, recordingUrl, type TwimlAccount } from './sids.js';
import { INVALID_COACH, INVALID_CONTENT_TYPE, INVALID_URL, LABEL_TAKEN } from './twiml-errors.js';
import { parseTwiml } from './twiml-parser.js';
import type { FormFields } from './twiml-signature.js';

const MOST_DECLARATION = 200; // characters
const TWIML = ['text/xml', 'application/xml', 'text/html'];

interface DocumentSource {
  /** Asked in place of a document that cannot be had; absent: none is. */
  readonly fallback?: Target | undefined;
}

interface DocumentAtUrl extends DocumentSource {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  /** Further parameters of the first request; absent: there are none. */
  readonly parameters?: FormFields | undefined;
}

/** The text of a document without a URL. */
interface DocumentText extends DocumentSource {
  readonly text: string;
}

export type TwimlSource = DocumentAtUrl | DocumentText;

export interface TwimlDoorParts {
  readonly fetcher: Pick<DocumentFetcher, 'fetch'>;
  readonly sounds: Pick<DocumentSounds, 'decode'>;
  /** @param owner name of the API key of the call; undefined: it belongs to every key */
  readonly accountOf: (owner: string | undefined) => TwimlAccount;
  /** The address of this server for applications, without `/` at its end. */
  readonly baseUrl: () => string;
  readonly time?: Pick<Time, 'after'>;
}

export function openTwimlDoor(source: TwimlSource, parts: TwimlDoorParts): OpenDoor {
  return (call) => new TwimlDoor(source, parts, call);
}

class TwimlDoor implements Door {
  readonly #source: TwimlSource;
  readonly #parts: TwimlDoorParts;
  readonly #call: ProgramCall;
  readonly #account: TwimlAccount;
  readonly #cookies: CookieJar;
  /** The queue of the time before the end of the call, or that of the time behind it. */
  #callbacks: CallbackQueue;
  readonly #closing = new AbortController();
  /** An answer that was a sound in place of a document. */
  #answeredSound: Fetched | undefined;

  constructor(source: TwimlSource, parts: TwimlDoorParts, call: ProgramCall, cookies = new CookieJar()) {
    this.#source = source;
    this.#parts = parts;
    this.#call = call;
    this.#cookies = cookies;
    this.#callbacks = new CallbackQueue(parts.time);
    this.#account = parts.accountOf(call.about.owner);
  }

  begin(signal: AbortSignal): Promise<Program> {
    const source = this.#source;
    if ('text' in source) return this.#orFallback(async () => parseTwiml(source.text, undefined), signal);
    const { url, method, parameters = [] } = source;
    return this.#programAt({ at: url, method }, parameters, signal);
  }

  follow(target: Target, result: VerbResult, signal: AbortSignal): Promise<Program> {
    return this.#programAt(
      target,
      resultParameters(result, this.#recordingUrl, this.#call.about.owner),
      signal,
    );
  }

  tell(target: Target, notice: Notice): void {
    const own = noticeParameters(notice, this.#recordingUrl, this.#call.about.owner);
    const names = new Set(own.map(([name]) => name));
    // The events of a conference are about its members, not about this call.
    const isOfRoom = notice.of === 'conference' || (notice.of === 'recording' && notice.room !== undefined);
    const about: FormFields = isOfRoom ? [['AccountSid', this.#account.sid]] : this.#parameters();
    const parameters = [...about.filter(([name]) => !names.has(name)), ...own];
    const isTaken = this.#callbacks.add((signal) => this.#callBack(target, parameters, signal));
    if (isTaken) return;
    const message = `the callback is not sent: too many callbacks of the call wait (${notice.of})`;
    this.#call.warn({ message, document: shownUrl(target.at) });
  }

  async sound(name: string, signal: AbortSignal): Promise<PlayedSound> {
    const given = AbortSignal.any([signal, this.#closing.signal]);
    const answered = this.#answeredSound;
    const isAnswer = answered !== undefined && answered.url === name;
    const fetched = isAnswer ? answered : await this.#fetch('sound', { at: name, method: 'GET' }, [], given);
    return this.#parts.sounds.decode(fetched, given);
  }

  ofLeg(call: ProgramCall): Door {
    // The fallback conducts a call. A program over a leg only decides whether the two are joined.
    return new TwimlDoor({ ...this.#source, fallback: undefined }, this.#parts, call, this.#cookies);
  }

  nameOf(call: string): string {
    return callSid(call);
  }

  codeOf(mistake: VerbMistake): string {
    return mistake === 'coach' ? INVALID_COACH : LABEL_TAKEN;
  }

  /** Callbacks go on: a conference outlives its first member, and a result may come at the end. */
  close(): void {
    this.#closing.abort();
    this.#callbacks.finish();
    this.#callbacks = new CallbackQueue(this.#parts.time);
    this.#answeredSound = undefined;
  }

  #programAt(target: Target, results: FormFields, signal: AbortSignal): Promise<Program> {
    return this.#orFallback((given) => this.#load(target, results, given), signal);
  }

  async #orFallback(load: (signal: AbortSignal) => Promise<Program>, signal: AbortSignal): Promise<Program> {
    const given = AbortSignal.any([signal, this.#closing.signal]);
    const { fallback } = this.#source;
    try {
      return await load(given);
    } catch (error) {
      if (!(error instanceof ProgramError) || fallback === undefined) throw error;
      this.#call.warn(error.warning);
      return await this.#load(fallback, errorParameters(error.warning), given);
    }
  }

  async #load(target: Target, results: FormFields, signal: AbortSignal): Promise<Program> {
    if (target.at === '') {
      const message = 'a document without a URL must name its action or redirect by an absolute URL';
      throw new ProgramError({ code: INVALID_URL, message });
    }
    const fetched = await this.#fetch('document', target, [...this.#parameters(), ...results], signal);
    this.#answeredSound = isSound(fetched) ? fetched : undefined;
    return answerProgram(fetched);
  }

  readonly #recordingUrl = (name: string): string =>
    recordingUrl(this.#parts.baseUrl(), this.#account.sid, name);

  #parameters(): FormFields {
    return callParameters(this.#call, this.#account.sid);
  }

  /** Never rejects. */
  async #callBack(target: Target, parameters: FormFields, signal: AbortSignal): Promise<void> {
    try {
      await this.#fetch('callback', target, parameters, signal);
    } catch (error) {
      if (isAborted(error)) return;
      const { message } = asParleyError(error, 'WRONG_STATE');
      const warning = error instanceof ProgramError ? error.warning : { message };
      this.#call.warn(warning);
    }
  }

  #fetch(
    kind: FetchRequest['kind'],
    target: Target,
    parameters: FormFields,
    signal: AbortSignal,
  ): Promise<Fetched> {
    if (signal.aborted) return Promise.reject(new ParleyError('ABORTED', 'the call is over'));
    const { authToken } = this.#account;
    return this.#parts.fetcher.fetch({ kind, target, parameters, authToken, cookies: this.#cookies }, signal);
  }
}

/**
 * The program in an answer to a request for a document, by its content type: TwiML, a text that is spoken, or
 * a sound that is played. The call ends behind a text and a sound. A sound has the URL of the answer as its
 * name. Throws a ProgramError.
 */
export function answerProgram(fetched: Fetched): Program {
  const { url, contentType } = fetched;
  if (isSound(fetched)) return { verbs: [{ verb: 'play', sound: url, times: 1 }], warnings: [] };
  if (TWIML.includes(contentType)) return parseTwiml(textIn(fetched), url);
  if (contentType === 'text/plain') return plainProgram(textIn(fetched), url);
  const stated = contentType === '' ? 'it has none' : `not ${contentType.slice(0, 100)}`;
  const message = `the content type of a document must be ${TWIML.join(', ')}, text/plain or audio/*, ${stated}`;
  throw new ProgramError({ code: INVALID_CONTENT_TYPE, message, document: shownUrl(url) });
}

function isSound({ contentType }: Fetched): boolean {
  return contentType.startsWith('audio/');
}

/** A text that is meant as TwiML and is not well-formed is no text to speak. */
function plainProgram(source: string, url: string): Program {
  const text = source.trim();
  if (/^<(?:\?xml|Response)\b/.test(text)) return parseTwiml(source, url);
  const say = { verb: 'say', text, format: 'text', times: 1 } as const;
  return { verbs: text === '' ? [] : [say], warnings: [] };
}

/**
 * The charset of the content type counts, then that of the XML declaration (RFC 7303). One that is not known
 * is read as UTF-8. The decoder drops a byte order mark.
 */
function textIn({ body, charset = declaredCharset(body) }: Fetched): string {
  try {
    return new TextDecoder(charset).decode(body);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return new TextDecoder().decode(body);
  }
}

function declaredCharset(body: Buffer): string {
  const head = body.toString('latin1', 0, MOST_DECLARATION);
  return /^<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(head)?.[1] ?? 'utf-8';
}
