// The way of a call that is placed on behalf of another one: Max-Forwards and History-Info (RFC 7044) go on
// in the INVITE of the new call, as through a proxy. They end loops between servers (RFC 7332).
import type { CallPath } from '../../src/call/phone-calls.js';
import { ParleyError } from '../../src/errors.js';
import type { SipRequest } from './message.js';
import type { HeaderLine } from './serialiser.js';
import { parseNameAddr, parseUri, type Uri } from './uri.js';

const USUAL_HOPS = 70; // RFC 3261, section 8.1.1.6
const MOST_ENTRIES = 40;
const INDEX = /^\d{1,3}(?:\.\d{1,3}){0,99}$/;

interface Entry {
  readonly index: string;
  readonly uri: Uri;
}

/** Undefined for an entry without an index, or whose address is not a URI. */
function readEntry(text: string): Entry | undefined {
  const address = parseNameAddr(text);
  const index = address?.params.get('index');
  return address === undefined || index === undefined || !INDEX.test(index)
    ? undefined
    : { index, uri: address.uri };
}

/** User, host and port: parameters, such as the transport, do not make it another address. */
function placeOf({ isSip, text, user = '', host, port }: Uri): string {
  return isSip ? `${user}@${host}:${port ?? ''}` : text.toLowerCase();
}

/**
 * The way by which a request came. Malformed entries are left out. A Request-URI that its history lacks is
 * added, after a gap (RFC 7044, section 10.3) if there is a history.
 */
export function pathOf(request: SipRequest): CallPath {
  const hops = Math.min(request.maxForwards ?? USUAL_HOPS, USUAL_HOPS) - 1;
  const history = request.all('history-info').filter((text) => readEntry(text) !== undefined);
  const last = readEntry(history.at(-1) ?? '');
  if (last === undefined) return { hops, history: [`<${request.uri.text}>;index=1`] };
  if (placeOf(last.uri) === placeOf(request.uri)) return { hops, history };
  return { hops, history: [...history, `<${request.uri.text}>;index=${last.index}.0`] };
}

/**
 * The fields of an INVITE to this address. Throws CALL_LOOP if the call came through the address already, has
 * no hops left, or came through more than 40 addresses.
 */
export function pathFields({ hops, history }: CallPath, target: string): HeaderLine[] {
  if (hops < 1) throw loop('the call has no hops left (Max-Forwards)');
  if (history.length > MOST_ENTRIES) throw loop(`the call came through more than ${MOST_ENTRIES} addresses`);
  const entries = history.flatMap((text) => readEntry(text) ?? []);
  const uri = parseUri(target);
  const { index = '1' } = entries.at(-1) ?? {};
  // Only the addresses on the way to the last one: a branch that was given up may be tried again. The last
  // one itself may be called: a proxy that sends its calls through this server expects them back unchanged.
  const way = entries.filter((entry) => index.startsWith(`${entry.index}.`));
  if (uri !== undefined && way.some((entry) => placeOf(entry.uri) === placeOf(uri)))
    throw loop('the call came through this address already');
  return [
    ['Max-Forwards', String(hops)],
    ...history.map((text) => ['History-Info', text] as const),
    ['History-Info', `<${target}>;index=${index}.1;mp=${index}`],
  ];
}

function loop(message: string): ParleyError {
  return new ParleyError('CALL_LOOP', message, { field: 'to' });
}
