// Bodies of JSON: large ones are large by a string, such as a reference audio.
//
// One that is large by its structure instead (millions of fields, lists within
// lists) holds the event loop for seconds while it is parsed, and everybody
// with it; so it is refused before that, at the cost of one look at its bytes.
import type { FastifyInstance } from 'fastify';
import { ParleyError } from '../../errors.js';

const MOST_OUTSIDE_BYTES = 64 * 1024; // a batch of 32, every field set and indented, has a fifth of it
const MOST_QUOTES = 256 * 1024;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** For all routes that are added after it, and ask for no parser of their own. */
export function addJsonBody(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers(); // text, too, which no route takes
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    // A body of no bytes is none, whatever its header says: some clients name a type always.
    if (body.length === 0) {
      done(null);
      return;
    }
    if (isMostlyStructure(body)) {
      const limit = `a body may have ${MOST_OUTSIDE_BYTES} bytes outside of strings, and ${MOST_QUOTES} quotes`;
      done(new ParleyError('TOO_LARGE', limit));
      return;
    }
    void parse(request, body.toString(), done);
  });
}

/** What is not valid JSON is left to the parser, which is as fast at that. */
export function isMostlyStructure(body: Buffer): boolean {
  if (body.length <= MOST_OUTSIDE_BYTES) return false;
  let outside = 0;
  let quotes = 0;
  let inString = false;
  for (let at = 0; at < body.length;) {
    const found = body.indexOf(QUOTE, at);
    const quote = found < 0 ? body.length : found;
    if (!inString) outside += quote - at;
    if (outside > MOST_OUTSIDE_BYTES || ++quotes > MOST_QUOTES) return true;
    if (!inString || !isEscaped(body, quote)) inString = !inString;
    at = quote + 1;
  }
  return false;
}

function isEscaped(body: Buffer, quote: number): boolean {
  let from = quote;
  while (body[from - 1] === BACKSLASH) from--;
  return (quote - from) % 2 === 1;
}
