// Cookies of one call: an application recognises its session by them. A cookie goes back to the host that set
// it and lasts as long as the call (RFC 6265, without Domain and dates of expiry in the future).
interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly host: string;
  readonly path: string;
  readonly isSecure: boolean;
}

const MOST_COOKIES = 50;
const MOST_CHARACTERS = 4096; // of one cookie
const PAIR = /^([\w!#$%&'*+.^`|~-]+)=([\x21-\x3a\x3c-\x7e]*)$/;

export class CookieJar {
  readonly #cookies = new Map<string, Cookie>();

  /** The value of the Cookie field; undefined: there are none for this URL. */
  headerFor({ hostname, pathname, protocol }: URL): string | undefined {
    const sent = [...this.#cookies.values()].filter(
      ({ host, path, isSecure }) =>
        host === hostname && isWithin(pathname, path) && (!isSecure || protocol === 'https:'),
    );
    return sent.length === 0 ? undefined : sent.map(({ name, value }) => `${name}=${value}`).join('; ');
  }

  /** Keeps the cookies of an answer. Cookies that are malformed or too many are dropped. */
  keep(url: URL, setCookies: readonly string[] = []): void {
    for (const line of setCookies) if (line.length <= MOST_CHARACTERS) this.#keepOne(url, line);
  }

  #keepOne({ hostname, pathname }: URL, line: string): void {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
    const [, name, value = ''] = PAIR.exec(pair) ?? [];
    if (name === undefined) return;
    const find = (wanted: string) =>
      attributes
        .find((attribute) => attribute.toLowerCase().startsWith(`${wanted}=`))
        ?.slice(wanted.length + 1);
    const given = find('path');
    const path =
      given?.startsWith('/') === true ? given : pathname.slice(0, pathname.lastIndexOf('/')) || '/';
    const key = `${hostname} ${path} ${name}`;
    this.#cookies.delete(key);
    const isOver = /^(?:0|-\d+)$/.test(find('max-age') ?? '') || isLongAgo(find('expires'));
    if (isOver || this.#cookies.size >= MOST_COOKIES) return;
    const isSecure = attributes.some((attribute) => attribute.toLowerCase() === 'secure');
    this.#cookies.set(key, { name, value, host: hostname, path, isSecure });
  }
}

/** Servers delete a cookie with a date of 1970. */
function isLongAgo(expires: string | undefined): boolean {
  return expires !== undefined && new Date(expires).getUTCFullYear() <= 2000;
}

function isWithin(pathname: string, path: string): boolean {
  return pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`);
}
