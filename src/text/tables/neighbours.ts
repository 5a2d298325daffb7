// Conditions of a short form in the table `short-forms`: the columns `when` and `behind`.
import type { Saying } from '../normalize/language.js';
import type { Around } from '../normalize/reading.js';
import type { RowOf } from './schema.js';

type Condition = Pick<RowOf<'short-forms'>, 'when' | 'behind'>;
type When = NonNullable<Condition['when']>;

const NEIGHBOURS: Readonly<Record<When, (around: Around) => boolean>> = {
  'before number': ({ text, end }) => /^ ?[-−–+]?\d/.test(text.slice(end, end + 3)),
  'behind number': ({ text, start }) => /[\d½¼¾] ?$/.test(text.slice(Math.max(0, start - 2), start)),
  'before name': ({ nextWord }) => /^\p{Lu}/u.test(nextWord),
};

/** The rows that always hold stand first, so that each condition is an exception from them. */
export function unconditionalFirst<R extends Condition>(rows: readonly R[]): readonly R[] {
  const isConditional = ({ when, behind }: R): boolean => when !== undefined || behind !== undefined;
  return [...rows.filter((row) => !isConditional(row)), ...rows.filter(isConditional)];
}

/** Says the short form where its conditions hold, and elsewhere what an earlier row says. */
export function conditional(saying: Saying, { when, behind }: Condition, otherwise?: Saying): Saying {
  if (when === undefined && behind === undefined) return saying;
  const words = behind && new Set(behind);
  return (around) => {
    const holds =
      (when === undefined || NEIGHBOURS[when](around)) &&
      (words === undefined || words.has(around.previousShort));
    const said = holds ? saying : otherwise;
    return typeof said === 'function' ? said(around) : said;
  };
}
