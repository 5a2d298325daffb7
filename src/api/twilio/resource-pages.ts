// Pages of lists of the REST API. A token names the item behind which a page begins, so that items which come
// or go meanwhile move no page. https://www.twilio.com/docs/usage/twilios-response#response-formats-list-paging-information
import { NUMBERS, RestError } from './rest-error.js';

const USUAL_SIZE = 50;
const MOST_SIZE = 1000;
const TOKEN = /^P([AB])([A-Z]{2}[0-9a-f]{32})$/;

interface Listing<T> {
  /** Newest first. */
  readonly items: readonly T[];
  readonly sidOf: (item: T) => string;
  readonly query: URLSearchParams;
  /** Path of the list. */
  readonly path: string;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly about: {
    readonly page: number;
    readonly page_size: number;
    readonly start: number;
    readonly end: number;
    readonly uri: string;
    readonly first_page_uri: string;
    readonly next_page_uri: string | null;
    readonly previous_page_uri: string | null;
  };
}

/** Throws a RestError for a page that there cannot be. */
export function pageOf<T>({ items, sidOf, query, path }: Listing<T>): Page<T> {
  const size = Math.min(wholeIn(query, 'PageSize', USUAL_SIZE), MOST_SIZE);
  if (size === 0) throw new RestError(400, NUMBERS.invalidParameter, 'PageSize must be at least 1');
  const page = wholeIn(query, 'Page', 0);
  const start = startOf({ items, sidOf, query, path }, { size, page });
  const shown = items.slice(start, start + size);
  const uri = (number: number, token?: string): string => {
    const given = new URLSearchParams(query);
    for (const name of ['Page', 'PageSize', 'PageToken']) given.delete(name);
    given.set('PageSize', String(size));
    given.set('Page', String(number));
    if (token !== undefined) given.set('PageToken', token);
    return `${path}?${given.toString()}`;
  };
  const [first, last] = [shown[0], shown.at(-1)];
  const hasMore = last !== undefined && start + size < items.length;
  const about = {
    page,
    page_size: size,
    start,
    end: start + Math.max(0, shown.length - 1),
    uri: query.size === 0 ? path : `${path}?${query.toString()}`,
    first_page_uri: uri(0),
    next_page_uri: hasMore ? uri(page + 1, `PA${sidOf(last)}`) : null,
    previous_page_uri:
      first !== undefined && start > 0 ? uri(Math.max(0, page - 1), `PB${sidOf(first)}`) : null,
  };
  return { items: shown, about };
}

function startOf<T>(
  { items, sidOf, query }: Listing<T>,
  { size, page }: { readonly size: number; readonly page: number },
): number {
  const token = query.get('PageToken');
  const [, side, sid] = TOKEN.exec(token ?? '') ?? [];
  if (token !== null && token !== '' && sid === undefined)
    throw new RestError(
      400,
      NUMBERS.invalidParameter,
      'PageToken must be one of a page that this server gave',
    );
  const at = sid === undefined ? -1 : items.findIndex((item) => sidOf(item) === sid);
  if (at < 0) return page * size; // without a token, or its item is not listed any more
  return side === 'A' ? at + 1 : Math.max(0, at - size);
}

function wholeIn(query: URLSearchParams, name: string, usual: number): number {
  const raw = query.get(name) ?? '';
  if (raw === '') return usual;
  if (/^\d{1,6}$/.test(raw)) return Number(raw);
  throw new RestError(400, NUMBERS.invalidParameter, `${name} must be a whole number`);
}
