// Reads chapter and verse behind a book of the Bible: John 3:16, Joh 3,16, Mt 5, 3-12, 诗篇23:1-6. The
// names of books are cue words of the language. A comma parts chapter and verse where it is the decimal
// mark, and only behind a short form: "Daniel 3,5" may be a result. A colon does so behind every name.
import { WORD_UNIT } from '../characters.js';
import type { Language } from '../language.js';
import { LiteralTable } from '../literals.js';
import type { Row } from '../dispatch.js';
import type { Reading, TypedFound } from '../reading.js';

const PLACE = new RegExp(
  String.raw`(\.?)( ?)(\d{1,3})([:：]|, ?)([1-9]\d{0,2})(?: ?[-–~～] ?([1-9]\d{0,2}))?(?!${WORD_UNIT}|[:,]\d| ?[AaPp]\.?[Mm])`,
  'uy',
);

export class Verses {
  readonly #books: LiteralTable<string>;
  readonly #language: Language;

  constructor(language: Language) {
    this.#language = language;
    this.#books = new LiteralTable(Object.entries(language.writing.books));
  }

  readonly at: Row = {
    knows: ({ first, isFresh }) => isFresh && this.#books.beginsWith(first),
    recognise: (reading) => this.#verse(reading),
  };

  #verse(reading: Reading): TypedFound | undefined {
    const { text, at } = reading;
    const book = this.#books.at(text, at);
    if (book === undefined) return undefined;
    const match = reading.match(PLACE, at + book.written.length);
    if (match === undefined) return undefined;
    const [, stop, gap = '', chapter = '', mark = '', first = '', last] = match;
    const { unspaced, tag } = this.#language;
    if (gap === '' && stop === '' && unspaced !== true && tag !== 'ko') return undefined;
    if (mark.startsWith(',') && !this.#takesComma(book)) return undefined;
    const end = at + book.written.length + match[0].length;
    return this.#isTime(reading, end)
      ? undefined
      : this.#found(reading, end, [book.value, chapter, first, last]);
  }

  #found(
    reading: Reading,
    end: number,
    [book, chapter, first, last]: [book: string, chapter: string, first: string, last: string | undefined],
  ): TypedFound {
    const token = { type: 'verse', book, chapter, first, last, around: reading.around(end) } as const;
    return { end, token, rule: 'identifier', isCertain: true };
  }

  #takesComma({ written, value }: { readonly written: string; readonly value: string }): boolean {
    return this.#language.writing.numbers.decimal === ',' && written !== value;
  }

  /** Johannes 3:16 Uhr */
  #isTime(reading: Reading, end: number): boolean {
    const { halves, words } = this.#language.writing.times;
    const { nextWord } = reading.around(end);
    return Object.hasOwn(halves, nextWord) || Object.hasOwn(words, nextWord);
  }
}
