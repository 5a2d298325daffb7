// Tells Chinese from Japanese where a text has Han characters only.
//
// Simplified Chinese and Japanese shortened the traditional characters independently. Some short forms are
// the same (学), others belong to one of them (simplified 气, Japanese 気). The national character sets list
// the characters in common use: GB 2312 for simplified Chinese, Big5 for traditional Chinese, level 1 of
// JIS X 0208 for Japanese.

const IN_SIMPLIFIED = 1;
const IN_TRADITIONAL = 2;
const IN_JAPANESE = 4;
/** A short form of Japanese alone (気), or a character that was made in Japan (込). */
const JAPANESE_ONLY = IN_JAPANESE;
/** A short form that simplified Chinese and Japanese share (学). */
const SHORT_IN_BOTH = IN_SIMPLIFIED | IN_JAPANESE;
/** A traditional form that Japanese keeps (東). Chinese text never has it beside a short form. */
const LONG_IN_BOTH = IN_TRADITIONAL | IN_JAPANESE;

interface CharacterRange {
  readonly encoding: string;
  readonly bit: number;
  /** First bytes, and second bytes, of the characters; the ends are inclusive. */
  readonly rows: readonly [first: number, last: number];
  readonly cells: readonly (readonly [first: number, last: number])[];
}

const RANGES: readonly CharacterRange[] = [
  { encoding: 'gbk', bit: IN_SIMPLIFIED, rows: [0xb0, 0xf7], cells: [[0xa1, 0xfe]] },
  {
    encoding: 'big5',
    bit: IN_TRADITIONAL,
    rows: [0xa4, 0xf9],
    cells: [
      [0x40, 0x7e],
      [0xa1, 0xfe],
    ],
  },
  {
    encoding: 'shift_jis',
    bit: IN_JAPANESE,
    rows: [0x88, 0x98],
    cells: [
      [0x40, 0x7e],
      [0x80, 0xfc],
    ],
  },
];
const LAST_OF_LEVEL_1 = 0x9872; // 腕, in Shift JIS

let sets: Uint8Array | undefined;

/** The sets that hold a character, as bits; 0 for one that is in none. */
function setsOf(unit: number): number {
  return (sets ??= readSets())[unit] ?? 0;
}

function readSets(): Uint8Array {
  const found = new Uint8Array(65_536);
  for (const { encoding, bit, rows, cells } of RANGES) {
    const decoder = new TextDecoder(encoding);
    for (let row = rows[0]; row <= rows[1]; row++) {
      for (const [first, last] of cells) {
        for (let cell = first; cell <= last; cell++) {
          if (bit === IN_JAPANESE && row * 256 + cell > LAST_OF_LEVEL_1) continue;
          const unit = decoder.decode(Uint8Array.of(row, cell)).charCodeAt(0);
          if (isHan(unit)) found[unit] = (found[unit] ?? 0) | bit;
        }
      }
    }
  }
  return found;
}

function isHan(unit: number): boolean {
  return unit >= 0x4e00 && unit <= 0x9fff;
}

const JAPANESE_MARK = /[々〆]/u;
const JAPANESE_WORD = /予[約定想算測報防選備期]/u; // Chinese writes 预 or 預

interface HanLanguage {
  readonly language: 'zh' | 'ja';
  /** False if ordinary words of both languages have these characters. */
  readonly certain: boolean;
}

/** The language of a text whose only letters of East Asia are Han characters. */
export function identifyHan(text: string): HanLanguage {
  let chinese = 0;
  let japanese = JAPANESE_MARK.test(text) || JAPANESE_WORD.test(text) ? 1 : 0;
  let union = 0; // one bit for each combination of sets
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (!isHan(unit)) continue;
    const held = setsOf(unit);
    if (held === JAPANESE_ONLY) japanese++;
    else if (held !== 0 && (held & IN_JAPANESE) === 0) chinese++;
    union |= 1 << held;
  }
  if (chinese !== japanese) return { language: japanese > chinese ? 'ja' : 'zh', certain: true };
  const mixed = (union & (1 << SHORT_IN_BOTH)) !== 0 && (union & (1 << LONG_IN_BOTH)) !== 0;
  return mixed && chinese === 0 ? { language: 'ja', certain: true } : { language: 'zh', certain: false };
}
