// A Via of which only the beginning can be read is enough to answer to.
import { hostPort } from './host.js';
import { Parameters } from './parameters.js';
import { Scanner } from './scanner.js';
import { parseVia, Via } from './via.js';

const HEAD = /^\s*SIP\s*\/\s*[\w.]+\s*\/\s*([\w-]{1,32})[ \t]+/i;
const BRANCH = /;[ \t]*branch[ \t]*=[ \t]*([\w.!%*+`'~-]{1,512})/i;

/** Undefined where not even that can be read. */
export function recoveredVia(value: string): Via | undefined {
  // Half a line end in a quoted string would begin a line of the response.
  const whole = /[\r\n]/.test(value) ? undefined : parseVia(value);
  if (whole !== undefined) return whole;
  const head = HEAD.exec(value);
  const sentBy = head === null ? undefined : hostPort(new Scanner(value, head[0].length), true);
  if (head === null || sentBy === undefined) return undefined;
  const branch = BRANCH.exec(value)?.[1];
  const params = branch === undefined ? Parameters.none : new Parameters([['branch', branch]]);
  return new Via((head[1] ?? '').toUpperCase(), sentBy, params);
}
