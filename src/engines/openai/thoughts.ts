// Separates the thoughts of a chat model from its answer. Servers that do not know a model's thoughts leave
// them in the text, between tags:
//
//   <think>The caller wants …</think>Good morning.
//   The caller wants …</think>Good morning.          the template wrote the opening tag into the prompt
//   <think>The caller wants …                        the model was cut off, or never ends its thought
//
// A tag may come in any number of pieces. Only a text that may become a tag is held back.

const NAMES = ['think', 'thinking', 'thought'];
const TAGS = NAMES.flatMap((name) => [`<${name}>`, `</${name}>`]);
const TAG = new RegExp(TAGS.join('|'), 'giu');
const LONGEST_TAG = Math.max(...TAGS.map(({ length }) => length));
/** Characters that are kept of a text that is held back. */
const MOST_KEPT = 16_384;

/** What a piece of the model's text adds to its answer. */
interface Said {
  readonly text: string;
  /** All that was said before `text` was a thought: its closing tag has come, and it had no opening one. */
  readonly endsThought: boolean;
}

export class ThoughtFilter {
  /** Keeps all text back until a closing tag, another sign or the end shows what it is. */
  #isHolding: boolean;
  #kept = '';
  /** The end of the text that may become a tag. */
  #rest = '';
  #isThinking = false;
  #isBehindThought = false;
  #hasSaid = false;
  #isUnopened = false;

  constructor({ isHolding = false } = {}) {
    this.#isHolding = isHolding;
  }

  /** A thought has ended that had no opening tag. */
  get isUnopened(): boolean {
    return this.#isUnopened;
  }

  push(piece: string): Said {
    if (this.#rest === '' && !piece.includes('<')) return { text: this.#say(piece), endsThought: false };
    const text = this.#rest + piece;
    const end = text.length - lengthOfBegunTag(text);
    this.#rest = text.slice(end);
    let said = '';
    let endsThought = false;
    let from = 0;
    for (const { 0: tag, index } of text.slice(0, end).matchAll(TAG)) {
      said += this.#say(text.slice(from, index));
      from = index + tag.length;
      const isClosing = tag.startsWith('</');
      if (!isClosing) said += this.release();
      else if (!this.#isThinking) {
        endsThought = true;
        said = '';
        this.#forget();
      }
      this.#isThinking = !isClosing;
      this.#isBehindThought = true;
    }
    said += this.#say(text.slice(from, end));
    return { text: said, endsThought };
  }

  /** What was held back is no thought. Returns it. */
  release(): string {
    const kept = this.#kept;
    this.#isHolding = false;
    this.#kept = '';
    return kept;
  }

  /** The text has ended. Returns what was held back of it. */
  end(): string {
    const rest = this.#say(this.#rest);
    this.#rest = '';
    return this.release() + rest;
  }

  #forget(): void {
    this.#isUnopened ||= this.#hasSaid;
    this.#hasSaid = false;
    this.#isHolding = false;
    this.#kept = '';
  }

  #say(text: string): string {
    if (this.#isThinking) return '';
    const said = this.#isBehindThought ? this.#continued(text) : text;
    this.#hasSaid ||= said.trim() !== '';
    if (!this.#isHolding) return said;
    this.#kept += said.slice(0, MOST_KEPT - this.#kept.length);
    return '';
  }

  /** White space around a thought becomes one space between words, and none at the beginning. */
  #continued(text: string): string {
    const words = text.trimStart();
    if (words === '') return '';
    this.#isBehindThought = false;
    return this.#hasSaid ? ` ${words}` : words;
  }
}

/** A whole text of a chat model without its thoughts. */
export function withoutThoughts(text: string): string {
  const filter = new ThoughtFilter();
  return filter.push(text).text + filter.end();
}

/**
 * The text of a `content` field: a string, or a list of parts, some of which may be thoughts; undefined for
 * anything else.
 */
export function contentText(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return undefined;
  const parts = content as readonly { readonly type?: unknown; readonly text?: unknown }[];
  return parts
    .map((part) => (part?.type === 'text' && typeof part.text === 'string' ? part.text : ''))
    .join('');
}

/** Length of the end of a text that may become a tag. */
function lengthOfBegunTag(text: string): number {
  const end = text.slice(-LONGEST_TAG + 1);
  const at = end.lastIndexOf('<');
  if (at < 0) return 0;
  const begun = end.slice(at).toLowerCase();
  return TAGS.some((tag) => tag.length > begun.length && tag.startsWith(begun)) ? begun.length : 0;
}
