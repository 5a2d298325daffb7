// The pieces of a document as they grow: text of one manner runs together, until
// a pause, another manner or the end of a sentence comes between.
import type {
  BleepPiece,
  MarkAt,
  MarkedManner,
  MarkedPart,
  MarkedPiece,
  Reading,
  TextPiece,
} from './marked-text.js';
import { SourceMap } from './source-map.js';

interface GrowingPiece {
  readonly kind: 'text';
  text: string;
  readonly manner: MarkedManner;
  readonly parts: MarkedPart[];
  readonly marks: MarkAt[];
  readonly begins: TextPiece['begins'];
  readonly map: SourceMap;
}

export class PieceList {
  readonly #pieces: MarkedPiece[] = [];
  #open: GrowingPiece | undefined;
  #begins: TextPiece['begins'] = 'anywhere';
  /** The document says that there is no pause here. */
  #isTight = false;

  text(text: string, map: SourceMap, manner: MarkedManner): void {
    const piece = this.#piece(manner);
    piece.text += text;
    piece.map.append(map);
    if (/\S/.test(text)) this.#isTight = false;
  }

  /** A text that is read in a way of its own. */
  part(text: string, map: SourceMap, manner: MarkedManner, reading: Reading): void {
    const piece = this.#piece(manner);
    const start = piece.text.length;
    this.text(text, map, manner);
    piece.parts.push({ start, end: piece.text.length, reading });
  }

  pause(ms: number): void {
    this.#close();
    this.#pieces.push({ kind: 'pause', ms });
  }

  /** No pause, where one would be; within a sentence there is none in any case. */
  noPause(): void {
    if (this.#begins !== 'anywhere') this.pause(0);
    else this.#isTight = true;
  }

  bleep(piece: BleepPiece): void {
    this.#close();
    this.#pieces.push(piece);
  }

  mark(name: string, manner: MarkedManner): void {
    const piece = this.#piece(manner);
    piece.marks.push({ name, at: piece.text.length });
  }

  /** A sentence or paragraph begins or ends here. */
  boundary(kind: 'sentence' | 'paragraph'): void {
    this.#close();
    if (this.#isTight) this.pause(0);
    this.#isTight = false;
    if (this.#begins !== 'paragraph') this.#begins = kind;
  }

  finish(): readonly MarkedPiece[] {
    this.#close();
    return this.#pieces;
  }

  #piece(manner: MarkedManner): GrowingPiece {
    const open = this.#open;
    if (open !== undefined && isSame(open.manner, manner)) return open;
    this.#close();
    const piece: GrowingPiece = {
      kind: 'text',
      text: '',
      manner,
      parts: [],
      marks: [],
      begins: this.#begins,
      map: new SourceMap(),
    };
    this.#begins = 'anywhere';
    this.#open = piece;
    return piece;
  }

  #close(): void {
    if (this.#open !== undefined) this.#pieces.push(this.#open);
    this.#open = undefined;
  }
}

function isSame(a: MarkedManner, b: MarkedManner): boolean {
  return a.language === b.language && a.voice === b.voice && a.rate === b.rate && a.gain === b.gain;
}
