// An XML document as a stream of tags and texts, each with its place in the
// source. The one home of the parser: saxes, which is strict about
// well-formedness, knows the five entities of XML and numbers, and expands none
// of a document's own. A document type is refused before it is read any further.
import { SaxesParser } from 'saxes';
import { markupError } from './markup-error.js';
import { SourceMap } from './source-map.js';

export interface Tag {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Offset of its angle bracket. */
  readonly at: number;
}

/** Receives the parser's events. An exception from a method stops the parser. */
export interface XmlReader {
  open(tag: Tag): void;
  close(tag: Tag): void;
  /** Within the root; entities are resolved. */
  text(text: string, map: SourceMap): void;
}

/** Elements within each other; documents that people and programs write have ten at most. */
export const MOST_NESTING = 64;

// Characters that XML 1.0 forbids. The check is needed because saxes accepts lone surrogates.
const FORBIDDEN = /(?![\t\n\r\u007F-\u009F])[\p{Cc}\p{Cs}\uFFFE\uFFFF]/u;
const BARE_AMPERSAND = /&(?!#\d{1,7};|#x[\dA-Fa-f]{1,6};|[A-Za-z]{1,32};)/g;
const CDATA = '<![CDATA[';

/** The kind of a document, in the words of its errors. */
export interface XmlDialect {
  /** Name of the root element. */
  readonly root: string;
  /** An error about what is at this offset of the source. */
  error(source: string, offset: number, what: string): Error;
}

const SSML: XmlDialect = { root: 'speak', error: markupError };

/**
 * Reads all of it. Throws an error of the dialect, or what the reader throws. Errors of SSML are
 * INVALID_FIELD with line and column.
 */
export function readXml(source: string, reader: XmlReader, dialect = SSML): void {
  refuseForbidden(source, dialect);
  new Pass(source, reader, dialect).run();
}

function refuseForbidden(source: string, dialect: XmlDialect): void {
  const at = source.search(FORBIDDEN);
  if (at < 0) return;
  const unit = source.charCodeAt(at);
  const code = unit.toString(16).toUpperCase().padStart(4, '0');
  const what = unit >= 0xd800 && unit <= 0xdfff ? 'half of a surrogate pair' : 'the control character';
  throw dialect.error(source, at, `${what} U+${code} has no place in XML`);
}

class Pass {
  readonly #source: string;
  readonly #reader: XmlReader;
  readonly #dialect: XmlDialect;
  readonly #parser = new SaxesParser({ xmlns: false, forceXMLVersion: true, defaultXMLVersion: '1.0' });
  /** Elements that are open, outermost first. */
  readonly #open: Tag[] = [];
  /** The one that was closed last. */
  #closing: Tag | undefined;
  /** Offset behind the last piece of markup or text. */
  #from = 0;
  /** Offset of the `<` of the tag whose name was read last. */
  #tagAt = 0;

  constructor(source: string, reader: XmlReader, dialect: XmlDialect) {
    this.#source = source;
    this.#reader = reader;
    this.#dialect = dialect;
  }

  run(): void {
    const parser = this.#parser;
    parser.on('error', (error) => this.#refuse(error.message));
    parser.on('doctype', () => {
      const at = this.#source.lastIndexOf('<!DOCTYPE', parser.position);
      throw this.#error(at, 'a document type is not taken');
    });
    parser.on('text', (text) => this.#text(text));
    parser.on('cdata', (text) => this.#cdata(text));
    // The parser reports it before its last bracket.
    parser.on('comment', () => void (this.#from = parser.position + 1));
    parser.on('processinginstruction', () => void (this.#from = parser.position));
    parser.on('opentagstart', ({ name }) => this.#tagBegins(name));
    parser.on('opentag', ({ name, attributes }) => this.#opened({ name, attributes, at: this.#tagAt }));
    parser.on('closetag', () => this.#closed());
    parser.write(this.#source).close();
  }

  #tagBegins(name: string): void {
    this.#tagAt = this.#source.lastIndexOf('<', this.#parser.position - 1);
    if (this.#open.length < MOST_NESTING) return;
    const what = `<${name.slice(0, 40)}> is nested ${MOST_NESTING + 1} deep, ${MOST_NESTING} is the most`;
    throw this.#error(this.#tagAt, what);
  }

  #opened(tag: Tag): void {
    this.#from = this.#parser.position;
    this.#open.push(tag);
    this.#reader.open(tag);
  }

  #closed(): void {
    this.#from = this.#parser.position;
    const tag = this.#open.pop();
    this.#closing = tag;
    if (tag !== undefined) this.#reader.close(tag);
  }

  #text(text: string): void {
    const end = this.#parser.position - 1; // the parser reports it with the bracket behind it
    if (this.#open.length > 0) this.#reader.text(text, originOf(this.#source, this.#from, end, text.length));
    this.#from = end;
  }

  #cdata(text: string): void {
    const { position } = this.#parser;
    const start = this.#from + CDATA.length;
    const map = originOf(this.#source, start, position - ']]>'.length, text.length, false);
    this.#from = position;
    this.#reader.text(text, map);
  }

  #refuse(message: string): never {
    const what = message.replace(/^\d+:\d+: /, '').replace(/\.$/, '');
    const at = Math.max(0, this.#parser.position - 1);
    BARE_AMPERSAND.lastIndex = this.#from;
    const ampersand = BARE_AMPERSAND.exec(this.#source);
    if (ampersand !== null && /entity|unexpected end|unclosed/.test(what)) {
      throw this.#error(ampersand.index, '& must be written as &amp;');
    }
    const open = this.#open.at(-1);
    if (what.startsWith('unclosed tag') && open !== undefined) {
      throw this.#error(open.at, `<${open.name}> is not closed`);
    }
    if (what === 'undefined entity') {
      const known = '&amp; &lt; &gt; &quot; &apos; and numbers such as &#233;';
      throw this.#error(at, `there is no such entity; there are ${known}`);
    }
    if (what === 'unexpected close tag') {
      const bracket = this.#source.lastIndexOf('<', at);
      throw this.#error(bracket, `<${this.#closing?.name ?? ''}> must be closed before this`);
    }
    if (what.startsWith('text data outside')) {
      const stray = /\S/g;
      stray.lastIndex = this.#from;
      const what = `text must stand within <${this.#dialect.root}>`;
      throw this.#error(stray.exec(this.#source)?.index ?? at, what);
    }
    throw this.#error(at, what);
  }

  #error(offset: number, what: string): Error {
    return this.#dialect.error(this.#source, offset, what);
  }
}

/**
 * Source map of a text at `start` to `end`. An entity becomes one character or a surrogate pair; CR LF
 * becomes one.
 */
function originOf(source: string, start: number, end: number, length: number, hasEntities = true): SourceMap {
  const map = new SourceMap();
  if (end - start === length) {
    map.add(length, start, length);
    return map;
  }
  const special = hasEntities ? /&[^;]*;|\r\n/g : /\r\n/g;
  special.lastIndex = start;
  let at = start;
  for (let found = special.exec(source); found !== null && found.index < end; found = special.exec(source)) {
    map.add(found.index - at, at, found.index - at);
    map.add(lengthOf(found[0]), found.index, found[0].length);
    at = special.lastIndex;
  }
  map.add(end - at, at, end - at);
  return map;
}

/** Units of what a reference stands for. */
function lengthOf(reference: string): number {
  const [, hexadecimal, decimal] = /^&#(?:x([\dA-Fa-f]+)|(\d+));$/.exec(reference) ?? [];
  const code = hexadecimal === undefined ? Number(decimal ?? 0) : Number.parseInt(hexadecimal, 16);
  return code > 0xffff ? 2 : 1;
}
