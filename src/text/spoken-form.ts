// The words of one sentence: what markup says of its parts first, then what a
// lexicon says of its words, then the rules of its language for all that is left.
import type { Lexicon } from './lexicon.js';
import { decodeEntities, ENCODED, ROMAN_SIGNS } from './normalize/entities.js';
import type { Language } from './normalize/language.js';
import { languageOf } from './normalize/languages.js';
import { normalize, type Claim } from './normalize/normalize.js';
import { Around } from './normalize/reading.js';
import { SpokenText, type Normalized, wordsAfter } from './normalize/spoken-text.js';
import type { MarkedPart } from './markup/marked-text.js';
import { sayAs } from './markup/say-as.js';
import type { TableLayer } from './tables/layer.js';

export interface FormOptions {
  /** BCP 47 tag of what is spoken. */
  readonly language: string;
  /** False: only what markup and lexicon say is done. */
  readonly normalize?: boolean;
  /** In order, not overlapping. */
  readonly parts?: readonly MarkedPart[];
  /** The text comes from SSML, whose entities are decoded. */
  readonly isMarked?: boolean;
  /** Text around this one that is not spoken with it. */
  readonly context?: { readonly before: string; readonly after: string } | undefined;
  /** In order of precedence. */
  readonly lexicons?: readonly Lexicon[];
  /** Tables on top of those of the language. Lexicons have precedence over them. */
  readonly tables?: TableLayer | undefined;
}

export function spokenForm(text: string, { context, ...options }: FormOptions): Normalized {
  if (context === undefined || (context.before === '' && context.after === '')) return formOf(text, options);
  const before = context.before === '' ? '' : `${context.before} `;
  const after = context.after === '' ? '' : ` ${context.after}`;
  return within(before, after, formOf(text, options, before, after));
}

function formOf(
  text: string,
  { language: tag, normalize: isWanted = true, parts = [], isMarked, lexicons = [], tables }: FormOptions,
  before = '',
  after = '',
): Normalized {
  const language = languageOf(tag, tables);
  const whole = before + text + after;
  let claimed = parts.flatMap((part) => claimOf(shifted(part, before.length), whole, language) ?? []);
  for (const lexicon of lexicons) {
    claimed = merged(
      claimed,
      claimsOf(lexicon, text, tag, isMarked).map((claim) => shifted(claim, before.length)),
    );
  }
  if (before !== '') claimed.unshift({ start: 0, end: before.length });
  if (after !== '') claimed.push({ start: whole.length - after.length, end: whole.length });
  if (isWanted && language !== undefined) return normalize(whole, language, { claimed, isDecoded: isMarked });
  return claimsAlone(whole, claimed);
}

/** The claims of a lexicon, which sees the decoded text, at their places in the written one. */
function claimsOf(lexicon: Lexicon, text: string, tag: string, isDecoded = false): Claim[] {
  const decoded = decodeEntities(text, () => false, isDecoded ? ROMAN_SIGNS : ENCODED);
  if (decoded === undefined) return lexicon.claims(text, tag);
  return lexicon
    .claims(decoded.text, tag)
    .map((claim) => ({ ...claim, ...decoded.map.span(claim.start, claim.end) }));
}

function shifted<T extends { readonly start: number; readonly end: number }>(span: T, by: number): T {
  return { ...span, start: span.start + by, end: span.end + by };
}

/**
 * The words of a text that goes on with `before`, which was spoken already: those that the whole of both has
 * behind the words of `before`. `before` ends with the space between the two, if there is one.
 */
export function continuedForm(before: string, text: string, options: FormOptions): Normalized {
  const whole = formOf(before + text, options);
  const from = wordsAfter(whole, formOf(before, options).text, before.length);
  if (from !== undefined) return partOf(whole, before.length, from, whole.text.length);
  return within(before, '', formOf(text, options, before));
}

/** A part of a sentence, with what was spoken before it and what has arrived behind it. */
interface TextWindow {
  /** Text of the sentence that was spoken before, with the space behind it. */
  readonly spoken?: string | undefined;
  readonly text: string;
  /** Text behind it that has arrived. It is spoken later. */
  readonly ahead: string;
  /** True if nothing arrives behind `ahead`. */
  readonly isComplete: boolean;
}

/** The words of the rest of a sentence, or of a whole one: nothing follows that belongs to it. */
export function completeForm(
  { spoken = '', text }: Pick<TextWindow, 'spoken' | 'text'>,
  options: FormOptions,
): Normalized {
  return spoken === '' ? spokenForm(text, options) : continuedForm(spoken, text, options);
}

/** The words of the window's text; 'wait' if text that has not arrived may change one of them. */
export function windowForm(window: TextWindow, options: FormOptions): Normalized | 'wait' {
  const { spoken = '', text, ahead, isComplete } = window;
  const form = completeForm(window, options);
  if (isComplete && ahead === '') return form;
  const until = spoken + text;
  const said = formOf(until, options).text;
  const futures = isComplete ? [ahead] : [ahead, ...continuationsOf(until, options.language)];
  const isKept = (future: string) =>
    wordsAfter(formOf(until + future, options), said, until.length) !== undefined;
  return futures.every(isKept) ? form : 'wait';
}

/** Marks of Markdown and LaTeX that come in pairs. */
const PAIRED = ['*', '_', '~~', '$'];

/** Texts that may follow and change words before them: second marks of pairs, and the language's own. */
function continuationsOf(text: string, tag: string): string[] {
  const marks = PAIRED.filter((mark) => text.includes(mark)).map((mark) => ` x=y${mark}`);
  return [...marks, ...(languageOf(tag)?.continuations ?? [])];
}

/** The words without what stands around them, which is spoken as it is written. */
function within(before: string, after: string, form: Normalized): Normalized {
  return partOf(form, before.length, before.length, form.text.length - after.length);
}

/** The words from `from` to `to`; `start` is the place of the first in the written text. */
function partOf(
  { text, replacements, sourceSpan }: Normalized,
  start: number,
  from: number,
  to: number,
): Normalized {
  return {
    text: text.slice(from, to).trim(),
    replacements: replacements
      .filter((one) => one.start >= start)
      .map((one) => ({
        ...shifted(one, -start),
        spokenStart: one.spokenStart - from,
        spokenEnd: one.spokenEnd - from,
      })),
    sourceSpan: (first, last) => shifted(sourceSpan(first + from, last + from), -start),
  };
}

function claimOf(
  { start, end, reading }: MarkedPart,
  text: string,
  language: Language | undefined,
): Claim | undefined {
  if (reading.kind === 'sub') return { start, end, spoken: reading.words.trim(), rule: 'sub' };
  const spoken = sayAs(text.slice(start, end), reading, language, new Around(text, start, end));
  return spoken === undefined ? undefined : { start, end, spoken, rule: 'say-as' };
}

/** Both in order; of two that overlap the first list's stays. */
function merged(first: readonly Claim[], second: readonly Claim[]): Claim[] {
  if (second.length === 0) return [...first];
  const result: Claim[] = [];
  let next = 0;
  for (const claim of second) {
    let known = first[next];
    for (; known !== undefined && known.end <= claim.start; known = first[++next]) result.push(known);
    if (known === undefined || known.start >= claim.end) result.push(claim);
  }
  return [...result, ...first.slice(next)];
}

const NEAR = 100; // units of an address that show that it is one
const ADDRESS = /:\/\/|(?:^|[([<])www\.|[\w.+-]@[\w-]+\./i;

/** A word of a lexicon is none within an address. */
function isInAddress(text: string, { start, end, rule }: Claim): boolean {
  if (rule !== 'lexicon') return false;
  const before = /\S*$/.exec(text.slice(Math.max(0, start - NEAR), start))?.[0] ?? '';
  const after = /^\S*/.exec(text.slice(end, end + NEAR))?.[0] ?? '';
  if (/\]\([^)]*$/.test(before)) return true;
  return ADDRESS.test(
    before.slice(before.lastIndexOf('(') + 1) + text.slice(start, end) + (/^[^\])]*/.exec(after)?.[0] ?? ''),
  );
}

function claimsAlone(text: string, claimed: readonly Claim[]): Normalized {
  const spoken = new SpokenText(text);
  let at = 0;
  for (const claim of claimed) {
    const { start, end, spoken: words, rule } = claim;
    spoken.copy(text, at, start);
    if (words === undefined || rule === undefined || isInAddress(text, claim)) spoken.copy(text, start, end);
    else spoken.replace(start, end, words, rule);
    at = end;
  }
  spoken.copy(text, at, text.length);
  return spoken.result();
}
