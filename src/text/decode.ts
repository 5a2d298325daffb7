// Decodes a text that arrives in tokens, before anything judges it: entities of HTML become the characters
// that they name, and invisible marks go. It keeps what was written for each part of the decoded text, so
// that sentences are reported as they were written.
import { decodeEntities } from './normalize/entities.js';

/** Marks that are never spoken and never part words. */
const INVISIBLE = /[\u00AD\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF]/;
const TO_DECODE = /&|[\u00AD\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF]/;
/** The end of a text may be the beginning of an entity. */
const UNFINISHED = /&(?:#?[a-z\d]{0,31})?$/i;
const LONGEST_ENTITY = 34; // units

/** A run of text that is decoded to itself, or one entity or mark. */
interface Part {
  readonly decoded: string;
  readonly written: string;
}

export class DecodedStream {
  #held = ''; // may be the beginning of an entity
  #parts: Part[] = [];
  #taken = 0; // parts that were taken whole

  /** Takes written text; returns the decoded text that it completes. */
  push(token: string): string {
    const text = this.#held + token;
    const at = text.slice(-LONGEST_ENTITY).search(UNFINISHED);
    const end = at < 0 ? text.length : Math.max(0, text.length - LONGEST_ENTITY) + at;
    this.#held = text.slice(end);
    return this.#decode(text.slice(0, end));
  }

  /** The text is complete; returns the rest of it, decoded. */
  end(): string {
    const rest = this.#held;
    this.#held = '';
    return this.#decode(rest);
  }

  /** Takes so many units of the decoded text off its beginning; returns what was written for them. */
  take(units: number): string {
    let written = '';
    let left = units;
    for (
      let part = this.#parts[this.#taken];
      part !== undefined && left > 0;
      part = this.#parts[this.#taken]
    ) {
      if (part.decoded.length > left && part.decoded === part.written) {
        written += part.written.slice(0, left);
        const rest = part.written.slice(left);
        this.#parts[this.#taken] = { decoded: rest, written: rest };
        break;
      }
      written += part.written;
      left -= part.decoded.length;
      this.#taken++;
    }
    this.#dropTaken();
    return written;
  }

  /** Drops the parts that were taken, once they are most of the list. */
  #dropTaken(): void {
    if (this.#taken * 2 <= this.#parts.length) return;
    this.#parts = this.#parts.slice(this.#taken);
    this.#taken = 0;
  }

  #decode(text: string): string {
    if (!TO_DECODE.test(text)) return this.#add(text, text);
    const found = decodeEntities(text, () => false);
    if (found === undefined) return this.#withoutMarks(text);
    let decoded = '';
    let from = 0;
    for (const { start, end } of found.entities) {
      const written = found.map.span(start, end);
      decoded += this.#withoutMarks(text.slice(from, written.start));
      decoded += this.#add(found.text.slice(start, end), text.slice(written.start, written.end));
      from = written.end;
    }
    return decoded + this.#withoutMarks(text.slice(from));
  }

  #withoutMarks(text: string): string {
    let decoded = '';
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      if (!INVISIBLE.test(text[at] ?? '')) continue;
      decoded += this.#add(text.slice(from, at), text.slice(from, at));
      this.#add('', text[at] ?? '');
      from = at + 1;
    }
    return decoded + this.#add(text.slice(from), text.slice(from));
  }

  #add(decoded: string, written: string): string {
    if (written !== '') this.#parts.push({ decoded, written });
    return decoded;
  }
}
