// A TwiML document as a tree of elements, each with its place in the source. The reader refuses documents
// that are not well-formed XML or whose root is not <Response>.
import { type Place, PlaceFinder } from '../../text/markup/markup-error.js';
import { readXml, type Tag, type XmlDialect, type XmlReader } from '../../text/markup/xml.js';
import { ProgramError } from '../../ivr/door.js';
import { INVALID_ROOT, NOT_WELL_FORMED } from './twiml-errors.js';

export interface TwimlElement extends Tag {
  /** Elements and texts, in order. Entities of the texts are resolved. */
  readonly children: readonly (TwimlElement | string)[];
}

interface GrowingElement extends TwimlElement {
  readonly children: (TwimlElement | string)[];
}

const ROOT = 'Response';

/**
 * The root element. Throws a ProgramError with line and column.
 * @param document URL of the document, for errors
 */
export function readTwimlDocument(source: string, document: string | undefined): TwimlElement {
  const error = (code: string, offset: number, what: string) => {
    const place = placeIn(source, offset);
    return new ProgramError({ code, message: `the document ${what}`, document, ...place });
  };
  const dialect: XmlDialect = {
    root: ROOT,
    error: (_, offset, what) => error(NOT_WELL_FORMED, offset, `is not well-formed: ${what}`),
  };
  const reader = new TreeReader();
  readXml(source, reader, dialect);
  const { root } = reader;
  if (root === undefined) throw error(NOT_WELL_FORMED, 0, 'is not well-formed: it has no element');
  if (root.name !== ROOT) {
    const name = root.name.slice(0, 40);
    throw error(INVALID_ROOT, root.at, `must have the root <${ROOT}>, not <${name}>; case matters`);
  }
  return root;
}

export function placeIn(source: string, offset: number): Place {
  return new PlaceFinder(source).next(offset);
}

class TreeReader implements XmlReader {
  root: TwimlElement | undefined;
  readonly #open: GrowingElement[] = [];

  open(tag: Tag): void {
    const element: GrowingElement = { ...tag, children: [] };
    this.#open.at(-1)?.children.push(element);
    this.#open.push(element);
    this.root ??= element;
  }

  close(): void {
    this.#open.pop();
  }

  text(text: string): void {
    this.#open.at(-1)?.children.push(text);
  }
}

/** The text directly within an element, trimmed. */
export function textOf({ children }: TwimlElement): string {
  return children
    .filter((child) => typeof child === 'string')
    .join('')
    .trim();
}

export function elementsOf({ children }: TwimlElement): readonly TwimlElement[] {
  return children.filter((child) => typeof child !== 'string');
}
