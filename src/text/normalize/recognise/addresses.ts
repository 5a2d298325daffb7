// Addresses of the net, file names and paths, handles and hashtags.
import { ALPHABETIC, classAt, DIGIT, IDEOGRAPH, isWordAt, LETTER, SPACE } from '../characters.js';
import { beginning, type Row } from '../dispatch.js';
import type { Language } from '../language.js';
import { composed, type Found, NOWHERE, type Reading, type Rule, type TypedFound } from '../reading.js';
import { cardinal } from '../say.js';

const LONGEST = 300; // units of an address that is read out
const CHUNK = new RegExp(
  `[^\\s<>"“”„«»‹›\`、。，！？；：（）「」『』《》〈〉【】…\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}]{2,${LONGEST}}`,
  'uy',
);
const GOES_ON = new RegExp(`^[._@-]?(?:${ALPHABETIC}|\\p{M})`, 'u');
const TELLING = /[.@:/\\]/; // every address has one of these
const CLOSING = /[.,;:!?'’)\]}*_~|]+$/u;
const EMAIL = /^(?:mailto:)?[\p{L}\p{N}._%+&!-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,6}\p{L}{2,24}$/iu;
const SCHEME = /^(?:https?|ftp|wss?|sip|file):\/{0,2}(?=[\p{L}\p{N}[/])/iu;
const WEB = /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62})\.){1,6}(\p{L}{2,24})(?::\d{1,5})?(?:[/?#][^\s]*)?$/u;
const LOCAL = /^localhost:\d{2,5}(?:\/[^\s]*)?$/;
const ENDINGS = new Set(
  `com org net edu gov mil int info biz io ai app dev co me tv eu de at ch uk us ca au nz ie fr es it pt br mx ar ru
   cn jp kr in ly gg gl nl be se no dk fi pl cz gr tr za shop online store blog news cloud tech xyz site page live local lan internal box`.split(
    /\s+/,
  ),
);
const FILES = new Set(
  `txt md pdf doc docx xls xlsx ppt pptx csv tsv json xml yaml yml toml ini log html htm css js mjs ts tsx jsx py rb go rs
   java kt c h cc cpp hpp cs php sh bat sql zip tar gz rar exe dmg iso apk jpg jpeg png gif svg webp bmp mp3 mp4 wav ogg flac
   avi mov mkv env lock bak vue swift ipynb`.split(/\s+/),
);
const FILE = /^(?:[\p{L}\p{N}_-][\p{L}\p{N}_.-]{0,100})?\.([A-Za-z][A-Za-z0-9]{0,5})$/u;
const PATH =
  /^(?:~|\.{1,2})?(?:[/][\p{L}\p{N}_.@+-]+){2,}\/?(?:\?[^\s]*)?$|^(?:~|\.{1,2})\/[\p{L}\p{N}_.@+/-]+$|^[A-Za-z]:\\[^\s]*$/u;
const RELATIVE = /^(?:[\p{L}\p{N}_.-]{1,60}\/){1,12}[\p{L}\p{N}_.-]{1,80}\.([A-Za-z][A-Za-z0-9]{0,5})$/u;
const HANDLE = /@([\p{L}\p{N}_](?:[\p{L}\p{N}_.]{0,38}[\p{L}\p{N}_])?)/uy;
const COUNTED_HASHTAG = /#(\d{1,4})(\p{L}{3,40})(?![\p{L}\p{N}_])/uy;
const HASHTAG = /#([\p{L}_][\p{L}\p{N}\p{M}_]{0,80})/uy;
const RUNS = /\p{L}[\p{L}\p{M}]*|\p{N}+|\s+|[^\p{L}\p{N}\s]/gu;

export class Addresses {
  readonly #language: Language;

  constructor(language: Language) {
    this.#language = language;
  }

  /** Only a mark inside makes an address of a word. */
  readonly atLetter: Row = {
    knows: ({ behind }) => /[.@:/\\_\d%+&!-]/.test(behind),
    recognise: (reading) => {
      const { text, runEnd } = reading;
      return reading.startsChunk && classAt(text, runEnd + 1) !== SPACE ? this.#chunk(reading) : undefined;
    },
  };

  /** 2024report.pdf, 4you@example.com: a number that goes on as an address does. */
  readonly atDigit: Row = {
    knows: ({ behind }) => GOES_ON.test(behind),
    recognise: (reading) => (reading.startsChunk ? this.#chunk(reading) : undefined),
  };

  readonly atMark: readonly Row[] = [
    beginning(/@/, (reading) => this.#handle(reading)),
    beginning(/#/, (reading) => this.#hashtag(reading)),
    beginning(/[/~.]/, (reading) => (reading.startsChunk ? this.#chunk(reading) : undefined)),
  ];

  #chunk(reading: Reading): TypedFound | undefined {
    const match = reading.match(CHUNK);
    if (match === undefined) return undefined;
    const chunk = withoutClosing(match[0]);
    const rule = this.#language.writing.abbreviations[chunk] === undefined ? ruleOf(chunk) : undefined;
    if (rule === undefined) return undefined;
    const bare = chunk
      .replace(/^mailto:/i, '')
      .replace(SCHEME, '')
      .replace(/\/$/, rule === 'url' ? '' : '/');
    return composed(reading.at + chunk.length, rule, () => sayAddress(bare, this.#language));
  }

  #handle(reading: Reading): Found | undefined {
    if (!reading.startsChunk) return undefined;
    const match = reading.match(HANDLE);
    const at = this.#language.symbols.inAddress['@'];
    if (match === undefined || at === undefined) return undefined;
    const spoken = `${at} ${sayAddress(match[1] ?? '', this.#language)}`;
    return { end: reading.at + match[0].length, spoken, rule: 'handle' };
  }

  #hashtag(reading: Reading): Found | undefined {
    if (isWordAt(reading.text, reading.at - 1)) return undefined;
    const match = reading.match(HASHTAG);
    if (match === undefined) return this.#counted(reading);
    const next = reading.at + match[0].length;
    const isCode = /^-[A-Z\d]/.test(reading.text.slice(next, next + 2)) && /^[A-Z\d]+$/.test(match[1] ?? '');
    if (isCode) return this.#numbered(reading);
    const { speech, symbols } = this.#language;
    const words = (match[1] ?? '')
      .replace(
        /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/gu,
        ' ',
      )
      .replaceAll('_', ' ');
    const [, name = words, year = ''] = /^(\D+ )((?:19|20)\d\d)$/.exec(words) ?? []; // #Sanremo2025
    const said = year === '' ? undefined : speech.year(year, NOWHERE, true);
    // The hashtag #Home.
    const named = reading.around(reading.at).previousWord === symbols.hashtag.toLowerCase();
    const body =
      said === undefined
        ? sayAddress(words, this.#language)
        : `${sayAddress(name.trimEnd(), this.#language)} ${said}`;
    const spoken = named ? body : `${symbols.hashtag} ${body}`;
    return { end: next, spoken, rule: 'hashtag' };
  }

  /** The sign before the code of an order: #A-1029 */
  #numbered(reading: Reading): Found {
    const spoken = this.#language.writing.beforeNumber['#'] ?? '';
    return { end: reading.at + 1, spoken, rule: 'abbreviation' };
  }

  /** #100days */
  #counted(reading: Reading): Found | undefined {
    const match = reading.match(COUNTED_HASHTAG);
    if (match === undefined) return undefined;
    const [written, digits = '', words = ''] = match;
    const { speech, symbols } = this.#language;
    const number = cardinal(digits, speech);
    return {
      end: reading.at + written.length,
      spoken: `${symbols.hashtag} ${number} ${words}`,
      rule: 'hashtag',
    };
  }
}

const DOTTED_LETTERS = /^(?:\p{L}\.){1,8}\p{L}\.?$/u; // D.R.H. is no header file

function ruleOf(chunk: string): Rule | undefined {
  if (!TELLING.test(chunk) || DOTTED_LETTERS.test(chunk)) return undefined;
  if (chunk.includes('@') && EMAIL.test(chunk)) return 'email';
  if (SCHEME.test(chunk) || LOCAL.test(chunk)) return 'url';
  if (PATH.test(chunk)) return 'file';
  const last = RELATIVE.exec(chunk)?.[1]?.toLowerCase(); // src/app.ts
  if (last !== undefined && FILES.has(last)) return 'file';
  if (/^(?:\p{L}\.){1,5}\p{L}$/u.test(chunk)) return undefined; // a.C. and U.S.C., not a program in C
  const file = FILE.exec(chunk);
  const ending = WEB.exec(chunk)?.[1]?.toLowerCase();
  if (/^www\./i.test(chunk) && ending !== undefined) return 'url';
  if (file !== null && FILES.has((file[1] ?? '').toLowerCase())) return 'file';
  return ending !== undefined && ENDINGS.has(ending) && isHost(chunk) ? 'url' : undefined;
}

/** "end.It" is a missing space, "node.io" and "example.com/It" are hosts. */
function isHost(chunk: string): boolean {
  const host = chunk.split(/[/?#:]/, 1)[0] ?? '';
  return host === host.toLowerCase() || /\.(?:com|org|net)$/i.test(host);
}

function withoutClosing(chunk: string): string {
  const bare = chunk.replace(CLOSING, '');
  // A bracket that was opened inside belongs to the address: /wiki/Mercury_(planet)
  return chunk[bare.length] === ')' && bare.includes('(') ? `${bare})` : bare;
}

/** Names, digits and signs one after the other, as in dictation. */
export function sayAddress(address: string, language: Language): string {
  const { symbols } = language;
  const words = Array.from(address.matchAll(RUNS), ([run]) => {
    const kind = classAt(run, 0);
    if (kind === LETTER) return sayName(run, language);
    if (kind === DIGIT) return sayNumber(run, language);
    if (kind === IDEOGRAPH || run.trim() === '') return run.trim();
    return symbols.inAddress[run] ?? '';
  });
  return words.filter((word) => word !== '').join(' ');
}

function sayName(run: string, language: Language): string {
  const { symbols, speech, writing } = language;
  const known = symbols.addressWords[run.toLowerCase()];
  if (known !== undefined) return known;
  if (run.length === 1) return speech.letters(run);
  if (/^\p{Lu}{2,5}$/u.test(run) && writing.spelled.has(run)) return speech.letters(run);
  const consonants = /^[bcdfghjklmnpqrstvwxz]{2,5}$/i.test(run);
  return consonants ? speech.letters(run) : run;
}

function sayNumber(run: string, language: Language): string {
  const { speech } = language;
  if (run.length > 2 || (run.length > 1 && run.startsWith('0'))) return speech.digits(run);
  return cardinal(run, speech);
}
