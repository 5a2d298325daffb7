// Hours as the French write them: 14 h 30, 9h-12h30, 24h/24, 7j/7.
import type { Found, Reading } from '../reading.js';
import { cardinal } from './numbers.js';
import { SPEECH } from './speech.js';
import { WRITING } from './writing.js';

const HOUR = /(\d{1,2}) ?[hH](?: ?([0-5]\d))?(?! ?(?:min|mn|m)\b)(?! ?\d)(?![\p{L}\p{N}])/uy;
const TO = / ?[-–—] ?/y;
const BARE = /(\d{1,2})(?= ?[-–] ?\d{1,2} ?[hH])/y;
const ZONE = / \(?(UTC|GMT|TU|CET|CEST|EST|EDT|PST|PDT|JST)\)?(?![\p{L}\p{N}+-])/uy;
const OUT_OF = /(\d{1,2}) ?(?:([hH])|j(?:ours)?|J) ?(?:\/|sur) ?(\d{1,2})(?![\p{L}\p{N}])/uy;

interface HourAt {
  readonly spoken: string;
  readonly end: number;
}

/** One time or two; a bare "3 h" is a measure like any other. */
export function hours(reading: Reading): Found | undefined {
  const { at, text } = reading;
  if (/[.,:/]/.test(text[at - 1] ?? '')) return undefined;
  const bare = reading.match(BARE);
  const from = hourAt(reading, at) ?? (bare && { spoken: cardinal(bare[1] ?? '', true), end: at + bare[0].length });
  if (from === undefined) return undefined;
  const dash = reading.match(TO, from.end);
  const to = dash && hourAt(reading, from.end + dash[0].length);
  const found = to === undefined ? from : { spoken: `${from.spoken} à ${to.spoken}`, end: to.end };
  if (to === undefined && bare !== undefined) return undefined;
  const zone = reading.match(ZONE, found.end);
  const name = zone && WRITING.times.zones[zone[1] ?? ''];
  if (zone === undefined || name === undefined) return { ...found, rule: 'time' };
  return { end: found.end + zone[0].length, spoken: `${found.spoken} ${name}`, rule: 'time' };
}

function hourAt(reading: Reading, at: number): HourAt | undefined {
  const match = reading.match(HOUR, at);
  if (match === undefined || Number(match[1]) > 24) return undefined;
  const end = at + match[0].length;
  const time = { hours: String(Number(match[1])), minutes: match[2] ?? '' };
  const spoken = SPEECH.time(time, reading.around(end));
  return spoken === undefined ? undefined : { spoken, end };
}

/** Vingt-quatre heures sur vingt-quatre, sept jours sur sept. */
export function outOf(reading: Reading): Found | undefined {
  const match = reading.match(OUT_OF);
  if (match === undefined) return undefined;
  const [written, count = '', hour, all = ''] = match;
  const unit = hour === undefined ? 'jours' : 'heures';
  const spoken = `${cardinal(count)} ${unit} sur ${cardinal(all)}`;
  return { end: reading.at + written.length, spoken, rule: 'duration' };
}
