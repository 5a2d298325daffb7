// Units without a number: le kWh, pro m², au km, in km/h.
import { beginning, type Row } from '../dispatch.js';
import type { Language } from '../language.js';
import { LiteralTable } from '../literals.js';
import type { Noun } from '../quantity.js';
import { certain, composed, type Reading, type TypedFound } from '../reading.js';

/** No words and no names of anything else, wherever they stand. */
const SURE = /^(?:[kcdm]?m[²³]|㎡|[kMGT]Wh|km\/h|k[gmW]|kWp|mq)$|[/²³]/u;
/** Behind an article or a word for "per". */
const BEHIND_ONE = /^(?:m[23]|[cm]m|m[lg]|[kMGT]B|[KMGT]o|MW|[MG]bps|[MG]bit\/s)$/;
const BEHIND_IN = /^(?:[cm]m|m[lg]|MW|[MG]bps)$/;
const IN = /(?:^|[\s(])(?:[Ii]n|[Ee]n|[Ee]m|to) $/u;
const NUMBER_BEFORE = /[\d½¼¾]\s?$/;
/** L당, kgあたり */
const EACH = /^(?:당|あたり|当たり)/;
/** Km-Stand, kg·m */
const GOES_ON = /^(?:[-–·*×^'’]|\/)\p{L}/u;

export class UnitsAlone {
  readonly #units: LiteralTable<Noun>;
  readonly #before: ReadonlySet<string>;
  readonly #per: Readonly<Record<string, string>>;

  constructor({ writing }: Language) {
    this.#units = LiteralTable.of(writing.units);
    this.#before = writing.unitWords;
    this.#per = writing.per;
  }

  readonly atLetter: Row = {
    knows: ({ isFresh, first, behind }) =>
      isFresh && (/[cdgklmtGKLMTмк]/.test(first) || /[/²³]/.test(behind)) && this.#units.beginsWith(first),
    recognise: certain((reading) => this.#unit(reading)),
  };

  readonly atMark: Row = beginning(/[㎡㎏㎞]/, (reading) => this.#unit(reading));

  #unit(reading: Reading): TypedFound | undefined {
    const { text, at } = reading;
    const unit = this.#units.at(text, at);
    if (unit === undefined) return undefined;
    const written = unit.written.replace(/\.$/, ''); // the stop may end the sentence
    const end = at + written.length;
    const lead = text.slice(Math.max(0, at - 5), at);
    const isNumbered = /^(?:km|км)$/.test(written) && /^ ?\d/.test(text.slice(end, end + 2)); // km 12
    if (NUMBER_BEFORE.test(lead) || isNumbered || GOES_ON.test(text.slice(end, end + 2))) return undefined;
    const words = this.#words(reading, written, unit.value.forms);
    return words === undefined ? undefined : composed(end, 'measure', () => words);
  }

  /** A language without words before a unit has one form of it, or many cases. */
  #words(reading: Reading, written: string, forms: readonly string[]): string | undefined {
    const { text, at } = reading;
    const before = reading.around(at).previousWord;
    const phrase = this.#per[written];
    if (before !== '' && phrase?.startsWith(`${before} `) === true) return phrase.slice(before.length + 1);
    const [one = '', many = one, dative = many] = forms;
    const isPer = EACH.test(text.slice(at + written.length, at + written.length + 3));
    if (this.#before.size === 0) return forms.length === 1 && (isPer || SURE.test(written)) ? one : undefined;
    const lead = text.slice(Math.max(0, at - 5), at);
    if (/['’]$/.test(lead) || this.#before.has(before))
      return SURE.test(written) || BEHIND_ONE.test(written) ? one : undefined;
    const isIn = IN.test(lead);
    if (!SURE.test(written) && !(isIn && BEHIND_IN.test(written))) return undefined;
    return isIn ? dative : many;
  }
}
