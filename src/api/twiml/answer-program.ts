// The program in an answer to a request for a document, by its content type: TwiML, a text that is spoken, or
// a sound that is played. The call ends behind a text and a sound.
import { type Program, ProgramError } from '../../ivr/door.js';
import type { Fetched } from './document-fetch.js';
import { shownUrl } from './document-url.js';
import { INVALID_CONTENT_TYPE } from './twiml-errors.js';
import { parseTwiml } from './twiml-parser.js';

const MOST_DECLARATION = 200; // characters
const TWIML = ['text/xml', 'application/xml', 'text/html'];

/** Throws a ProgramError. A sound has the URL of the answer as its name. */
export function answerProgram(fetched: Fetched): Program {
  const { url, contentType } = fetched;
  if (isSound(fetched)) return { verbs: [{ verb: 'play', sound: url, times: 1 }], warnings: [] };
  if (TWIML.includes(contentType)) return parseTwiml(textIn(fetched), url);
  if (contentType === 'text/plain') return plainProgram(textIn(fetched), url);
  const stated = contentType === '' ? 'it has none' : `not ${contentType.slice(0, 100)}`;
  const message = `the content type of a document must be ${TWIML.join(', ')}, text/plain or audio/*, ${stated}`;
  throw new ProgramError({ code: INVALID_CONTENT_TYPE, message, document: shownUrl(url) });
}

export function isSound({ contentType }: Fetched): boolean {
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
