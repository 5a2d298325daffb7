// The letters of a state of Brazil: Ouro Preto, MG; em SP; entre AL e SE.
import { tablesOf } from '../../tables/language-tables.js';
import type { Row } from '../dispatch.js';
import { certain, type Found, type Reading } from '../reading.js';

const STATES = tablesOf('pt').map('states');
/** Letters of something else, too (AM and FM, a PA of numbers): only a town or another state proves them. */
const DOUBTFUL = tablesOf('pt').set('doubtful states');

const CODE = /[A-Z]{2}(?![\p{L}\p{N}-])/uy;
const TOWN = /\p{Lu}\p{Ll}[\p{L}'’]*, $/u;
const PREPOSITION = /(?<!\p{L})(?:[Ee]m|[NnDd][oa]|de|para|pelo|pela) $/u;
const STATE_BEFORE = /(?<![\p{L}\p{N}])([A-Z]{2})(?:,| e| ou) $/u;
const STATE_BEHIND = /^(?:,| e| ou) ([A-Z]{2})(?![\p{L}\p{N}-])/u;
const LONGEST_TOWN = 24; // units
const LONGEST_JOINT = 8; // units between two states, with one of them

const BEHIND_TOWN = /( ?[/–-] ?)([A-Z]{2})(?![\p{L}\p{N}-])/uy;
const LETTER_BEFORE = /\p{Lu}\p{Ll}[\p{L}'’]*$/u;

function state(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const code = reading.match(CODE)?.[0];
  const name = code === undefined ? undefined : STATES[code];
  if (code === undefined || name === undefined || text[at - 1] !== ' ') return undefined;
  const lead = text.slice(Math.max(0, at - LONGEST_TOWN), at);
  const other =
    STATE_BEFORE.exec(lead)?.[1] ?? STATE_BEHIND.exec(text.slice(at + 2, at + LONGEST_JOINT))?.[1] ?? '';
  const isSure = TOWN.test(lead) || STATES[other] !== undefined;
  if (!isSure && (DOUBTFUL.has(code) || !PREPOSITION.test(lead))) return undefined;
  return { end: at + 2, spoken: name, rule: 'address' };
}

export const STATE: Row = {
  knows: ({ isFresh, first, isSmallBehind }) => isFresh && !isSmallBehind && /[ABCDEGMPRST]/.test(first),
  recognise: certain(state),
};

/** Campinas/SP, Campinas-SP */
export function stateBehindTown(reading: Reading): Found | undefined {
  const [written, , code = ''] = reading.match(BEHIND_TOWN) ?? [];
  const { text, at } = reading;
  if (written === undefined || STATES[code] === undefined) return undefined;
  if (!LETTER_BEFORE.test(text.slice(Math.max(0, at - LONGEST_TOWN), at).trimEnd())) return undefined;
  return { end: at + written.length, spoken: `, ${STATES[code]}`, rule: 'address', clings: true };
}
